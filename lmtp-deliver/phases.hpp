// SPDX-License-Identifier: GPL-3.0-or-later
// What lmtp-deliver times: the names that records, logs and thresholds know.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace postal::lmtp_deliver {

enum class phase : std::uint8_t {
    tls,          // a full handshake
    tls_resumed,  // one that resumed a session
    data,         // from DATA or the first BDAT to the end of the message
    queue,        // from there until the agent is started
    agent,        // from its start to its end
    message       // from MAIL to the recipient's reply, handed to the kernel
};

inline const std::vector<std::string>& phase_names() {
    static const std::vector<std::string> names{"tls",   "tls_resumed", "data",
                                                "queue", "agent",       "message"};
    return names;
}

}  // namespace postal::lmtp_deliver
