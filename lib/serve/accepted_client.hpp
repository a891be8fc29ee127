// SPDX-License-Identifier: GPL-3.0-or-later
// A client that was let in: its socket and its slot among the sessions; both are given back with
// it.
#pragma once

#include <cstdint>
#include <new>

#include "net/connection.hpp"
#include "net/endpoint.hpp"
#include "serve/session_slots.hpp"
#include "stats/tally.hpp"

namespace postal::serve {

struct accepted_client {
    net::accepted socket;
    session_slot where;
    bool tls = false;                        // from the first octet
    std::uint64_t number = 1;                // in the order in which they came
    const net::address* listener = nullptr;  // where they came; outlives them
};

// A client could not be served for want of memory.
inline void count_no_memory(stats::tally& into) noexcept {
    try {
        into.errors.add("connect", 0, net::to_text(net::fault::resources),
                        "no memory for a session");
    } catch (const std::bad_alloc&) {  // not even for that
    }
}

}  // namespace postal::serve
