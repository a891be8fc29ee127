// SPDX-License-Identifier: GPL-3.0-or-later
#include "stats/capacity/search.hpp"

#include "base/digits.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace postal::capacity {
namespace {

constexpr int most_invalid = 2;  // in a row
constexpr int most_irregular = 3;
constexpr int most_silent = 2;
constexpr std::size_t batches = 40;
constexpr double least_drain_s = 2;
constexpr double most_rest = 0.25;  // of the time that is left
// Of what fails a goal of one program, so much is tried for those of another: enough to see which
// of them is met first, and no load that keeps the server busy long after its trial.
constexpr double beyond_others = 1.25;

// A quarter of the trial, but no less than a second and no more than five.
double settle_s(double duration_s) {
    return std::clamp(duration_s / 4, 1.0, 5.0);
}

// Doomed first, then by the lower bound.
bool is_lower(const goal_result& a, const goal_result& b) {
    if (a.lower.has_value() != b.lower.has_value()) return !a.lower;
    return a.rate < b.rate;
}

search_end end_of(goal_end end) {
    switch (end) {
        case goal_end::regular:
            return search_end::found;
        case goal_end::at_least:
            return search_end::at_least;
        case goal_end::doomed:
            return search_end::doomed;
        case goal_end::not_closer:
            return search_end::not_closer;
        case goal_end::unfinished:
            break;
    }
    return search_end::out_of_time;
}

// Well or not, of all that was due.
bool anything_ended(const trial_output& seen) {
    return std::any_of(seen.goals.begin(), seen.goals.end(), [](const goal_losses& one) {
        return one.on_time + one.late + one.errors > 0;
    });
}

search_end stopped_by(trial_validity why) {
    return why == trial_validity::machine_full ? search_end::machine_full
                                               : search_end::generator_limited;
}

// Trials that a target takes from these bounds, by bisection, and one for each of them.
double trials_to_go(const load_bounds& now, double width, double unknown) {
    if (!now.lower || !now.upper) return unknown;
    const double apart = std::log(*now.upper / *now.lower) / std::log1p(width);
    return apart <= 1 ? 0 : std::ceil(std::log2(apart));
}

}  // namespace

search::search(search_input input) : input_(std::move(input)), trials_(input_.goals) {
    for (std::size_t i = 0; i < input_.goals.size(); ++i)
        searches_.emplace_back(trials_, i);
    result_.goals.resize(input_.goals.size());
    advance();
}

// Coarse targets before fine ones, low loads before high ones.
void search::advance() {
    next_.reset();
    if (confirming_) {
        if (!ask_to_confirm()) conclude();
        return;
    }
    std::optional<nomination> best;
    std::size_t goal = 0;
    for (std::size_t i = 0; i < searches_.size(); ++i) {
        if (another_is_doomed(i)) continue;
        const auto wanted = searches_[i].nominate(limits_of(i));
        if (!wanted ||
            (best && std::pair(best->level, best->load) <= std::pair(wanted->level, wanted->load)))
            continue;
        best = wanted;
        goal = i;
    }
    if (!best) return finish({});
    const double duration_s = trials_.target_of(goal, best->level).trial_s_at(best->load);
    if (trials_.trials().size() >= input_.most_trials) return finish(search_end::out_of_trials);
    if (!ask(*best, goal, duration_s)) finish(search_end::out_of_time);
}

// Where another program's goals have failed, what this one's would do is of no use to anybody.
load_limits search::limits_of(std::size_t goal) const {
    load_limits made = input_.loads;
    for (std::size_t i = 0; i < searches_.size(); ++i) {
        if (goals()[i].flow == goals()[goal].flow) continue;
        if (const auto fails = lowest_failure(i))
            made.ceiling = std::min(made.ceiling, *fails * beyond_others);
    }
    return made;
}

