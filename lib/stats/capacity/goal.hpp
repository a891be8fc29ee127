// SPDX-License-Identifier: GPL-3.0-or-later
// Search Goals (RFC 9971, "Search Goal"): a promise, and how long and how closely the highest load
// that keeps it is looked for.
//
// A promise is a threshold (stats/threshold.hpp) that allows a share of what was due to be late or
// lost: "p99(message)<1s" allows 1 % to take a second or more, "errors<0.1%" one in a thousand to
// fail. That share is the Goal Loss Ratio. Others, such as "mean(message)<1s", say nothing about
// single messages and are refused. A set of goals ("quick", "standard", "rfc2544") has the
// durations; docs/method.md says why they are what they are. Behind the promise may stand a goal's
// own: "p99(message)<1s;final=60s,sum=3m,exceed=0.5,width=1%,initial=2s", each at most once. What
// is parsed here fails with one line; nothing else here fails.
#pragma once

#include "base/result.hpp"
#include "stats/threshold.hpp"
#include "stats/trial_counts.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace postal::capacity {

enum class goal_set : std::uint8_t { quick, standard, rfc2544 };
inline constexpr std::array<std::string_view, 3> goal_set_words{"quick", "standard", "rfc2544"};
constexpr std::span<const std::string_view> words_of(goal_set) {
    return goal_set_words;
}

// Of a search that nobody bounds, and the widths that may be asked for.
inline constexpr double usual_search_s = 900;
inline constexpr double least_width = 0.001;
inline constexpr double most_width = 1;
// What a goal's own attributes may be.
inline constexpr double shortest_trial_s = 0.5;
inline constexpr double longest_trial_s = 3600;
inline constexpr double longest_sum_s = 86400;
inline constexpr double most_exceed_ratio = 0.99;
// Of a program beside the one that searches: what falls due of it for each message of the load.
inline constexpr double least_share = 0.0001;
inline constexpr double most_share = 100;

struct goal {
    std::string promise{};       // as it was given, without attributes of its own
    std::string metric{};        // of it: "p99(message)"
    double loss_ratio = 0.01;    // Goal Loss Ratio: so much may be late or lost
    double initial_trial_s = 2;  // Goal Initial Trial Duration
    double final_trial_s = 20;   // Goal Final Trial Duration, where that holds messages enough
    double duration_sum_s = 60;  // Goal Duration Sum, of the same
    double exceed_ratio = 0.5;   // Goal Exceed Ratio
    double width = 0.02;         // Goal Width: of the two bounds, as a share of the lower one
    std::size_t flow = 0;        // whose it is, as trial_output::flow() has them
    double share = 1;            // so much of that falls due for each message of the load
};

// The set's durations, ratios and width, without a promise.
[[nodiscard]] goal defaults_of(goal_set set);

// A goal, and what a trial has to count for it.
struct counted_goal {
    goal of;
    stats::allowance lost;
    std::string own{};       // attributes that stood behind the promise, as they were given
    bool own_width = false;  // its width is one of them
};

// A program's phases, as threshold::parse() has them, and which of them counts from when something
// was due.
struct goal_phases {
    const std::vector<std::string>& all;
    std::size_t due;
};

// Fails with one line on what is no threshold, can never hold, or allows no share of messages to be
// lost, on one that allows any with `rfc2544`, which has a Goal Loss Ratio of 0, and on attributes
// that are none or do not fit each other. `counters`: as threshold::parse().
[[nodiscard]] base::expected<counted_goal> parse_goal(
    std::string_view promise, goal_set set, const goal_phases& of,
    stats::counter_rows counters = stats::all_counters());

// "0.5%": the bounds of what is found may be so far apart. Fails with one line.
[[nodiscard]] base::expected<double> parse_width(std::string_view text);

// "20%", of a load: so much as that for each message of it. Fails with one line.
[[nodiscard]] base::expected<double> parse_load_share(std::string_view text);

// What a trial counts as lost for it. Fails with one line where the goal is about another phase
// than the one of what was due, or about a counter that no single message is in.
[[nodiscard]] base::expected<stats::trial_promise> counted_as(const stats::allowance& lost,
                                                              const goal_phases& of);

// The fewest messages that can show at 95 % that no more than that share of them is lost, 1 for
// none.
[[nodiscard]] double fewest_messages(double loss_ratio);

// What is aimed at in turn, coarse before fine: shorter trials and wider bounds first, the goal
// itself last.
struct target {
    double trial_s = 0;
    double duration_sum_s = 0;
    double exceed_ratio = 0;
    double width = 0;
    double messages = 0;   // of the load, that a full-length trial has to hold,
    double longest_s = 0;  // where it need not be longer than that
    bool final = false;    // otherwise what was measured decides, unless it is chance

    // Of a full-length trial at this load: longer where it would not hold messages enough, but to
    // look where a load is no longer than a minute has room for.
    [[nodiscard]] double trial_s_at(double load) const;
    // There must be room for two of those, as there is where they are not longer.
    [[nodiscard]] double duration_sum_s_at(double load) const;
};
inline constexpr std::size_t targets_per_goal = 3;
[[nodiscard]] std::array<target, targets_per_goal> targets_of(const goal& of);

}  // namespace postal::capacity
