// SPDX-License-Identifier: GPL-3.0-or-later
// The highest rate that keeps its promise: the Controller of RFC 9971 (MLRsearch), without I/O,
// clock or thread.
//
// Flow: while next() has a trial, perform it, wait until the server's queue is empty (bounded), and
// add() what was seen; then result() has what was found. All goals are served by the same trials.
// The search is bounded by trials and by time, which is what the trials took, and deterministic but
// for the order in which it confirms, which is the seed's.
//
// A trial that was not valid (the generator was the limit, the machine full) is repeated once; a
// second one makes its load the ceiling, below which the search goes on. One that began with a
// backlog is repeated, three in a row end the search, and two in which nothing ended. Where several
// programs perform the trials, loads far above what fails one's goals are not tried for another's:
// the lowest is the result.
// What is deliberately unlike the RFC stands in docs/adr/0030-the-rate-that-keeps-its-promise.md.
#pragma once

#include "stats/capacity/confirmation.hpp"
#include "stats/capacity/goal_search.hpp"
#include "stats/capacity/measurements.hpp"
#include "stats/capacity/result.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace postal::capacity {

// Controller Input. At least one goal; rates are positive, the start is between the limits.
struct search_input {
    std::vector<goal> goals;
    load_limits loads;
    bool confirm = true;
    double most_s = usual_search_s;  // no trial begins that would end later
    std::size_t most_trials = 200;
    std::uint64_t seed = 1;
};

struct search_progress {
    std::size_t trials = 0;  // that were performed
    double used_s = 0;
    double to_go_s = 0;  // an estimate, within the time that is left; 0 at the end
    bool confirming = false;
    std::optional<double> lower{};  // of the goal in focus, so far
    std::optional<double> upper{};
};

class search {
  public:
    explicit search(search_input input);
    // The goals' searches look at this object's measurements.
    search(const search&) = delete;
    search& operator=(const search&) = delete;

    // Nothing: the search has its result.
    [[nodiscard]] const std::optional<trial_input>& next() const noexcept { return next_; }
    // "1,200/s for 6.3 s: between 1,000 and 1,440"; empty without a next trial.
    [[nodiscard]] std::string because() const;
    // What became of next(). Its goals and batches have an element for each goal.
    void add(trial_output seen);

    // No more is tried; what was found so far is the result.
    void interrupt(search_end why = search_end::interrupted) { finish(why); }

    // So long after the begin of the trial that is next().
    [[nodiscard]] search_progress progress(double elapsed_s = 0) const;
    // So far; of the whole search when there is no next trial.
    [[nodiscard]] const search_result& result() const noexcept { return result_; }
    // As it was given, but that a ceiling may have been met.
    [[nodiscard]] const search_input& input() const noexcept { return input_; }
    [[nodiscard]] const std::vector<goal>& goals() const noexcept { return trials_.goals(); }
    [[nodiscard]] const std::vector<search_trial>& trials() const noexcept {
        return trials_.trials();
    }

  private:
    void advance();
    [[nodiscard]] load_limits limits_of(std::size_t goal) const;
    [[nodiscard]] bool another_is_doomed(std::size_t goal) const;
    [[nodiscard]] std::optional<double> lowest_failure(std::size_t goal) const;
    [[nodiscard]] bool ask(const nomination& which, std::size_t goal, double duration_s);
    [[nodiscard]] bool ask_to_confirm();
    void could_not(trial_validity why);
    void finish(std::optional<search_end> early);
    void conclude();
    void weigh_confirmation();
    [[nodiscard]] double rate_within(std::size_t goal, const load_bounds& of) const;
    [[nodiscard]] goal_result result_of(std::size_t goal, bool finished) const;

    search_input input_;
    measurements trials_;
    std::vector<goal_search> searches_;  // of each goal
    std::optional<confirmation> confirming_;
    std::optional<trial_input> next_;
    search_result result_;
    double used_s_ = 0;
    int invalid_ = 0;  // trials in a row
    int irregular_ = 0;
    int silent_ = 0;
};

}  // namespace postal::capacity