// Of another program: then nothing is left to be found for this one.
bool search::another_is_doomed(std::size_t goal) const {
    for (std::size_t i = 0; i < searches_.size(); ++i)
        if (goals()[i].flow != goals()[goal].flow && searches_[i].ended() &&
            result_of(i, true).end == goal_end::doomed)
            return true;
    return false;
}

// By the finest target that knows one, unless a finer one has held there.
std::optional<double> search::lowest_failure(std::size_t goal) const {
    double held = 0;
    for (std::size_t level = searches_[goal].level() + 1; level-- > 0;) {
        const load_bounds now = trials_.bounds(goal, level);
        if (now.upper && *now.upper > held) return now.upper;
        held = std::max(held, now.lower.value_or(0));
    }
    return std::nullopt;
}

bool search::ask(const nomination& which, std::size_t goal, double duration_s) {
    const double settle = settle_s(duration_s);
    if (used_s_ + settle + duration_s > input_.most_s) return false;
    next_ = {.load = which.load,
             .settle_s = settle,
             .duration_s = duration_s,
             .drain_s = settle + duration_s + least_drain_s,
             .rest_s = most_rest * (input_.most_s - used_s_ - settle - duration_s),
             .batches = batches,
             .step = which.step,
             .goal = goal};
    return true;
}

bool search::ask_to_confirm() {
    const confirmation_result* const due = confirming_->next();
    if (due == nullptr) return false;
    if (trials_.trials().size() < input_.most_trials &&
        ask({due->load, trial_step::confirm, 0}, result_.limiting, due->duration_s))
        return true;
    confirming_->leave_out_rest(untried::no_time);
    return false;
}

void search::add(trial_output seen) {
    const trial_input asked = *next_;
    const bool irregular = seen.began_with_backlog;
    const bool unreached = seen.failed_to_connect;
    const trial_validity validity = seen.validity;
    silent_ = anything_ended(seen) ? 0 : silent_ + 1;
    search_trial trial{asked, std::move(seen), used_s_, {}};
    used_s_ += std::max(trial.seen.took_s, asked.settle_s);
    trials_.add(std::move(trial));
    result_.trials = trials_.trials().size();
    result_.took_s = used_s_;

    invalid_ = validity == trial_validity::valid ? 0 : invalid_ + 1;
    irregular_ = irregular ? irregular_ + 1 : 0;
    // Where it was asked for far too much, what was not begun is gone, and leaves no backlog; so it
    // is where there is no server.
    if ((irregular || unreached) && silent_ >= most_silent)
        return finish(search_end::nothing_ended);
    if (irregular_ >= most_irregular) return finish(search_end::queue_stays);
    if (invalid_ >= most_invalid) return could_not(validity);
    if (confirming_ && trials_.trials().back().seen.counts())
        confirming_->add(trials_.trials().back().judgements[result_.limiting]);
    advance();
}

// The load of the last trial is out of reach.
void search::could_not(trial_validity why) {
    const double load = trials_.trials().back().asked.load;
    invalid_ = 0;
    if (confirming_) {
        confirming_->leave_out(why == trial_validity::machine_full ? untried::machine_full
                                                                   : untried::generator_limited);
        return advance();
    }
    input_.loads.ceiling = std::min(input_.loads.ceiling, load);
    result_.ceiling = input_.loads.ceiling;
    result_.ceiling_by = why;
    bool held_above = false;  // and what is found below would say nothing
    for (std::size_t i = 0; i < searches_.size(); ++i)
        held_above =
            held_above || trials_.bounds(i, searches_[i].level()).lower.value_or(0) >= load;
    if (load <= input_.loads.min || held_above) return finish(stopped_by(why));
    advance();
}

