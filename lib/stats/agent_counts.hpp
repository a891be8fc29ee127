// SPDX-License-Identifier: GPL-3.0-or-later
// What the agents (delivery programs) of a server did in one time slice: starts, ends, costs.
//
// A part of tally that stays zero for programs that run none. An agent that could not be started is
// an end of the kind "not started", and neither started nor ended. Kinds are "0", "75", "signal 9",
// or a word of the program's own such as timeout_end: a bounded number, which the caller sees to.
// Counting a kind that was there before, also before a clear(), allocates nothing. Nothing fails.
#pragma once

#include <chrono>
#include <cstdint>
#include <string_view>

#include "stats/named_counts.hpp"

namespace postal::stats {

inline constexpr std::string_view timeout_end = "timeout";
inline constexpr std::string_view not_started_end = "not started";

struct agent_usage {
    std::chrono::nanoseconds user{};
    std::chrono::nanoseconds system{};
    std::uint64_t max_rss_bytes = 0;
};

class agent_counts {
  public:
    void add_start() noexcept { ++started_; }
    void add_not_started();
    void add_end(std::string_view kind, const agent_usage& used);
    void add_end_with_status(int status, const agent_usage& used);
    void add_end_by_signal(int signal, const agent_usage& used);

    // Started in a time slice that is not counted here, and ended in one that is.
    void carry_over(std::uint64_t running) noexcept { started_ += running; }
    void merge(const agent_counts& other);
    // Back to zero, keeping the kinds' memory.
    void clear() noexcept;

    [[nodiscard]] std::uint64_t started() const noexcept { return started_; }
    [[nodiscard]] std::uint64_t ended() const noexcept { return ended_; }
    [[nodiscard]] std::uint64_t running() const noexcept;
    [[nodiscard]] std::chrono::nanoseconds user() const noexcept { return used_.user; }
    [[nodiscard]] std::chrono::nanoseconds system() const noexcept { return used_.system; }
    // Of the largest agent.
    [[nodiscard]] std::uint64_t max_rss_bytes() const noexcept { return used_.max_rss_bytes; }
    [[nodiscard]] const named_counts& exits() const noexcept { return exits_; }
    [[nodiscard]] bool empty() const noexcept;

  private:
    std::uint64_t started_ = 0;
    std::uint64_t ended_ = 0;
    agent_usage used_;  // sums, and the largest memory
    named_counts exits_;
};

}  // namespace postal::stats
