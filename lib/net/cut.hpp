// How a connection is ended on purpose.
#pragma once

#include <cstdint>

namespace postal::net {

enum class cut : std::uint8_t {
    no,
    fin,     // in good order
    rst,     // with a reset
    silence  // nothing is said, and what comes thrown away, until the client goes or its time is over
};

}  // namespace postal::net