// No more is searched; what was found is confirmed where there is something to.
void search::finish(std::optional<search_end> early) {
    next_.reset();
    for (std::size_t i = 0; i < searches_.size(); ++i) {
        result_.goals[i] = result_of(i, !early);
        if (is_lower(result_.goals[i], result_.goals[result_.limiting])) result_.limiting = i;
    }
    const goal_result& limit = result_.limit();
    result_.end = early.value_or(end_of(limit.end));
    if (!early && limit.end == goal_end::unfinished && result_.ceiling)
        result_.end = stopped_by(result_.ceiling_by);
    if (confirming_) confirming_->leave_out_rest(untried::ended);
    if (early || !limit.lower || !input_.confirm) {
        if (confirming_) result_.confirmation = confirming_->results();
        return;
    }
    confirming_.emplace(trials_, result_.limiting, input_.loads, result_.ceiling_by, input_.seed);
    advance();
}

void search::conclude() {
    result_.confirmation = confirming_->results();
    result_.confirmed = true;
    for (const confirmation_result& one : result_.confirmation) {
        if (one.left_out || one.doubtful()) result_.confirmed = false;
        if (!one.contradicts()) continue;
        // Between bounds that are far apart 120 % may hold, and says nothing against either.
        const std::optional<double> upper = result_.limit().upper;
        if (one.what == confirmed_load::share_120 && upper && one.load < *upper) continue;
        result_.confirmed = false;
        if (one.what != confirmed_load::share_120)
            result_.end = search_end::unstable;
        else if (result_.end != search_end::unstable)
            result_.end = search_end::at_least;
    }
    weigh_confirmation();
}

// The trials that confirm a lower bound are evidence about it as much as those that found it, which
// may have been the lucky ones. Where all together do not show that it holds, the highest load
// below it for which that is so is the bound: at the least 80 % of it, where that held.
void search::weigh_confirmation() {
    const std::size_t goal = result_.limiting;
    goal_result& limit = result_.goals[goal];
    if (result_.end == search_end::unstable) return;
    load_bounds now = trials_.bounds(goal, targets_per_goal - 1);
    if (!now.lower || trials_.holds_throughout(goal, *now.lower)) return;
    now.lower = trials_.next_lower(goal, *now.lower);
    const confirmation_result& low = result_.confirmation.front();
    if (low.what == confirmed_load::share_80 && low.trials() > 0 && !low.left_out &&
        low.shown_held == low.trials() && low.load > now.lower.value_or(0))
        now.lower = low.load;
    if (!now.lower) {
        result_.confirmed = false;
        return;
    }
    limit.lower = now.lower;  // the best guess stays
    limit.conditional_throughput.reset();
    if (!limit.upper) return;
    limit.end = goal_end::not_closer;
    if (result_.end == search_end::found) result_.end = search_end::not_closer;
}

// The middle of the bounds as ratios; where loads between them are not decided, the one at which
// the line through their loss ratios crosses the goal's. Ratios are logarithms, cut at a tenth and
// at ten times the goal's: further away they say on which side a load is, and no more.
double search::rate_within(std::size_t goal, const load_bounds& of) const {
    if (!of.lower || !of.upper) return of.lower.value_or(0);
    const double middle = std::sqrt(*of.lower * *of.upper);
    const double allowed = goals()[goal].loss_ratio;
    if (of.exhausted.empty() || allowed <= 0) return middle;
    std::vector<double> loads = of.exhausted;
    loads.push_back(*of.lower);
    loads.push_back(*of.upper);
    double x_sum = 0, y_sum = 0, xy = 0, xx = 0;
    for (const double load : loads) {
        const double x = std::log(load / middle);
        const double ratio = trials_.together(goal, load).loss_ratio / allowed;
        const double y = std::log10(std::clamp(ratio, 0.1, 10.0));
        x_sum += x;
        y_sum += y;
        xy += x * y;
        xx += x * x;
    }
    const auto n = static_cast<double>(loads.size());
    const double slope = (xy - x_sum * y_sum / n) / (xx - x_sum * x_sum / n);
    if (!(slope > 0)) return middle;
    return std::clamp(middle * std::exp((x_sum - y_sum / slope) / n), *of.lower, *of.upper);
}

