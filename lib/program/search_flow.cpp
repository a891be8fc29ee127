// SPDX-License-Identifier: GPL-3.0-or-later
#include "program/search_flow.hpp"

#include "base/units.hpp"
#include "stats/ranking.hpp"

#include <algorithm>
#include <utility>

namespace postal::program {

using std::chrono::nanoseconds;

search_flow::search_flow(plan of)
    : of_(std::move(of)),
      schedule_(load::rate_curve::constant({}), of_.arrival, of_.seed),
      generator_(of_.phases) {}

load::trial search_flow::begin(const stats::trial_times& times, double messages,
                               std::chrono::steady_clock::time_point start) {
    times_ = times;
    due_.assign(times.batches + 2, 0);
    all_due_ = 0;
    generator_ = stats::time_slice(of_.phases);
    const load::trial asked{times, messages * of_.share, of_.promises};
    schedule_.extend(times.begin, times.end() - times.begin, asked.messages);
    for (nanoseconds due; (due = schedule_.due(next_number_, put_off)) < times.end();
         ++next_number_) {
        ++due_[times.stretch_of(due)];
        ++all_due_;
    }
    schedule_.forget_below(next_number_);
    seen_.begin(times, asked.promises, start);
    return asked;
}

void search_flow::note(const stats::time_slice& counted, nanoseconds until) {
    const bool is_there = counted.counts.connections > 0 || counted.counts.messages > 0;
    unreached_ = counted.counts.errors.classes().connect > 0 || (unreached_ && !is_there);
    // Of another trial than ours nothing is known here, whoever says so.
    if (counted.counts.trial.number() == times_.number) seen_.merge(counted.counts.trial);
    if (counted.start_s < base::seconds_of(times_.begin) || counted.end_s > base::seconds_of(until))
        return;
    if (generator_.end_s <= 0) generator_.start_s = counted.start_s;
    generator_.end_s = counted.end_s;
    generator_.add(counted);
    generator_.counts.merge(counted.counts);
}

load::trial search_flow::end() const {
    const double due = static_cast<double>(std::max<std::uint64_t>(1, all_due_));
    return {times_, due, of_.promises, true};
}

std::uint64_t search_flow::left() const {
    std::uint64_t finished = 0;
    for (const stats::trial_stretch& one : seen_.stretches())
        finished += one.finished;
    return all_due_ - std::min(all_due_, finished);
}

capacity::trial_flow search_flow::part(
    std::vector<capacity::goal_losses>& goals, std::size_t first_goal,
    const std::function<std::uint64_t(std::size_t)>& queued) const {
    const std::vector<stats::trial_stretch>& seen = seen_.stretches();
    capacity::trial_flow made;
    std::uint64_t due = due_[0], ended = seen[0].ended;
    made.backlog_start = due - std::min(due, ended) + queued(0);
    for (std::size_t i = 1; i <= times_.batches; ++i) {
        due += due_[i];
        ended += seen[i].ended;
        capacity::trial_batch batch{
            .due = due_[i], .backlog = 0, .lost = {}, .near = {}, .queued = queued(i)};
        batch.backlog = due - std::min(due, ended) + batch.queued;
        batch.lost.resize(goals.size());
        batch.near.resize(goals.size());
        made.intended += batch.due;
        const std::uint64_t open = batch.due - std::min(batch.due, seen[i].finished);
        for (std::size_t j = 0; j < of_.promises.size(); ++j) {
            const stats::promise_losses& lost = seen[i].lost[j];
            const std::uint64_t all = lost.late + lost.errors + lost.not_started + open;
            batch.lost[first_goal + j] = all;
            batch.near[first_goal + j] = lost.near;
            capacity::goal_losses& sum = goals[first_goal + j];
            sum.late += lost.late;
            sum.errors += lost.errors;
            sum.not_started += lost.not_started;
            sum.not_finished += open;
            sum.on_time += batch.due - std::min(batch.due, all);
        }
        made.batches.push_back(std::move(batch));
    }
    const stats::histogram& took = generator_.counts.latency[of_.due_phase];
    made.p50 = stats::known_quantile(took, 0.5);
    made.p99 = stats::known_quantile(took, 0.99);
    const stats::generator_load did = span();
    if (did.may_be_judged()) made.generator_busy = did.worker_busy;
    return made;
}

stats::generator_load search_flow::span() const {
    stats::generator_load made;
    made.start_s = generator_.start_s;
    made.end_s = generator_.end_s;
    made.measure(generator_, generator_.counts);
    return made;
}

stats::generator_verdict search_flow::verdict() const {
    const stats::generator_load did = span();
    return did.may_be_judged() ? stats::judge(did) : stats::generator_verdict::none;
}

bool search_flow::failed_to_connect() const {
    return unreached_ || generator_.counts.errors.classes().connect > 0;
}

void search_flow::note_missed(const capacity::trial_flow& seen) {
    if (failed_to_connect()) return;  // and what was due waited for that
    for (const capacity::trial_batch& batch : seen.batches)
        all_were_busy_ =
            all_were_busy_ || batch.backlog - batch.queued > of_.sessions * of_.at_once;
}

}  // namespace postal::program
