// SPDX-License-Identifier: GPL-3.0-or-later
// The children of a program and the pipes that they print into, on a system without a kernel. A
// child runs nothing: what it does follows from its traits, and from signals.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include <sys/types.h>

namespace clients {

using std::chrono::nanoseconds;

// What a child does.
struct child_traits {
    enum class beginning : std::uint8_t { runs, no_process, no_program };
    beginning begins = beginning::runs;
    nanoseconds lasts{0};
    bool ends = true;  // or stays until somebody ends it
    bool heeds_term = true;
    int status = 0;
    int signal = 0;          // that it dies by, in place of the status; 0: none
    std::size_t prints = 0;  // octets
    unsigned stops = 0;      // so often somebody stops it
};

struct child_process;

struct pipe_between {
    std::string text{};
    unsigned writers = 0;
    int read_end = -1;
    child_process* waits = nullptr;  // for room
};

struct child_process {
    pid_t pid = -1;
    child_traits traits{};
    std::string input{};      // all that it was given
    std::string recipient{};  // of its environment
    std::shared_ptr<pipe_between> output{};
    int handle = -1;
    nanoseconds begun{0};
    nanoseconds ended = nanoseconds::max();
    std::size_t to_print = 0;
    unsigned stops_left = 0;
    int wait_status = 0;
    bool stopped = false;
    bool asked = false;  // to end
    bool reaped = false;

    [[nodiscard]] bool over() const noexcept { return ended != nanoseconds::max(); }
    [[nodiscard]] bool ran() const noexcept {
        return traits.begins == child_traits::beginning::runs;
    }
    // By itself, and nobody asked it to.
    [[nodiscard]] bool exited_with(int status) const noexcept {
        return over() && !asked && traits.signal == 0 && traits.status == status;
    }
};

}  // namespace clients
