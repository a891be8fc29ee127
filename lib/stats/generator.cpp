// SPDX-License-Identifier: GPL-3.0-or-later
#include "stats/generator.hpp"

#include "base/units.hpp"
#include "stats/generator_reason.hpp"
#include "stats/ranking.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace postal::stats {
namespace {

using std::chrono::nanoseconds;

constexpr double waited_anyhow_limit = 0.3;  // whatever the machine seems to have been
constexpr double noticed_limit = 0.01;       // for a worker that has little to do
constexpr double idle_limit = 0.2;
constexpr double most_stolen =
    0.95;  // of the time that a thread would have run; beyond it is noise
constexpr double stopped_limit = 0.01;  // of the time, from where on what was late was late by that

// A thread's clocks are read one after the other: a short span can seem more than full.
double share(double part, double whole) {
    return whole > 0 ? std::clamp(part / whole, 0.0, 1.0) : 0;
}

double count(nanoseconds time) {
    return static_cast<double>(time.count());
}

template <class Value>
void widen(std::optional<Value>& highest, const std::optional<Value>& other) {
    if (other && (!highest || *other > *highest)) highest = other;
}

void widen(std::optional<thread_share>& highest, const std::optional<thread_share>& other) {
    if (!other) return;
    if (!highest) highest.emplace();
    highest->busy = std::max(highest->busy, other->busy);
    highest->waited = std::max(highest->waited, other->waited);
}

// Of few messages one that was late is the percentile, which is no habit; the loop tells then.
bool is_late(const generator_load& span) {
    return schedule_late(span) || loop_late(span);
}

double stopped_share(const generator_load& span) {
    return share(span.stopped_s.value_or(0), span.length_s());
}

thread_share worker_of(const generator_load& span) {
    return span.worker.value_or(
        thread_share{span.worker_busy.value_or(0), span.run_delay.value_or(0)});
}

struct candidate {
    run_thread which;
    thread_share spent;
};

// The thread that slept least.
candidate fullest(const generator_load& span) {
    candidate most{run_thread::worker, worker_of(span)};
    const auto consider = [&](run_thread which, const std::optional<thread_share>& one) {
        if (one && occupied(*one, span) > occupied(most.spent, span)) most = {which, *one};
    };
    consider(run_thread::ledger, span.ledger);
    consider(run_thread::main, span.main);
    return most;
}

// Who waited did so for its quota. Processors' times are added up, so that half is enough to tell.
bool held_by_quota(const generator_load& span, const thread_share& most) {
    const double held = span.throttled.value_or(0);
    if (!(held > waited_limit)) return false;
    if (!span.run_delay) return true;
    const double longest = std::max(*span.run_delay, most.waited);
    const bool seen = waited(span) || is_late(span) || occupied(most, span) > busy_limit;
    return seen && held >= longest / 2;
}

// Of a thread that hardly slept. More workers help where processors are idle.
generator_finding of_full(const generator_load& span, const candidate& most) {
    using enum generator_verdict;
    const double stolen = stolen_from(most.spent, span);
    const bool little = most.spent.waited + stolen <= waited_limit;
    const bool help = !few_idle(span) && most.spent.waited <= waited_anyhow_limit;
    if (most.spent.busy > busy_limit || little || help)
        return {limit, generator_cause::generator, most.which};
    const bool hypervisor = stolen > most.spent.waited;
    return {machine_full, hypervisor ? generator_cause::steal : generator_cause::machine,
            most.which};
}

// How bad a span is among those of its verdict.
double badness(const generator_load& span, generator_verdict verdict) {
    if (verdict == generator_verdict::held_back)
        return std::max(span.throttled.value_or(0), stopped_share(span));
    if (verdict == generator_verdict::limit) return occupied(fullest(span).spent, span);
    return span.run_delay.value_or(0);
}

// Readings that lie closer together than that say nothing about a span: the thread came late to its
// end, and what it did is in the span before.
std::optional<thread_share> thread_share_of(const base::thread_time& time, double length_s) {
    const double wall_s = base::seconds_of(time.wall);
    if (!(wall_s > 0) || wall_s < std::min(0.999, length_s / 2)) return std::nullopt;
    return thread_share{share(count(time.busy), count(time.wall)),
                        share(count(time.run_delay.value_or(nanoseconds(0))), count(time.wall))};
}

bool any_traffic(const span_times& times, const tally& counted) {
    return counted.started > 0 || counted.messages > 0 || counted.connections > 0 ||
           std::any_of(times.workers.begin(), times.workers.end(),
                       [](const worker_time& one) { return one.connected_s > 0; });
}

}  // namespace

void span_times::add(const span_times& later) {
    if (workers.size() < later.workers.size()) workers.resize(later.workers.size());
    for (std::size_t i = 0; i < later.workers.size(); ++i)
        workers[i].add_time(later.workers[i]);
    main.add_time(later.main);
    ledger.add_time(later.ledger);
    machine.all_s += later.machine.all_s;
    machine.idle_s += later.machine.idle_s;
    machine.stolen_s += later.machine.stolen_s;
    const auto sum = [](std::optional<double>& to, const std::optional<double>& added) {
        if (added) to = to.value_or(0) + *added;
    };
    sum(machine.pressure_s, later.machine.pressure_s);
    sum(machine.throttled_s, later.machine.throttled_s);
    stopped_s += later.stopped_s;
}

