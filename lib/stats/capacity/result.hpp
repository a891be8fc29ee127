// SPDX-License-Identifier: GPL-3.0-or-later
// What a search has found: Goal Results (RFC 9971), whether they were confirmed, and the sentences.
//
// A Regular Goal Result has both bounds, no further apart than the Goal Width. Others are
// irregular, and say why; what they have of bounds is true all the same.
#pragma once

#include "stats/capacity/evidence.hpp"
#include "stats/capacity/goal.hpp"
#include "stats/capacity/trial.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace postal::capacity {

enum class goal_end : std::uint8_t {
    regular,
    at_least,    // the highest load that could be tried holds
    doomed,      // the lowest one does not
    not_closer,  // what is between the bounds was not decided in the Goal Duration Sum
    unfinished   // the search ended first
};
inline constexpr std::array<std::string_view, 5> goal_end_words{"regular", "at_least", "doomed",
                                                                "not_closer", "unfinished"};
constexpr std::span<const std::string_view> words_of(goal_end) {
    return goal_end_words;
}

struct goal_result {
    goal_end end = goal_end::unfinished;
    std::optional<double>
        lower{};  // Relevant Lower Bound; of `at_least` the highest load that was tried
    std::optional<double> upper{};  // Relevant Upper Bound
    std::optional<double> conditional_throughput{};
    double rate = 0;  // the best guess, between them; the lower bound where there is no other; or 0
    loss_reason limited_by = loss_reason::none;  // at the upper bound
    double loss_ratio = 0;                       // there
    // The bounds are those of shorter trials than the goal's own, which show less.
    bool by_short_trials = false;
};

// A load that is tried once more when the goal's bounds are known.
enum class confirmed_load : std::uint8_t {
    share_80,   // of the Relevant Lower Bound, which must hold
    share_100,  // and must this
    share_120,  // if this one holds, the result is "at least"
    beyond,     // 5 % above the Relevant Upper Bound: must fail
    // far above the bounds, in a short trial: must hold again, else something has changed
    held_before,
    failed_before  // far below them: must fail again
};
inline constexpr std::array<std::string_view, 6> confirmed_load_words{
    "80 %", "100 %", "120 %", "beyond", "held_before", "failed_before"};
constexpr std::span<const std::string_view> words_of(confirmed_load) {
    return confirmed_load_words;
}

// Why it was not tried as often as it should have been.
enum class untried : std::uint8_t {
    no,
    above_most,  // than the search was told to try
    generator_limited,
    machine_full,
    no_time,  // or no trials left
    ended     // the search had, for a reason of its own
};
inline constexpr std::array<std::string_view, 6> untried_words{
    "no", "above_most", "generator_limited", "machine_full", "no_time", "ended"};
constexpr std::span<const std::string_view> words_of(untried) {
    return untried_words;
}

struct confirmation_result {
    confirmed_load what = confirmed_load::share_100;
    double load = 0;
    double duration_s = 0;         // of each trial
    std::uint64_t held = 0;        // trials that were low-loss as measured
    std::uint64_t shown_held = 0;  // and by evidence
    std::uint64_t failed = 0;      // high-loss as measured
    std::uint64_t shown_failed = 0;
    std::uint64_t far = 0;  // whose backlog grew by more than 10 % of what was due
    // Trials were not valid, or there was no time; not of 120 % beyond what could be tried at all.
    bool left_out = false;
    untried why = untried::no;

    [[nodiscard]] std::uint64_t trials() const noexcept { return held + failed; }
    // It is not as it was found.
    [[nodiscard]] bool contradicts() const noexcept;
    // What was to hold has not in most trials, though that may be chance: it is not confirmed.
    [[nodiscard]] bool doubtful() const noexcept;
};

enum class search_end : std::uint8_t {
    found,
    at_least,
    unstable,
    doomed,
    not_closer,
    generator_limited,  // and the search could not go on
    machine_full,
    queue_stays,    // trials began with a backlog, again and again
    nothing_ended,  // in time, of two trials; the second began with a backlog or had no server
    out_of_time,
    out_of_trials,
    interrupted,
    partner_lost  // a program that performed its part of the trials
};
inline constexpr std::array<std::string_view, 13> search_end_words{
    "found",         "at_least",          "unstable",      "doomed",
    "not_closer",    "generator_limited", "machine_full",  "queue_stays",
    "nothing_ended", "out_of_time",       "out_of_trials", "interrupted",
    "partner_lost"};
constexpr std::span<const std::string_view> words_of(search_end) {
    return search_end_words;
}

struct search_result {
    search_end end = search_end::out_of_time;
    std::size_t limiting = 0;        // the goal with the lowest bounds: that of the result
    std::vector<goal_result> goals;  // in their order
    std::vector<confirmation_result> confirmation;  // of the limiting goal
    bool confirmed = false;         // all that could be was tried, and came out as it was found
    std::optional<double> ceiling;  // loads from here on could not be tried
    trial_validity ceiling_by = trial_validity::valid;
    std::uint64_t trials = 0;  // all that were performed
    double took_s = 0;

    [[nodiscard]] const goal_result& limit() const { return goals.at(limiting); }
};

// A program beside the one that searches, which performs its part of each trial: the flow with the
// number of its place, from 1.
struct partner {
    std::string program{};  // "rabid"; of several that are the same "rabid 2"
    std::string unit{};     // what falls due of it, "visits"
    double share = 0;       // so many for each message of the load
    // All of so many were busy where a promise was not kept: perhaps more would carry more.
    std::optional<std::uint64_t> sessions_busy{};
};
using partners = std::vector<partner>;
// What a flow's load counts, and the promise of a goal: "p99(session)<1s of rabid".
[[nodiscard]] std::string_view unit_of(const goal& of, std::string_view unit,
                                       const partners& beside);
[[nodiscard]] std::string promise_of(const goal& of, const partners& beside);
// " beside 82.4 visits/s" at that load; empty without partners.
[[nodiscard]] std::string beside_text(double load, const partners& beside);

// "412 messages/s (408 to 416) beside 82.4 visits/s, limited by p99(session) of rabid"; what ended
// a search otherwise, and why. `unit`: what loads count, "messages".
[[nodiscard]] std::string sentence_of(const search_result& of, const std::vector<goal>& goals,
                                      std::string_view unit = "messages",
                                      const partners& beside = {});
// "tried once more: 80 %, 320 messages/s, held in 3 of 3 trials; 100 %, 400 messages/s, held in 3
// of 3 trials; 120 %, 480 messages/s, not tried: that is more than was to be tried"; empty where
// nothing was tried once more.
[[nodiscard]] std::string confirmation_text(const search_result& of, std::string_view unit);
// Of one goal: "p99(message)<1s: 412 messages/s (408 to 416), conditional throughput 411".
[[nodiscard]] std::string sentence_of(const goal_result& of, const goal& about,
                                      std::string_view unit = "messages",
                                      const partners& beside = {});

}  // namespace postal::capacity
