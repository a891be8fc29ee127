// SPDX-License-Identifier: GPL-3.0-or-later
// A target begins with what the one before it found: the middle of its bounds where they are far
// enough apart, then the one that is missing. Only where both have moved does the search leave
// them.
#include "stats/capacity/goal_search.hpp"

#include <algorithm>
#include <cmath>

namespace postal::capacity {
namespace {

constexpr std::size_t fewest_trials = 3;  // before a search is doomed
constexpr int most_doublings = 5;         // of a step of the external search

// Another goal's trials may have decided about it.
bool is_within(double load, const load_bounds& of) {
    return (!of.lower || load > *of.lower) && (!of.upper || load < *of.upper);
}

double middle(double low, double high) {
    return std::sqrt(low * high);
}

}  // namespace

// A load that nothing was decided about with this target.
bool goal_search::is_new(std::optional<double> load) const {
    return load && trials_->class_of(goal_, level_, *load) == load_class::undecided;
}

std::optional<nomination> goal_search::nominate(const load_limits& limits) {
    while (true) {
        const load_bounds now = trials_->bounds(goal_, level_);
        if (open_ && is_new(open_->load) && open_->load < limits.ceiling &&
            is_within(open_->load, now)) {
            if (!trials_->at(open_->load).empty()) open_->step = trial_step::repeat;
            return open_;
        }
        const int expansions = expansions_;
        open_ = below_ceiling(choose(now, limits), now, limits);
        ended_ = false;
        if (open_) return open_;
        expansions_ = expansions;
        const bool nowhere = !now.lower && (now.upper || !now.exhausted.empty());
        ended_ = level_ + 1 == targets_per_goal || nowhere;
        if (ended_) return std::nullopt;
        before_ = now;
        expansions_ = 0;
        ++level_;
    }
}

// What cannot be tried is not asked for, though loads above it were once; half the way to it is.
// What only shorter trials have shown is no bound: where it cannot be tried, lower loads are.
goal_search::choice goal_search::below_ceiling(choice wanted, const load_bounds& now,
                                               const load_limits& limits) {
    if (!wanted || wanted->load < limits.ceiling) return wanted;
    const auto from = now.lower ? now.lower : before_.lower;
    const double width = trials_->target_of(goal_, level_).width;
    if (from && limits.ceiling > *from * (1 + width))
        return at(middle(*from, limits.ceiling), trial_step::bisect);
    if (now.lower || limits.ceiling <= limits.min) return std::nullopt;
    return at(std::max(limits.ceiling / step_ratio(1), limits.min), trial_step::extend_down);
}

goal_search::choice goal_search::choose(const load_bounds& now, const load_limits& limits) {
    if (now.lower && now.upper) return between(now);
    if (now.lower) return extend_up(now, limits);
    if (now.upper) return extend_down(now, limits);
    return choose_first(now, limits);
}

goal_search::choice goal_search::choose_first(const load_bounds& now, const load_limits& limits) {
    if (level_ == 0 && now.exhausted.empty())
        return at(std::clamp(std::min(limits.start, limits.ceiling / 2), limits.min, limits.max),
                  trial_step::start);
    if (before_.lower && before_.upper) {
        const double half = middle(*before_.lower, *before_.upper);
        const double ratio = *before_.upper / *before_.lower;
        if (ratio > 1 + trials_->target_of(goal_, level_).width && is_new(half))
            return at(half, trial_step::refine);
    }
    if (is_new(before_.lower)) return at(*before_.lower, trial_step::refine);
    if (is_new(before_.upper)) return at(*before_.upper, trial_step::refine);
    return now.exhausted.empty() ? choice{} : extend_down(now, limits);
}

goal_search::choice goal_search::between(const load_bounds& now) const {
    const double lower = *now.lower, upper = *now.upper;
    const double width = trials_->target_of(goal_, level_).width;
    if (upper <= lower * (1 + width)) return std::nullopt;
    if (now.exhausted.empty()) return at(middle(lower, upper), trial_step::bisect);
    // What is between stays unknown; from both sides the search comes as near as half a width.
    const double half = std::sqrt(1 + width);
    if (now.exhausted.front() > lower * half)
        return at(middle(lower, now.exhausted.front()), trial_step::bisect);
    if (upper > now.exhausted.back() * half)
        return at(middle(now.exhausted.back(), upper), trial_step::bisect);
    return std::nullopt;
}

// Twice as far, as a ratio, each time.
double goal_search::step_ratio(double least) {
    double ratio = std::max(least, 1 + trials_->target_of(goal_, level_).width);
    for (int i = 0; i < std::min(expansions_, most_doublings); ++i)
        ratio *= ratio;
    ++expansions_;
    return std::min(ratio, 16.0);
}

goal_search::choice goal_search::extend_up(const load_bounds& now, const load_limits& limits) {
    const double from = now.exhausted.empty() ? *now.lower : now.exhausted.back();
    if (is_new(before_.upper) && *before_.upper > from && *before_.upper < limits.ceiling)
        return at(*before_.upper, trial_step::refine);
    if (from >= limits.max) return std::nullopt;
    const double width = trials_->target_of(goal_, level_).width;
    double load = level_ == 0 ? from * 2 : from * step_ratio(1);
    load = std::min(load, limits.max);
    if (load >= limits.ceiling) {
        if (limits.ceiling <= from * (1 + width)) return std::nullopt;
        load = middle(from, limits.ceiling);
    }
    return at(load, trial_step::extend_up);
}

goal_search::choice goal_search::extend_down(const load_bounds& now, const load_limits& limits) {
    const double from = now.exhausted.empty() ? *now.upper : now.exhausted.front();
    if (is_new(before_.lower) && *before_.lower < from)
        return at(*before_.lower, trial_step::refine);
    if (from <= limits.min) {
        // The first trials doom nobody: something may have had to warm up.
        if (trials_->trials().size() < fewest_trials) return at(from, trial_step::repeat);
        return std::nullopt;
    }
    // Short trials find their way down fast: what holds nowhere is to be said soon.
    double ratio = step_ratio(level_ == 0 ? 2 : 1);
    if (level_ == 0 && expansions_ > 1) ratio = expansions_ == 2 ? 16 : 256;
    return at(std::max(from / ratio, limits.min), trial_step::extend_down);
}

}  // namespace postal::capacity
