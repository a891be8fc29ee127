// SPDX-License-Identifier: GPL-3.0-or-later
#include "program/rate_search.hpp"

#include "base/digits.hpp"
#include "base/units.hpp"
#include "stats/generator.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace postal::program {

namespace {

using std::chrono::nanoseconds;

// A queue is as it was where it holds no more than that above it: a message or two of others', or
// so much of what was due in the trial.
double tolerated_queue(std::uint64_t due) {
    return std::max(2.0, 0.001 * static_cast<double>(due));
}

// From when workers are told of a trial until it begins; the way to other processes takes longer.
constexpr nanoseconds lead_of(unsigned processes) {
    return std::chrono::milliseconds(processes > 1 ? 200 : 20);
}

// Of a trial that left more than was gone when nothing more of it was begun.
std::string left_text(const capacity::search_trial& done, bool is_gone) {
    const double behind_s = done.seen.took_s - done.asked.settle_s - done.asked.duration_s;
    if (is_gone && behind_s <= done.asked.drain_s + 1) return {};
    return fmt::format("; what it left {} {} s", is_gone ? "took" : "has not gone in",
                       base::format_measured(behind_s));
}

nanoseconds time_of(double seconds) {
    return nanoseconds(std::llround(seconds * 1e9));
}

capacity::search_input input_of(const rate_search::plan& of) {
    capacity::search_input made;
    made.goals = of.goals;
    made.seed = of.flows.front().seed;
    made.most_s = base::seconds_of(longest_search(of.chosen));
    if (of.chosen.most) made.loads.max = of.chosen.most->per_second;
    made.loads.start = search_start(of.chosen);
    made.loads.min = std::min(made.loads.min, made.loads.start);
    return made;
}

}  // namespace

rate_search::rate_search(plan of) : of_(std::move(of)), search_(input_of(of_)) {
    for (const search_flow::plan& one : of_.flows)
        flows_.emplace_back(one);
}

void rate_search::attach(const load::worker_pool& workers, hooks what) {
    workers_ = &workers;
    hooks_ = std::move(what);
}

nanoseconds rate_search::since_start() const {
    return std::chrono::steady_clock::now() - workers_->times().start;
}

nanoseconds rate_search::to_go() const {
    const double elapsed_s =
        now_ ? std::max(0.0, base::seconds_of(since_start() - now_->times.begin)) : 0;
    return time_of(search_.progress(elapsed_s).to_go_s);
}

std::optional<stats::live_trial> rate_search::current() const {
    if (!now_ || over_) return std::nullopt;
    return stats::live_trial{now_->times.number, search_.next()->load, search_.because()};
}

void rate_search::look() {
    if (over_ || workers_->stopping()) return;
    const nanoseconds now = since_start();
    if (now.count() < 0) return;
    note_queue();
    if (now_) {
        const nanoseconds end = now_->times.end();
        if (now < end) return;
        if (!now_->all_ended && all_ended()) now_->all_ended = now;
        if (!is_over() && may_drain(now)) return;
        conclude(now);
    } else if (!may_begin(now)) {
        return;
    }
    if (search_.next()) return begin(*search_.next(), now);
    over_ = true;
    hooks_.end(load::run_ending::complete);
}

void rate_search::note_queue() {
    if (!hooks_.queued) return;
    if (const auto level = hooks_.queued())
        queue_.note(level->counted - workers_->times().start, level->messages);
}

// A queue that is to be counted, and cannot be, holds up no search.
bool rate_search::may_begin(nanoseconds now) const {
    return !hooks_.queued || queue_.is_known() || now > sampling::sampler::longest;
}

bool rate_search::is_over() const {
    if (!now_->all_ended) return false;
    return !queue_.is_known() ||
           queue_.has_fallen(*now_->all_ended, tolerated_queue(flows_.front().due()));
}

// Under way, not begun, or in the server's queue.
double rate_search::left() const {
    double sum = queue_.is_known() ? queue_.above(nanoseconds::max()) : 0;
    for (const search_flow& one : flows_)
        sum += static_cast<double>(one.left());
    return sum;
}

// A trial far beyond what the server can do leaves more than it gets rid of in that time. What has
// not begun is lost by then, and would keep the next trials from counting; what has is waited for
// without any load, unless none of it ends.
bool rate_search::may_drain(nanoseconds now) {
    const capacity::trial_input& asked = *search_.next();
    const nanoseconds drained = now_->times.end() + time_of(asked.drain_s);
    if (now < drained) return true;
    if (!now_->least_left) {
        for (std::size_t i = 0; i < flows_.size(); ++i)
            if (flows_[i].left() > 0) hooks_.tell(i, flows_[i].end());
    }
    if (const double now_left = left(); !now_->least_left || now_left < *now_->least_left) {
        now_->least_left = now_left;
        now_->least_since = now;
    }
    // A queue that takes long to count may fall, and nobody knows yet.
    const nanoseconds known = queue_.is_known() ? queue_.newest() : now;
    return now < drained + time_of(asked.rest_s) &&
           known < now_->least_since + time_of(asked.patience_s);
}

// As many messages as the load says, in whole numbers, and the time that they take.
void rate_search::begin(const capacity::trial_input& next, nanoseconds now) {
    const double settling = std::max(1.0, std::round(next.load * next.settle_s));
    const double measured = std::max(1.0, std::round(next.load * next.duration_s));
    stats::trial_times times;
    times.number = search_.trials().size() + 1;
    times.begin = now + lead_of(of_.processes);
    times.measured = times.begin + time_of(settling / next.load);
    times.batches = next.batches;
    times.batch = time_of(measured / next.load / static_cast<double>(next.batches));
    now_.emplace(trial{.times = times, .began_with_backlog = backlog_left_});
    queue_.forget_before(times.begin);
    for (std::size_t i = 0; i < flows_.size(); ++i)
        hooks_.tell(i, flows_[i].begin(times, settling + measured, workers_->times().start));
}

