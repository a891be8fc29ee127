// SPDX-License-Identifier: GPL-3.0-or-later
// What bhm times: the names that records, logs and thresholds know.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace postal::bhm {

enum class phase : std::uint8_t {
    tls,          // a full handshake
    tls_resumed,  // one that resumed a session
    data,         // from DATA or the first BDAT to the end of the message, as it was read
    message,      // from MAIL to the final reply, handed to the kernel
    transit,  // from when postal made the message to its end here, by the clocks of both machines
    retry,    // from the last deferral of a recipient to when it comes again
    retried   // from the first deferral of a recipient to when it is taken
};

inline const std::vector<std::string>& phase_names() {
    static const std::vector<std::string> names{"tls",     "tls_resumed", "data",   "message",
                                                "transit", "retry",       "retried"};
    return names;
}

}  // namespace postal::bhm
