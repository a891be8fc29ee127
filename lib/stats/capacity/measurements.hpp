// SPDX-License-Identifier: GPL-3.0-or-later
// The trials of a search, and what each load is for each goal and target.
//
// Trials that do not count (irregular or invalid ones) are kept, and say nothing. With the final
// target trials that are not known by themselves are judged together, as one that is longer; a load
// that is still undecided after its Goal Duration Sum is exhausted. Nothing here fails.
#pragma once

#include "stats/capacity/classification.hpp"
#include "stats/capacity/evidence.hpp"
#include "stats/capacity/goal.hpp"
#include "stats/capacity/trial.hpp"

#include <array>
#include <cstddef>
#include <map>
#include <optional>
#include <vector>

namespace postal::capacity {

struct search_trial {
    trial_input asked;
    trial_output seen;
    double start_s = 0;                 // since the search began
    std::vector<judgement> judgements;  // for each goal; none where the trial does not count
};

// What bounds a goal's load, of the trials so far.
struct load_bounds {
    std::optional<double>
        lower;  // Relevant Lower Bound; without an upper one the largest Lower Bound
    std::optional<double> upper;    // Relevant Upper Bound
    std::vector<double> exhausted;  // between them, ascending
};

// What holds for long holds for half as long.
inline constexpr double confirmation_length = 0.5;

class measurements {
  public:
    explicit measurements(std::vector<goal> goals);

    [[nodiscard]] const std::vector<goal>& goals() const noexcept { return goals_; }
    [[nodiscard]] const std::vector<search_trial>& trials() const noexcept { return trials_; }
    [[nodiscard]] const target& target_of(std::size_t goal, std::size_t level) const {
        return targets_[goal][level];
    }
    // Judges it, and classifies its load anew. Trials that confirm a result classify nothing.
    void add(search_trial trial);

    // undecided where nothing was measured.
    [[nodiscard]] load_class class_of(std::size_t goal, std::size_t level, double load) const;
    [[nodiscard]] load_bounds bounds(std::size_t goal, std::size_t level) const;
    // The next lower load that is a Lower Bound, and holds throughout.
    [[nodiscard]] std::optional<double> next_lower(std::size_t goal, double load) const;
    // All that counts at that load, of the search itself, as one trial.
    [[nodiscard]] judgement together(std::size_t goal, double load) const;
    // At the Relevant Lower Bound.
    [[nodiscard]] double conditional_throughput(std::size_t goal, double load) const;
    // Trials of the search itself that count, at that load.
    [[nodiscard]] std::vector<const search_trial*> at(double load) const;

    // Whether all trials there that are long enough to confirm it, those that did so too, show
    // together that it holds.
    [[nodiscard]] bool holds_throughout(std::size_t goal, double load) const;

  private:
    using classes = std::array<load_class, targets_per_goal>;  // of one goal

    [[nodiscard]] load_class classify_at(std::size_t goal, std::size_t level, double load) const;

    std::vector<goal> goals_;
    std::vector<std::array<target, targets_per_goal>> targets_;  // of each goal
    std::vector<search_trial> trials_;
    std::map<double, std::vector<classes>> loads_;  // by load, for each goal
};

}  // namespace postal::capacity
