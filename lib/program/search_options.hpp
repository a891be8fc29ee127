// SPDX-License-Identifier: GPL-3.0-or-later
// --find-rate and what belongs to it: which promises a search of the highest rate is about, how
// closely it looks (stats/capacity), and which programs perform its trials together.
#pragma once

#include "base/result.hpp"
#include "base/units.hpp"
#include "cli/options.hpp"
#include "cli/parse.hpp"
#include "stats/capacity/goal.hpp"
#include "stats/trial_counts.hpp"

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace postal::program {

struct search_choice {
    bool wanted = false;
    std::string due{};  // the phase that counts from when something was due, "message"
    std::vector<std::string> promises{};  // none: the usual one
    capacity::goal_set set = capacity::goal_set::standard;
    std::optional<double> width{};         // of the bounds, as a share; otherwise the set's
    std::optional<base::rate> most{};      // no higher rate is tried
    std::optional<base::rate> at_least{};  // what is found has to be
    std::optional<base::rate> start{};     // otherwise the search's own
    std::chrono::nanoseconds time{};       // no trial begins that would end later
    std::vector<std::string> sockets{};    // where other programs join it
    // For so long the program's own limit is measured first; 0: it is not. Nothing: as
    // own_limit_time() says.
    std::optional<std::chrono::nanoseconds> own_limit{};
    std::string joins{};  // where this one joins another's; empty: nowhere
    double share = 1;     // then: so much of ours for each message of the load

    // This program performs trials, of its own search or of another's.
    [[nodiscard]] bool in_trials() const noexcept { return wanted || !joins.empty(); }
};

// `due`: as above. `own_limit`: the program can be measured by itself.
cli::group search_group(search_choice& target, std::string_view due, bool own_limit);

// As they were given, or the usual one.
[[nodiscard]] std::vector<std::string> promises_of(const search_choice& chosen);

// No trial begins that would end later.
[[nodiscard]] std::chrono::nanoseconds longest_search(const search_choice& chosen);

// For so long what the program can do by itself is measured first; 0: it is not. A search that may
// last for less than two minutes has no time for it.
[[nodiscard]] std::chrono::nanoseconds own_limit_time(const search_choice& chosen);

struct search_goals {
    std::vector<capacity::goal> goals;
    std::vector<stats::trial_promise> promises;  // of each
};
// Of a run whose phases these are. Fails with one line, which begins with the option.
base::expected<search_goals> goals_of(const search_choice& chosen,
                                      const std::vector<std::string>& phases, std::size_t due);

// Where the search begins, messages a second.
double search_start(const search_choice& chosen);

// What a search has no use for is refused, and so are its options without --find-rate. `beside`:
// long names.
base::expected<void> check(const search_choice& chosen,
                           const std::vector<cli::effective_option>& given,
                           const std::vector<std::string_view>& beside);

}  // namespace postal::program
