// SPDX-License-Identifier: GPL-3.0-or-later
// Allocations of a program that fail. Under the address sanitizer, which has an allocator of its
// own, none does.
#pragma once

namespace clients {

// Of a thread.
struct scarcity {
    int left = -1;  // so many succeed before one fails; negative: all do
    bool failed = false;
};

inline thread_local constinit scarcity scarce;

}  // namespace clients