goal_result search::result_of(std::size_t goal, bool finished) const {
    // Where the goal's own trials have shown nothing, the finest target that has bounds.
    std::size_t level = searches_[goal].level();
    load_bounds now = trials_.bounds(goal, level);
    while (level > 0 && !now.lower && !now.upper)
        now = trials_.bounds(goal, --level);
    const bool coarse = level + 1 < targets_per_goal && (now.lower || now.upper);
    goal_result made{.lower = now.lower, .upper = now.upper, .by_short_trials = coarse};
    made.rate = rate_within(goal, now);
    if (now.lower && !coarse)
        made.conditional_throughput = trials_.conditional_throughput(goal, *now.lower);
    if (now.upper) {
        const judgement there = trials_.together(goal, *now.upper);
        made.limited_by = there.reason;
        made.loss_ratio = there.loss_ratio;
    }
    // What never held, by trials of any length, is doomed.
    const bool never = !now.lower && now.upper && *now.upper <= input_.loads.min;
    if (!finished || (coarse && !never)) return made;
    const double width = goals()[goal].width;
    const bool close = now.lower && now.upper && *now.upper <= *now.lower * (1 + width) * 1.0001;
    if (close)
        made.end = goal_end::regular;
    else if (now.lower && !now.upper)
        made.end = now.exhausted.empty() ? goal_end::at_least : goal_end::not_closer;
    else if (now.lower)
        made.end = goal_end::not_closer;
    else if (never)
        made.end = goal_end::doomed;
    return made;
}

std::string search::because() const {
    if (!next_) return {};
    const std::string what = fmt::format("{}/s for {} s", base::format_measured(next_->load),
                                         base::format_measured(next_->duration_s));
    const auto near = [&](std::optional<double> load) {
        return load ? base::format_measured(*load) : std::string("?");
    };
    const load_bounds now = trials_.bounds(next_->goal, searches_[next_->goal].level());
    switch (next_->step) {
        case trial_step::start:
            return what + ": where it begins";
        case trial_step::extend_up:
            return what + ": no load is known that fails";
        case trial_step::extend_down:
            return what + ": no load is known that holds";
        case trial_step::refine:
            return what + ": again, and longer";
        case trial_step::bisect:
            return fmt::format("{}: between {} and {}", what, near(now.lower), near(now.upper));
        case trial_step::repeat:
            return what + ": not decided yet";
        case trial_step::confirm:
            return what + ": to confirm what was found";
    }
    return what;
}

search_progress search::progress(double elapsed_s) const {
    search_progress made{.trials = trials_.trials().size(),
                         .used_s = used_s_,
                         .confirming = confirming_.has_value()};
    const std::size_t focus = next_ ? next_->goal : result_.limiting;
    const load_bounds now = trials_.bounds(focus, searches_[focus].level());
    made.lower = now.lower;
    made.upper = now.upper;
    if (!next_) return made;
    constexpr double confirming_trials = 12;
    constexpr double unknown = 4;  // as many bisections, where there are no bounds yet
    double to_go_s = confirming_ ? confirming_->to_go_s() : 0;
    for (std::size_t i = 0; i < searches_.size() && !confirming_; ++i) {
        for (std::size_t level = searches_[i].level(); level < targets_per_goal; ++level) {
            const target& aim = trials_.target_of(i, level);
            const bool here = level == searches_[i].level();
            const double trials =
                here ? trials_to_go(trials_.bounds(i, level), aim.width, unknown) : 2;
            to_go_s += trials * (aim.final ? 2 : 1) * (aim.trial_s_at(next_->load) + 1);
        }
        if (i == focus && input_.confirm)
            to_go_s += confirming_trials * goals()[i].final_trial_s / 2;
    }
    const double this_s = next_->settle_s + next_->duration_s;
    const double most_s = std::max(this_s, input_.most_s - used_s_);  // but for rounding
    made.to_go_s = std::clamp(to_go_s * 1.2, this_s, most_s);
    made.to_go_s = std::max(made.to_go_s - elapsed_s, std::max(0.0, this_s - elapsed_s));
    return made;
}

}  // namespace postal::capacity
