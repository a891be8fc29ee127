// SPDX-License-Identifier: GPL-3.0-or-later
// Which load one goal wants to be tried next: MLRsearch's targets, coarse before fine, each by
// external search (doubling, or steps that grow, until there is a bound on either side) and
// internal search (bisection at the geometric mean). Deterministic; nothing here fails.
#pragma once

#include "stats/capacity/measurements.hpp"

#include <cstddef>
#include <limits>
#include <optional>

namespace postal::capacity {

// What loads may be tried.
struct load_limits {
    double start = 10;
    double min = 1;                                        // Min Load
    double max = std::numeric_limits<double>::infinity();  // Max Load
    // Where a trial could not be performed; only lower loads are tried.
    double ceiling = std::numeric_limits<double>::infinity();
};

struct nomination {
    double load = 0;
    trial_step step = trial_step::start;
    std::size_t level = 0;  // of the target
};

class goal_search {
  public:
    goal_search(const measurements& trials, std::size_t goal) : trials_(&trials), goal_(goal) {}

    // Nothing: there is no more to try for this goal. The same until a trial is added.
    [[nodiscard]] std::optional<nomination> nominate(const load_limits& limits);
    // When last asked there was no more.
    [[nodiscard]] bool ended() const noexcept { return ended_; }
    // The target that is aimed at.
    [[nodiscard]] std::size_t level() const noexcept { return level_; }

  private:
    using choice = std::optional<nomination>;
    [[nodiscard]] choice below_ceiling(choice wanted, const load_bounds& now,
                                       const load_limits& limits);
    [[nodiscard]] choice choose(const load_bounds& now, const load_limits& limits);
    [[nodiscard]] choice choose_first(const load_bounds& now, const load_limits& limits);
    [[nodiscard]] choice between(const load_bounds& now) const;
    [[nodiscard]] choice extend_up(const load_bounds& now, const load_limits& limits);
    [[nodiscard]] choice extend_down(const load_bounds& now, const load_limits& limits);
    [[nodiscard]] bool is_new(std::optional<double> load) const;
    [[nodiscard]] choice at(double load, trial_step step) const {
        return nomination{load, step, level_};
    }
    [[nodiscard]] double step_ratio(double least);

    const measurements* trials_;
    std::size_t goal_;
    std::size_t level_ = 0;
    load_bounds before_;              // of the target before
    std::optional<nomination> open_;  // nominated, and perhaps not decided yet
    bool ended_ = false;
    int expansions_ = 0;  // of the external search for this target
};

}  // namespace postal::capacity
