#include "program/rate_search.hpp"

#include "base/digits.hpp"
#include "base/units.hpp"
#include "stats/generator.hpp"
#include "stats/ranking.hpp"

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
constexpr nanoseconds lead_of(unsigned ranks) {
    return std::chrono::milliseconds(ranks > 1 ? 200 : 20);
}

nanoseconds time_of(double seconds) {
    return nanoseconds(std::llround(seconds * 1e9));
}

capacity::search_input input_of(const rate_search::plan& of) {
    capacity::search_input made;
    made.goals = of.goals.goals;
    made.seed = of.seed;
    made.most_s = base::seconds_of(longest_search(of.chosen));
    if (of.chosen.most) made.loads.max = of.chosen.most->per_second;
    if (of.chosen.start) made.loads.start = of.chosen.start->per_second;
    made.loads.start = std::min(made.loads.start, made.loads.max);
    made.loads.min = std::min(made.loads.min, made.loads.start);
    return made;
}

}  // namespace

rate_search::rate_search(plan of)
    : of_(std::move(of)),
      search_(input_of(of_)),
      schedule_(load::rate_curve::constant({}), of_.arrival, of_.seed) {}

void rate_search::attach(const load::worker_pool& workers, hooks what) {
    workers_ = &workers;
    hooks_ = std::move(what);
}

nanoseconds rate_search::since_start() const {
    return std::chrono::steady_clock::now() - workers_->times().start;
}

nanoseconds rate_search::to_go() const {
    return time_of(search_.progress().to_go_s);
}

std::optional<stats::live_trial> rate_search::current() const {
    if (!now_ || over_) return std::nullopt;
    return stats::live_trial{now_->asked.times.number, search_.next()->load, search_.because()};
}

void rate_search::look() {
    if (over_ || workers_->stopping()) return;
    const nanoseconds now = since_start();
    if (now.count() < 0) return;
    note_queue();
    if (now_) {
        const nanoseconds end = now_->asked.times.end();
        if (now < end) return;
        if (!now_->all_ended && ended() >= now_->all_due) now_->all_ended = now;
        if (!is_over() && now < end + time_of(search_.next()->drain_s)) return;
        conclude(now);
    } else if (!may_begin(now)) {
        return;
    }
    if (search_.next()) return begin(*search_.next(), now);
    over_ = true;
    hooks_.end();
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
           queue_.has_fallen(*now_->all_ended, tolerated_queue(now_->all_due));
}

// As many messages as the load says, in whole numbers, and the time that they take.
void rate_search::begin(const capacity::trial_input& next, nanoseconds now) {
    const double settling = std::max(1.0, std::round(next.load * next.settle_s));
    const double measured = std::max(1.0, std::round(next.load * next.duration_s));
    now_.emplace(
        trial{.asked = {}, .due = {}, .seen = {}, .generator = stats::time_slice(of_.phases)});
    load::trial& asked = now_->asked;
    stats::trial_times& times = asked.times;
    times.number = search_.trials().size() + 1;
    times.begin = now + lead_of(of_.ranks);
    times.measured = times.begin + time_of(settling / next.load);
    times.batches = next.batches;
    times.batch = time_of(measured / next.load / static_cast<double>(next.batches));
    asked.messages = settling + measured;
    asked.promises = of_.goals.promises;
    now_->began_with_backlog = backlog_left_;
    now_->due.assign(times.batches + 2, 0);
    schedule_.extend(times.begin, times.end() - times.begin, asked.messages);
    for (nanoseconds due; (due = schedule_.due(next_number_, put_off)) < times.end();
         ++next_number_) {
        ++now_->due[times.stretch_of(due)];
        ++now_->all_due;
    }
    schedule_.forget_below(next_number_);
    queue_.forget_before(times.begin);
    now_->seen.begin(times, asked.promises, workers_->times().start);
    hooks_.begin_trial(asked);
}

std::uint64_t rate_search::ended() const {
    std::uint64_t sum = 0;
    for (const stats::trial_stretch& one : now_->seen.stretches())
        sum += one.finished;
    return sum;
}

void rate_search::note(const stats::time_slice& counted) {
    if (!now_) return;
    now_->seen.merge(counted.counts.trial);
    const stats::trial_times& times = now_->asked.times;
    if (counted.start_s < base::seconds_of(times.begin) ||
        counted.end_s > base::seconds_of(times.end() + slice))
        return;
    stats::time_slice& all = now_->generator;
    if (all.end_s <= 0) all.start_s = counted.start_s;
    all.end_s = counted.end_s;
    all.add(counted);
    all.counts.merge(counted.counts);
}

