// SPDX-License-Identifier: GPL-3.0-or-later
#include "stats/capacity/measurements.hpp"

#include <algorithm>
#include <utility>

namespace postal::capacity {
namespace {

// A clock is read a little early or late.
bool is_full_length(const search_trial& trial, double full_length_s) {
    return trial.seen.duration_s >= 0.99 * full_length_s;
}

struct sorted_trials {
    duration_sums sums;
    std::vector<const trial_output*> not_known;  // full-length ones
    double full_length_s = 0;                    // all of them

    void add(loss_class of, double duration_s, bool full_length) {
        if (of == loss_class::high)
            (full_length ? sums.full_length_high_s : sums.short_high_s) += duration_s;
        else if (of == loss_class::low)
            (full_length ? sums.full_length_low_s : sums.short_low_s) += duration_s;
    }
};

}  // namespace

measurements::measurements(std::vector<goal> goals) : goals_(std::move(goals)) {
    for (const goal& one : goals_)
        targets_.push_back(targets_of(one));
}

void measurements::add(search_trial trial) {
    const double load = trial.asked.load;
    const bool classifies = trial.seen.counts() && trial.asked.step != trial_step::confirm;
    if (trial.seen.counts()) {
        const trial_output* seen = &trial.seen;
        for (std::size_t i = 0; i < goals_.size(); ++i)
            trial.judgements.push_back(judge(goals_[i], i, {&seen, 1}));
    }
    trials_.push_back(std::move(trial));
    if (!classifies) return;
    auto& all = loads_[load];
    all.resize(goals_.size());
    for (std::size_t i = 0; i < goals_.size(); ++i) {
        for (std::size_t level = 0; level < targets_per_goal; ++level)
            all[i][level] = classify_at(i, level, load);
    }
}

std::vector<const search_trial*> measurements::at(double load) const {
    std::vector<const search_trial*> found;
    for (const search_trial& one : trials_) {
        if (one.seen.counts() && one.asked.step != trial_step::confirm && one.asked.load == load)
            found.push_back(&one);
    }
    return found;
}

load_class measurements::classify_at(std::size_t goal, std::size_t level, double load) const {
    const target& aim = targets_[goal][level];
    sorted_trials sorted;
    for (const search_trial* one : at(load)) {
        const bool full_length = is_full_length(*one, aim.trial_s_at(load));
        const judgement& said = one->judgements[goal];
        // Of a small share of the load nothing may have been due: a higher one is to be seen.
        const loss_class measured = said.messages > 0 ? said.measured : loss_class::low;
        const loss_class is = aim.final ? said.shown : measured;
        sorted.add(is, one->seen.duration_s, full_length);
        if (full_length) sorted.full_length_s += one->seen.duration_s;
        if (full_length && is == loss_class::not_known) sorted.not_known.push_back(&one->seen);
    }
    if (sorted.not_known.size() > 1) {
        double pooled_s = 0;
        for (const trial_output* one : sorted.not_known)
            pooled_s += one->duration_s;
        sorted.add(judge(goals_[goal], goal, sorted.not_known).shown, pooled_s, true);
    }
    const double sum_s = aim.duration_sum_s_at(load);
    load_class is = classify(sorted.sums, sum_s, aim.exceed_ratio);
    if (is == load_class::lower && aim.final && !holds_throughout(goal, load))
        is = load_class::undecided;
    const bool spent = sorted.full_length_s >= 0.99 * sum_s;
    return is == load_class::undecided && spent ? load_class::exhausted : is;
}

// Two trials that hold beside one that does not know may be the lucky ones: all together decide.
bool measurements::holds_throughout(std::size_t goal, double load) const {
    const double least_s = confirmation_length * targets_[goal].back().trial_s_at(load);
    std::vector<const trial_output*> all;
    bool each = true;
    for (const search_trial& one : trials_) {
        if (!one.seen.counts() || one.asked.load != load || !is_full_length(one, least_s)) continue;
        all.push_back(&one.seen);
        each = each && one.judgements[goal].shown == loss_class::low;
    }
    return each || judge(goals_[goal], goal, all).shown == loss_class::low;
}

load_class measurements::class_of(std::size_t goal, std::size_t level, double load) const {
    const auto found = loads_.find(load);
    return found == loads_.end() ? load_class::undecided : found->second[goal][level];
}

load_bounds measurements::bounds(std::size_t goal, std::size_t level) const {
    load_bounds made;
    for (const auto& [load, of_goals] : loads_) {
        const load_class is = of_goals[goal][level];
        if (is == load_class::upper) {
            made.upper = load;
            break;
        }
        if (is == load_class::lower) {
            made.lower = load;
            made.exhausted.clear();
        }
        if (is == load_class::exhausted) made.exhausted.push_back(load);
    }
    return made;
}

std::optional<double> measurements::next_lower(std::size_t goal, double load) const {
    for (auto one = std::make_reverse_iterator(loads_.lower_bound(load)); one != loads_.rend();
         ++one) {
        if (one->second[goal].back() == load_class::lower && holds_throughout(goal, one->first))
            return one->first;
    }
    return std::nullopt;
}

judgement measurements::together(std::size_t goal, double load) const {
    std::vector<const trial_output*> all;
    for (const search_trial* one : at(load))
        all.push_back(&one->seen);
    return judge(goals_[goal], goal, all);
}

double measurements::conditional_throughput(std::size_t goal, double load) const {
    const target& aim = targets_[goal].back();
    std::vector<full_length_trial> full;
    for (const search_trial* one : at(load)) {
        if (is_full_length(*one, aim.trial_s_at(load)))
            full.push_back({one->judgements[goal].loss_ratio, one->seen.duration_s});
    }
    return capacity::conditional_throughput(load, std::move(full), aim.duration_sum_s_at(load),
                                            aim.exceed_ratio);
}

}  // namespace postal::capacity
