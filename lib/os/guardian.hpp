// SPDX-License-Identifier: GPL-3.0-or-later
// A process beside a server, which outlives it and ends the children that it left when their time
// is over.
//
// Flow: guardian::start() in main, before any thread; one list() for each thread that starts
// children; add() before a child's program runs (child_plan::before_it_runs), remove() when it was
// reaped. A child that is listed when the server has ended, however that was, is sent SIGCONT then,
// SIGTERM at its deadline, and SIGKILL `kill_after` later, with its process group; whom that does
// not end is given up after as long again. The guardian ends when none is left. SIGTERM makes the
// deadline of all that moment, once the server is gone.
//
// The list lies in memory that both share: to write it costs a few stores and no system call. A
// child is known by its number and the time of its start, so that nobody else is ever signalled.
//
// One that was killed itself is made anew by look_after(), with the same list.
//
// Start fails with one line. Limit: whoever the guardian may not signal, it does not end
// (signal_group()).
#pragma once

#include "base/result.hpp"
#include "os/child.hpp"
#include "os/process.hpp"

#include <sys/types.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace postal::os {

class guardian {
  public:
    struct settings {
        const char* name = "guardian";  // of its process, up to 15 octets
        unsigned lists = 1;
        std::size_t most_children = 1;  // of each list
        std::chrono::nanoseconds kill_after = std::chrono::seconds(5);
    };

    // Of one thread.
    class list {
      public:
        list() = default;
        // The place to remove it from. Who finds no place is not guarded: `nowhere`. `now` as
        // process_stat::start has it, soon after the child was made.
        [[nodiscard]] std::size_t add(pid_t child, std::chrono::steady_clock::time_point deadline,
                                      std::uint64_t now = clock_ticks()) noexcept;
        void remove(std::size_t place) noexcept;

        // To remove from it does nothing.
        static constexpr std::size_t nowhere = std::numeric_limits<std::size_t>::max();

      private:
        friend class guardian;
        struct entry;

        entry* first_ = nullptr;
        std::size_t places_ = 0;
        std::size_t used_ = 0;  // those behind it were never used
        std::size_t free_ = nowhere;
    };

    [[nodiscard]] static base::expected<guardian> start(const settings& wanted);

    // Whether it had been ended by somebody, and another one is in its place. Costs a system call
    // as long as it is there. For the thread that called start().
    [[nodiscard]] base::expected<bool> look_after();

    guardian(guardian&& other) noexcept;
    guardian& operator=(guardian&&) = delete;
    // Ends it, unless a child is listed.
    ~guardian();

    [[nodiscard]] list list_of(unsigned thread) noexcept;

  private:
    struct ward;

    explicit guardian(const settings& wanted) : settings_(wanted) {}

    base::expected<void> begin();
    void reap() noexcept;
    [[nodiscard]] std::size_t size() const noexcept;
    [[nodiscard]] bool is_empty() const noexcept;
    [[noreturn]] void guard(int server) noexcept;
    void keep_deadlines(int told);
    [[nodiscard]] std::vector<ward> take_over() const;
    [[nodiscard]] bool is_done(ward& one, std::chrono::steady_clock::time_point now) const;

    settings settings_;
    list::entry* entries_ = nullptr;  // one list behind the other
    child process_;
};

}  // namespace postal::os
