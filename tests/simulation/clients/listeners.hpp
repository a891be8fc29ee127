// SPDX-License-Identifier: GPL-3.0-or-later
// The sockets that a program listens on, on a system without a kernel, who waits there, and what goes
// wrong when he is accepted.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>

namespace clients {

using std::chrono::nanoseconds;

// How a call of accept(2) ends.
struct acceptance {
    int error = 0;         // ECONNABORTED: he has left; any other lets nobody in
    int allocations = -1;  // the one behind so many fails, unless the system is asked for something
                           // before it; negative: none does
};

struct listening_socket {
    struct waiting {
        int descriptor = -1;  // to be given
        nanoseconds since{0};
    };
    std::deque<waiting> queue{};
    nanoseconds may_rest_until{0};
};

// What became of those who came.
struct acceptances {
    std::uint64_t taken = 0;
    std::uint64_t without_memory = 0;  // of these: an allocation failed next
    std::uint64_t failed = 0;          // calls, and allocations behind one that took nobody
    std::uint64_t open = 0;            // of the taken
    std::uint64_t most_open = 0;
    nanoseconds longest_wait{0};  // while nothing hindered the program to let him in
};

}  // namespace clients
