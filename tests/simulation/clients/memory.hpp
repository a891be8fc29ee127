// SPDX-License-Identifier: GPL-3.0-or-later
// Allocations of a program that fail. Under the address sanitizer, which has an allocator of its
// own, none does.
#pragma once

#include <utility>

namespace clients {

// Of a thread.
struct scarcity {
    int left = -1;  // so many succeed before one fails; negative: all do
    bool failed = false;
};

inline thread_local constinit scarcity scarce;

// While there is one, none fails, and none counts: it is the simulation that allocates.
class plenty {
  public:
    plenty() noexcept : before_(std::exchange(scarce.left, -1)) {}
    ~plenty() { scarce.left = before_; }
    plenty(const plenty&) = delete;
    plenty& operator=(const plenty&) = delete;

  private:
    const int before_;
};

}  // namespace clients
