// SPDX-License-Identifier: GPL-3.0-or-later
// What one thread does with its time: how long it runs, waits for a processor, and stands still.
//
// Flow: begin() in the thread, or of() of another; look() now and then, with how long it may have
// slept by its own will since the last time; take() what was seen since the last take(). Both ends
// of a span are read at the same moment as the clocks, so that no share of it is more than all.
//
// Nothing here fails: what the kernel does not say is not known, and nobody stands still then. A
// thread that is stopped (SIGSTOP), or waits for a page or a disk, stands still.
#pragma once

#include "base/host.hpp"
#include "os/usage.hpp"

#include <sys/types.h>

#include <chrono>
#include <optional>

namespace postal::os {

class thread_watch {
  public:
    using time_point = std::chrono::steady_clock::time_point;

    // Shorter ones are not told apart from a late look.
    static constexpr auto shortest_still = std::chrono::milliseconds(200);

    thread_watch() = default;  // knows nothing

    // The calling thread, which is the one that looks then.
    void begin(time_point now = std::chrono::steady_clock::now());
    // Another one of this process, while it lives; nobody knows how long that means to sleep.
    static thread_watch of(pid_t thread);

    void look(time_point now, std::optional<std::chrono::nanoseconds> asleep = {}) noexcept;
    [[nodiscard]] base::thread_time take() noexcept;

  private:
    [[nodiscard]] std::optional<std::chrono::nanoseconds> used() const noexcept;

    std::optional<pid_t> other_;
    run_delay_meter waited_;
    time_point looked_{};
    std::optional<std::chrono::nanoseconds> used_before_;
    std::optional<std::chrono::nanoseconds> waited_before_;
    base::thread_time seen_;
};

}  // namespace postal::os
