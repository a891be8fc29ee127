// SPDX-License-Identifier: GPL-3.0-or-later
// What the owner of a server does to a client at a stage, beside what the server does by itself.
// Plain data.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string_view>

#include "proto/smtp/server_reply.hpp"

namespace postal::proto {

// How a connection is ended on purpose.
enum class cut : std::uint8_t {
    no,
    fin,  // in good order
    rst,  // with a reset
    // nothing is said, and what comes thrown away, until the client goes or its time is over
    silence
};

struct stage_effect {
    std::optional<server_reply> reply{};  // in place of the usual one
    std::chrono::nanoseconds delay{};     // of the reply
    cut close = cut::no;                  // behind that reply, or in the place of the usual one
    std::string_view
        why{};  // of the close, for the error that it is counted as; outlives the session
    std::uint64_t read_rate = 0;  // octets a second that are read from here on; 0: as before
    std::uint64_t window = 0;     // octets of the socket's receive buffer; 0: as before
};

}  // namespace postal::proto