void generator_load::measure(const span_times& times, const tally& counted) {
    const base::machine_time& all = times.machine;
    if (all.all_s > 0) {
        machine_idle = share(all.idle_s, all.all_s);
        machine_steal = share(all.stolen_s, all.all_s);
    }
    if (all.pressure_s && length_s() > 0) cpu_pressure = share(*all.pressure_s, length_s());
    if (all.throttled_s && length_s() > 0) throttled = share(*all.throttled_s, length_s());
    worker_busy = 0;
    for (const worker_time& one : times.workers) {
        const auto spent = thread_share_of(one, length_s());
        if (!spent) continue;
        widen(worker_busy, std::optional(spent->busy));
        if (one.run_delay) widen(run_delay, std::optional(spent->waited));
        if (!worker || occupied(*spent, *this) > occupied(*worker, *this)) worker = spent;
    }
    main = thread_share_of(times.main, length_s());
    ledger = thread_share_of(times.ledger, length_s());
    stopped_s = times.stopped_s;
    traffic = any_traffic(times, counted);
    slips = counted.slip.count();
    if (slips > 0) slip_p99 = counted.slip.quantile(0.99);
    const histogram& late = counted.loop_late;
    if (!late.empty()) loop_late_max = late.max();
    if (support_of(0.99, late.count()) != support::none) loop_late_p99 = late.quantile(0.99);
}

// The hypervisor takes from who runs, as much from one as from another: so a thread's share of it
// is to its own CPU time as all that was stolen is to all that was run.
double stolen_from(const thread_share& one, const generator_load& span) noexcept {
    const double stolen = span.machine_steal.value_or(0);
    const double wanted = 1 - span.machine_idle.value_or(0);  // by anybody
    if (!(stolen >= noticed_limit) || !(wanted > 0)) return 0;
    const double taken = std::min(stolen / wanted, most_stolen);
    return std::min(one.busy * taken / (1 - taken), std::max(0.0, 1 - one.busy - one.waited));
}

double occupied(const thread_share& one, const generator_load& span) noexcept {
    return one.busy + one.waited + stolen_from(one, span);
}

bool few_idle(const generator_load& span) noexcept {
    return (span.machine_idle && *span.machine_idle < idle_limit) ||
           span.machine_steal.value_or(0) > steal_limit;
}

bool schedule_late(const generator_load& span) noexcept {
    return span.slip_p99 && *span.slip_p99 > late_limit &&
           support_of(0.99, span.slips) == support::enough;
}

bool loop_late(const generator_load& span) noexcept {
    return span.loop_late_p99 && *span.loop_late_p99 > late_limit;
}

// Long, or longer than it ran, which says the same of a worker that has little to do.
bool waited(const generator_load& span) noexcept {
    const double share = span.run_delay.value_or(0);
    return share > waited_limit || (share > noticed_limit && share > span.worker_busy.value_or(0));
}

int gravity(generator_verdict verdict) noexcept {
    return verdict == generator_verdict::limit ? 2 : verdict == generator_verdict::none ? 0 : 1;
}

generator_finding find_limit(const generator_load& span) noexcept {
    using enum generator_verdict;
    using cause = generator_cause;
    if (!span.may_be_judged()) return {};
    const candidate most = fullest(span);
    if (worker_of(span).busy > busy_limit || span.worker_busy.value_or(0) > busy_limit)
        return {limit, cause::generator, run_thread::worker};
    const bool full = occupied(most.spent, span) > busy_limit;
    if (full && most.spent.busy > busy_limit) return of_full(span, most);
    if (held_by_quota(span, most.spent)) return {held_back, cause::quota, most.which};
    // What comes late after a stop says nothing else.
    const bool stopped = stopped_share(span) >= stopped_limit;
    const bool late = is_late(span) && !stopped;
    if (span.run_delay.value_or(0) > waited_anyhow_limit)
        return {machine_full, cause::machine, run_thread::worker};
    if (full) return of_full(span, most);
    if (few_idle(span) && (waited(span) || late)) {
        const bool hypervisor = span.machine_steal.value_or(0) > steal_limit &&
                                span.machine_idle.value_or(0) >= idle_limit;
        return {machine_full, hypervisor ? cause::steal : cause::machine, run_thread::worker};
    }
    if (late) return {limit, cause::generator, run_thread::worker};
    if (stopped) return {held_back, cause::stopped, run_thread::worker};
    return {};
}

generator_summary judge_all(const std::vector<generator_load>& spans, std::string_view program) {
    generator_summary worst;
    const generator_load* because = nullptr;
    generator_finding found;
    worst.traffic = false;
    for (const generator_load& span : spans) {
        widen(worst.worker_busy, span.worker_busy);
        widen(worst.run_delay, span.run_delay);
        widen(worst.main, span.main);
        widen(worst.ledger, span.ledger);
        widen(worst.loop_late_p99, span.loop_late_p99);
        widen(worst.loop_late_max, span.loop_late_max);
        widen(worst.machine_steal, span.machine_steal);
        widen(worst.cpu_pressure, span.cpu_pressure);
        widen(worst.throttled, span.throttled);
        widen(worst.stopped_s, span.stopped_s);
        worst.traffic = worst.traffic || span.traffic;
        if (span.machine_idle)
            worst.machine_idle = std::min(worst.machine_idle.value_or(1), *span.machine_idle);
        worst.judged = worst.judged || span.may_be_judged();
        const generator_finding now = find_limit(span);
        const bool graver = gravity(now.verdict) > gravity(found.verdict);
        const bool worse = now.verdict == found.verdict && because != nullptr &&
                           badness(span, now.verdict) > badness(*because, now.verdict);
        if (!graver && !worse) continue;
        found = now;
        because = &span;
    }
    worst.verdict = found.verdict;
    worst.cause = found.cause;
    worst.limited = worst.verdict == generator_verdict::limit;
    if (because == nullptr) return worst;
    worst.start_s = because->start_s;
    worst.end_s = because->end_s;
    worst.reason = reason_of(*because, found, program);
    return worst;
}

}  // namespace postal::stats
