// SPDX-License-Identifier: GPL-3.0-or-later
#include "stats/capacity/confirmation.hpp"

#include "base/random.hpp"

#include <algorithm>

namespace postal::capacity {
namespace {

constexpr std::size_t rounds = 3;
constexpr double far_away = 1.1;  // from the bounds, as a ratio: no width explains it
constexpr double warm_up_s = 30;  // what fails while a server warms up may hold later
constexpr double growth_by_far = 0.1;

}  // namespace

confirmation::confirmation(const measurements& trials, std::size_t goal, const load_limits& limits,
                           trial_validity ceiling_by, std::uint64_t seed) {
    const load_bounds found = trials.bounds(goal, targets_per_goal - 1);
    const target& aim = trials.target_of(goal, targets_per_goal - 1);
    const double lower = *found.lower;
    const auto add_load = [&](confirmed_load what, double load, double least_s) {
        want(what, load, std::max(least_s, aim.messages / load));
    };
    // What holds for long holds for half as long. What fails need not: a server may put up with
    // too much for a while.
    const double half_s = aim.trial_s * confirmation_length;
    add_load(confirmed_load::share_80, std::max(limits.min, lower * 0.8), half_s);
    add_load(confirmed_load::share_100, lower, aim.trial_s);
    if (found.upper) add_load(confirmed_load::beyond, *found.upper * 1.05, aim.trial_s);
    add_load(confirmed_load::share_120, lower * 1.2, aim.trial_s);
    if (loads_.back().load > limits.max)
        loads_.back().why = untried::above_most;
    else if (loads_.back().load >= limits.ceiling)
        loads_.back().why = ceiling_by == trial_validity::machine_full ? untried::machine_full
                                                                       : untried::generator_limited;
    want_contradictions(trials, goal, found);

    base::random_source random(seed);
    for (std::size_t round = 0; round < rounds; ++round) {
        const auto first = static_cast<std::ptrdiff_t>(order_.size());
        for (std::size_t i = 0; i < loads_.size(); ++i)
            if (loads_[i].why == untried::no) order_.push_back(i);
        for (std::size_t left = order_.size() - static_cast<std::size_t>(first); left > 1; --left) {
            const auto at = static_cast<std::size_t>(first);
            std::swap(order_[at + left - 1], order_[at + random.below(left)]);
        }
    }
}

void confirmation::want(confirmed_load what, double load, double duration_s) {
    loads_.push_back({.what = what, .load = load, .duration_s = duration_s});
}

// The highest load that held, and the lowest that failed, far from what was found in the end.
void confirmation::want_contradictions(const measurements& trials, std::size_t goal,
                                       const load_bounds& of) {
    // The shortest trials may fail for a single pause.
    const double least_s = trials.target_of(goal, 1).trial_s;
    const search_trial* held = nullptr;
    const search_trial* failed = nullptr;
    for (const search_trial& one : trials.trials()) {
        if (!one.seen.counts()) continue;
        const judgement& said = one.judgements[goal];
        const double load = one.asked.load;
        if (said.shown == loss_class::low && of.upper && load > *of.upper * far_away &&
            (held == nullptr || load > held->asked.load))
            held = &one;
        if (said.shown == loss_class::high && load < *of.lower / far_away &&
            one.start_s >= warm_up_s && one.seen.duration_s >= 0.99 * least_s &&
            (failed == nullptr || load < failed->asked.load))
            failed = &one;
    }
    if (held != nullptr)
        want(confirmed_load::held_before, held->asked.load, held->asked.duration_s);
    if (failed != nullptr)
        want(confirmed_load::failed_before, failed->asked.load, failed->asked.duration_s);
}

const confirmation_result* confirmation::next() const {
    return order_.empty() ? nullptr : &loads_[order_.back()];
}

void confirmation::add(const judgement& said) {
    confirmation_result& now = loads_[order_.back()];
    order_.pop_back();
    (said.measured == loss_class::low ? now.held : now.failed) += 1;
    now.shown_held += said.shown == loss_class::low ? 1 : 0;
    now.shown_failed += said.shown == loss_class::high ? 1 : 0;
    now.far += said.shown == loss_class::high && said.growth > growth_by_far ? 1 : 0;
}

void confirmation::leave_out(untried why) {
    const std::size_t which = order_.back();
    loads_[which].left_out = true;
    loads_[which].why = why;
    std::erase(order_, which);
}

void confirmation::leave_out_rest(untried why) {
    while (!order_.empty())
        leave_out(why);
}

double confirmation::to_go_s() const {
    double sum = 0;
    for (const std::size_t which : order_)
        sum += loads_[which].duration_s;
    return sum;
}

}  // namespace postal::capacity
