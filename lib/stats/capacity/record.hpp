// SPDX-License-Identifier: GPL-3.0-or-later
// A search as it stands in a record: its goals, every trial and what was found (record_fields.hpp
// has the keys). A trial's batches are left out: what they showed stands with each goal. Nothing
// here fails.
#pragma once

#include "stats/capacity/search.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace postal::capacity {

// A trial, for one goal.
struct recorded_judgement {
    goal_losses losses{};
    judgement said{};
};

// What a program beside the one that searches had to do with a trial.
struct recorded_flow {
    std::uint64_t intended = 0;
    std::uint64_t backlog_start = 0;
    std::uint64_t backlog_end = 0;
    std::optional<std::chrono::nanoseconds> p50{};
    std::optional<std::chrono::nanoseconds> p99{};
    std::optional<double> generator_busy{};
};

struct recorded_trial {
    double start_s = 0;
    trial_input asked{};
    double duration_s = 0;
    double took_s = 0;
    std::uint64_t intended = 0;
    std::uint64_t backlog_start = 0;
    std::uint64_t backlog_end = 0;
    std::optional<std::uint64_t> queued_end{};
    bool began_with_backlog = false;
    trial_validity validity = trial_validity::valid;
    std::optional<std::chrono::nanoseconds> p50{};
    std::optional<std::chrono::nanoseconds> p99{};
    std::optional<double> generator_busy{};
    std::vector<recorded_judgement> goals{};  // none where the trial does not count
    std::vector<recorded_flow> beside{};      // of each partner
};

// What the generator could do by itself, measured before the search in a closed loop against a
// server of the suite on the same host, which does nothing with what it takes.
struct own_limit {
    double rate = 0;  // at which its busiest worker would have no time left
    double load = 0;  // that was finished a second
    double busy = 0;  // then, a share of that worker's time
    double measured_s = 0;
    std::string left_out{};  // what of a run it did not do: "AUTH, --ledger"; empty: nothing
};

struct search_record {
    std::vector<goal> goals{};
    double start_load = 0;
    double min_load = 0;
    std::optional<double> max_load{};
    std::uint64_t seed = 0;
    std::string unit{};  // what loads count: "messages"
    std::string sentence{};
    // All of so many were busy where a promise was not kept: perhaps more would carry more.
    std::optional<std::uint64_t> sessions_busy{};
    partners beside{};
    std::optional<own_limit> alone{};
    search_result result{};
    std::vector<recorded_trial> trials{};
};

// What became of it, for each goal.
[[nodiscard]] recorded_trial recorded(const search_trial& of);
// The goal that decides, null where the trial does not count: one that was missed before one that
// is open, and of those the one that lost most.
[[nodiscard]] const recorded_judgement* decisive(const recorded_trial& of);
// "kept", "missed, perhaps by chance", "says nothing: the machine was full".
[[nodiscard]] std::string verdict_text(const recorded_trial& of);

// What is said of one goal beside the others. Its bounds are what trials showed; where the search
// came out otherwise when it tried once more, they bound nothing.
struct goal_standing {
    std::string_view result{};     // "found", "unstable", "not decided between the bounds"
    std::optional<double> rate{};  // the best guess
    // What is marked as the result; without a lower one nothing is.
    std::optional<double> lower{};
    std::optional<double> upper{};
    std::optional<double> conditional_throughput{};
};
[[nodiscard]] goal_standing standing_of(const search_result& of, std::size_t goal);

// How far the generator is from its own limit, by the trial that finished most of those that kept
// all promises and of which it is known; nothing without one. What was offered and not taken would
// make a generator of any that waits.
struct generator_reach {
    double load = 0;  // that was finished as promised
    double busy = 0;  // a share of its time

    // At which its busiest worker would have no time left.
    [[nodiscard]] double rate() const noexcept { return load / busy; }
};
[[nodiscard]] std::optional<generator_reach> reach_of(const search_record& of);
// "postal could do 14,100 messages/s by itself", "measured: 13,200 messages/s took 93.0 % of
// its busiest worker" and what was "left out of that: AUTH"; or what a trial shows: "postal could
// do about 9,000 messages/s or more by itself", and why; none where neither is known.
[[nodiscard]] std::vector<std::string> reach_texts(const search_record& of,
                                                   std::string_view program);

// "10 sessions", "4 sessions of rabid": all of which were busy where a promise was not kept.
[[nodiscard]] std::vector<std::string> busy_sessions(const search_record& of);

// Trials that say nothing: they were not valid, or began with a backlog.
[[nodiscard]] std::uint64_t trials_that_say_nothing(const search_record& of);

[[nodiscard]] search_record record_of(const search& of, std::string_view unit = "messages",
                                      const partners& beside = {});

}  // namespace postal::capacity