capacity::trial_output rate_search::output(nanoseconds now) const {
    const stats::trial_times& times = now_->asked.times;
    const std::vector<stats::trial_stretch>& seen = now_->seen.stretches();
    capacity::trial_output made;
    made.duration_s = base::seconds_of(times.end() - times.measured);
    made.took_s = base::seconds_of(now - times.begin + lead_of(of_.ranks));
    made.began_with_backlog = now_->began_with_backlog;
    made.queue_counted = queue_.is_known();
    const auto queued_at = [&](std::size_t batch) {
        return static_cast<std::uint64_t>(
            std::llround(queue_.above(times.measured + times.batch * batch)));
    };
    made.goals.resize(of_.goals.goals.size());
    std::uint64_t due = now_->due[0], ended = seen[0].ended;
    made.backlog_start = due - std::min(due, ended) + queued_at(0);
    for (std::size_t i = 1; i <= times.batches; ++i) {
        due += now_->due[i];
        ended += seen[i].ended;
        const std::uint64_t queued = queued_at(i);
        capacity::trial_batch batch{.due = now_->due[i],
                                    .backlog = due - std::min(due, ended) + queued,
                                    .lost = {},
                                    .near = {},
                                    .queued = queued};
        made.intended += batch.due;
        const std::uint64_t open = batch.due - std::min(batch.due, seen[i].finished);
        for (std::size_t goal = 0; goal < made.goals.size(); ++goal) {
            const stats::promise_losses& lost = seen[i].lost[goal];
            const std::uint64_t all = lost.late + lost.errors + lost.not_started + open;
            batch.lost.push_back(all);
            batch.near.push_back(lost.near);
            capacity::goal_losses& sum = made.goals[goal];
            sum.late += lost.late;
            sum.errors += lost.errors;
            sum.not_started += lost.not_started + open;
            sum.on_time += batch.due - std::min(batch.due, all);
        }
        made.batches.push_back(std::move(batch));
    }
    return made;
}

// Who kept all that was promised was fast enough, whatever stood in the way.
capacity::trial_validity rate_search::validity(const capacity::trial_output& seen,
                                               const stats::generator_load& span) const {
    using enum capacity::trial_validity;
    bool kept = true;
    for (std::size_t i = 0; i < seen.goals.size(); ++i) {
        const auto lost = static_cast<double>(seen.goals[i].lost());
        kept = kept && lost <= of_.goals.goals[i].loss_ratio * static_cast<double>(seen.intended);
    }
    if (kept) return valid;
    if (!span.may_be_judged()) return valid;
    switch (stats::judge(span)) {
        case stats::generator_verdict::limit:
            return generator_limited;
        case stats::generator_verdict::machine_full:
        case stats::generator_verdict::held_back:
            return machine_full;
        case stats::generator_verdict::none:
            break;
    }
    return valid;
}

void rate_search::conclude(nanoseconds now) {
    capacity::trial_output seen = output(now);
    const stats::histogram& took = now_->generator.counts.latency[of_.due_phase];
    seen.p50 = stats::known_quantile(took, 0.5);
    seen.p99 = stats::known_quantile(took, 0.99);
    stats::generator_load span;
    span.start_s = now_->generator.start_s;
    span.end_s = now_->generator.end_s;
    span.measure(now_->generator, now_->generator.counts);
    if (span.may_be_judged()) seen.generator_busy = span.worker_busy;
    seen.validity = validity(seen, span);
    backlog_left_ = !is_over();
    now_.reset();
    search_.add(std::move(seen));
    tell(search_.trials().back());
}

void rate_search::tell(const capacity::search_trial& done) {
    const capacity::recorded_trial seen = capacity::recorded(done);
    std::string line =
        fmt::format("trial {}: {}/s for {} s: ", search_.trials().size(),
                    base::format_measured(done.asked.load), base::format_measured(seen.duration_s));
    const capacity::recorded_judgement* const by = capacity::decisive(seen);
    if (by == nullptr) return hooks_.say(line + verdict_text(seen));
    const auto which = static_cast<std::size_t>(by - seen.goals.data());
    if (seen.goals.size() > 1) line += search_.goals()[which].promise + " ";
    line += verdict_text(seen);
    if (by->said.shown == capacity::loss_class::low)
        return hooks_.say(
            fmt::format("{}, {} % lost", line, base::format_measured(by->said.loss_ratio * 100)));
    hooks_.say(line + ": " + capacity::reason_text(by->said, of_.unit));
    if (by->said.shown != capacity::loss_class::high) return;
    for (const capacity::trial_batch& batch : done.seen.batches)
        all_were_busy_ =
            all_were_busy_ || batch.backlog - batch.queued > of_.sessions * of_.at_once;
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
    made.unit = fmt::format("{}/min", of_.unit);
    if (const auto& lower = search_.result().limit().lower; lower && found())
        made.value = *lower * 60;
    made.passed = made.value && *made.value >= wanted;
    return made;
}

capacity::search_record rate_search::record() {
    if (search_.next()) search_.interrupt();
    capacity::search_record made = capacity::record_of(search_, of_.unit);
    made.sessions_busy = all_were_busy_ ? std::optional(of_.sessions) : std::nullopt;
    return made;
}

}  // namespace postal::program