bool rate_search::all_ended() const {
    return std::all_of(flows_.begin(), flows_.end(),
                       [](const search_flow& one) { return one.all_ended(); });
}

void rate_search::note(const stats::time_slice& counted, std::size_t flow) {
    if (now_) flows_[flow].note(counted, now_->times.end() + slice);
}

capacity::trial_output rate_search::output(nanoseconds now) const {
    const stats::trial_times& times = now_->times;
    const auto queued_at = [&](std::size_t batch) {
        return static_cast<std::uint64_t>(
            std::llround(queue_.above(times.measured + times.batch * batch)));
    };
    const auto none = [](std::size_t) { return std::uint64_t{0}; };
    capacity::trial_output made;
    made.goals.resize(of_.goals.size());
    std::size_t first_goal = 0;
    for (const search_flow& one : flows_) {
        // What waits in a queue is what was sent there.
        if (first_goal == 0)
            static_cast<capacity::trial_flow&>(made) = one.part(made.goals, 0, queued_at);
        else
            made.beside.push_back(one.part(made.goals, first_goal, none));
        first_goal += one.of().promises.size();
    }
    made.duration_s = base::seconds_of(times.end() - times.measured);
    made.took_s = base::seconds_of(now - times.begin + lead_of(of_.processes));
    made.began_with_backlog = now_->began_with_backlog;
    made.queue_counted = queue_.is_known();
    made.failed_to_connect = flows_.front().failed_to_connect();
    return made;
}

// Who kept all that was promised was fast enough, whatever stood in the way. Otherwise one program
// that was held up is enough: its part of the load was not what was asked for.
capacity::trial_validity rate_search::validity(const capacity::trial_output& seen) const {
    using enum capacity::trial_validity;
    if (capacity::kept_all(of_.goals, seen)) return valid;
    auto worst = stats::generator_verdict::none;
    for (const search_flow& one : flows_)
        if (stats::gravity(one.verdict()) > stats::gravity(worst)) worst = one.verdict();
    if (worst == stats::generator_verdict::none) return valid;
    return worst == stats::generator_verdict::limit ? generator_limited : machine_full;
}

void rate_search::conclude(nanoseconds now) {
    capacity::trial_output seen = output(now);
    seen.validity = validity(seen);
    backlog_left_ = !is_over();
    now_.reset();
    search_.add(std::move(seen));
    tell(search_.trials().back());
}

void rate_search::partner_lost() {
    if (over_) return;
    over_ = true;
    now_.reset();
    search_.interrupt(capacity::search_end::partner_lost);
    hooks_.end(load::run_ending::failure);
}

capacity::partners rate_search::beside() const {
    capacity::partners made;
    for (std::size_t i = 1; i < flows_.size(); ++i) {
        const search_flow::plan& of = flows_[i].of();
        made.push_back({of.program, of.unit, of.share, flows_[i].sessions_busy()});
    }
    return made;
}

void rate_search::tell(const capacity::search_trial& done) {
    const capacity::recorded_trial seen = capacity::recorded(done);
    const capacity::partners others = beside();
    std::string line = fmt::format("trial {}: {}/s{} for {} s: ", search_.trials().size(),
                                   base::format_measured(done.asked.load),
                                   capacity::beside_text(done.asked.load, others),
                                   base::format_measured(seen.duration_s));
    const capacity::recorded_judgement* const by = capacity::decisive(seen);
    const std::string left = left_text(done, !backlog_left_);
    if (by == nullptr) return hooks_.say(line + verdict_text(seen) + left);
    const capacity::goal& of = search_.goals()[static_cast<std::size_t>(by - seen.goals.data())];
    if (seen.goals.size() > 1) line += capacity::promise_of(of, others) + " ";
    line += verdict_text(seen);
    if (by->said.shown == capacity::loss_class::low)
        return hooks_.say(fmt::format("{}, {} % lost{}", line,
                                      base::format_measured(by->said.loss_ratio * 100), left));
    hooks_.say(line + ": " + capacity::reason_text(by->said, unit_of(of, unit(), others)) + left);
    if (by->said.shown == capacity::loss_class::high)
        flows_[of.flow].note_missed(done.seen.flow(of.flow));
}

bool rate_search::found() const {
    const capacity::search_end end = search_.result().end;
    return end == capacity::search_end::found || end == capacity::search_end::not_closer ||
           end == capacity::search_end::at_least;
}

std::optional<stats::threshold_result> rate_search::verdict() const {
    if (!of_.chosen.at_least) return std::nullopt;
    const double wanted = of_.chosen.at_least->per_minute();
    stats::threshold_result made;
    made.expression = fmt::format("find-rate>={}/min", base::format_measured(wanted));
    made.unit = unit() + "/min";
    if (const auto& lower = search_.result().limit().lower; lower && found())
        made.value = *lower * 60;
    made.passed = made.value && *made.value >= wanted;
    return made;
}

capacity::search_record rate_search::record() {
    if (search_.next()) search_.interrupt();
    capacity::search_record made = capacity::record_of(search_, unit(), beside());
    made.sessions_busy = flows_.front().sessions_busy();
    made.alone = of_.alone;
    return made;
}

}  // namespace postal::program
