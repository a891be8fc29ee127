#include "stats/generator.hpp"

#include "base/units.hpp"
#include "stats/ranking.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace postal::stats {
namespace {

using std::chrono::nanoseconds;

constexpr std::array<std::string_view, 3> verdict_names{"none", "limit", "machine_full"};

constexpr double busy_limit = 0.9;
constexpr std::chrono::milliseconds late_limit{10};
constexpr double waited_limit = 0.1;         // on a machine that is full
constexpr double waited_anyhow_limit = 0.3;  // whatever the machine seems to have been
constexpr double noticed_limit = 0.01;       // for a worker that has little to do
constexpr double idle_limit = 0.2;
constexpr double steal_limit = 0.1;

// The two clocks are not read at the same instant: a short span can seem more than full.
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

bool few_idle(const generator_load& span) {
    return (span.machine_idle && *span.machine_idle < idle_limit) ||
           span.machine_steal.value_or(0) > steal_limit;
}

// Of few messages one that was late is the percentile, which is no habit; the loop tells then.
bool schedule_late(const generator_load& span) {
    return span.slip_p99 && *span.slip_p99 > late_limit &&
           support_of(0.99, span.slips) == support::enough;
}

bool loop_late(const generator_load& span) {
    return span.loop_late_p99 && *span.loop_late_p99 > late_limit;
}

// Long, or longer than it ran, which says the same of a worker that has little to do.
bool waited(const generator_load& span) {
    const double share = span.run_delay.value_or(0);
    return share > waited_limit || (share > noticed_limit && share > span.worker_busy);
}

// "a worker was 98 % busy and the schedule was 20.0 ms late at the 99th percentile"
std::string symptoms(const generator_load& span) {
    std::string text;
    const auto add = [&](bool seen, const std::string& symptom) {
        if (seen) text += (text.empty() ? "" : " and ") + symptom;
    };
    add(span.worker_busy > busy_limit,
        fmt::format("a worker was {:.0f} % busy", span.worker_busy * 100));
    add(waited(span),
        fmt::format("a worker waited {:.0f} % of the time for a processor and ran {:.0f} %",
                    span.run_delay.value_or(0) * 100, span.worker_busy * 100));
    add(schedule_late(span),
        fmt::format("the schedule was {} late at the 99th percentile",
                    base::format_latency(span.slip_p99.value_or(nanoseconds{}))));
    add(loop_late(span),
        fmt::format("a worker's loop was {} late at the 99th percentile",
                    base::format_latency(span.loop_late_p99.value_or(nanoseconds{}))));
    return text;
}

// ", with 3 % of the processors idle and 12 % stolen"
std::string machine_text(const generator_load& span) {
    if (!span.machine_idle) return {};
    std::string text =
        fmt::format(", with {:.0f} % of the processors idle", *span.machine_idle * 100);
    if (span.machine_steal.value_or(0) >= 0.01)
        text += fmt::format(" and {:.0f} % stolen", *span.machine_steal * 100);
    return text;
}

std::string reason_of(const generator_load& span, generator_verdict verdict,
                      std::string_view program) {
    if (verdict == generator_verdict::none) return {};
    const std::string seen = fmt::format("{} from {:.0f} s to {:.0f} s{}", symptoms(span),
                                         span.start_s, span.end_s, machine_text(span));
    if (verdict == generator_verdict::limit)
        return fmt::format("{}: {} itself was the limit", seen, program);
    return seen + (few_idle(span)
                       ? ": the machine was shared and full, and the figures are about it"
                       : ": it had to share its processor, and the figures are about that");
}

// How bad a span is among those of its verdict.
double badness(const generator_load& span, generator_verdict verdict) {
    return verdict == generator_verdict::limit ? span.worker_busy : span.run_delay.value_or(0);
}

}  // namespace

void generator_load::measure(const std::vector<worker_time>& workers, const tally& counted,
                             const base::machine_time& machine) {
    for (const worker_time& one : workers) {
        worker_busy = std::max(worker_busy, share(count(one.busy), count(one.wall)));
        if (one.run_delay)
            widen(run_delay, std::optional(share(count(*one.run_delay), count(one.wall))));
    }
    slips = counted.slip.count();
    if (slips > 0) slip_p99 = counted.slip.quantile(0.99);
    const histogram& late = counted.loop_late;
    if (!late.empty()) loop_late_max = late.max();
    if (support_of(0.99, late.count()) != support::none) loop_late_p99 = late.quantile(0.99);
    if (machine.pressure_s && length_s() > 0) cpu_pressure = share(*machine.pressure_s, length_s());
    if (!(machine.all_s > 0)) return;
    machine_idle = share(machine.idle_s, machine.all_s);
    machine_steal = share(machine.stolen_s, machine.all_s);
}

std::string_view to_text(generator_verdict verdict) noexcept {
    return verdict_names[static_cast<std::size_t>(verdict)];
}

generator_verdict verdict_of(std::string_view text) noexcept {
    const auto found = std::find(verdict_names.begin(), verdict_names.end(), text);
    if (found == verdict_names.end()) return generator_verdict::none;
    return static_cast<generator_verdict>(found - verdict_names.begin());
}

int gravity(generator_verdict verdict) noexcept {
    return verdict == generator_verdict::limit          ? 2
           : verdict == generator_verdict::machine_full ? 1
                                                        : 0;
}

generator_verdict judge(const generator_load& span) noexcept {
    if (!span.long_enough()) return generator_verdict::none;
    if (span.worker_busy > busy_limit) return generator_verdict::limit;
    const bool late = schedule_late(span) || loop_late(span);
    if (few_idle(span) && (waited(span) || late)) return generator_verdict::machine_full;
    if (span.run_delay.value_or(0) > waited_anyhow_limit) return generator_verdict::machine_full;
    return late ? generator_verdict::limit : generator_verdict::none;
}

generator_summary judge_all(const std::vector<generator_load>& spans, std::string_view program) {
    generator_summary worst;
    const generator_load* because = nullptr;
    for (const generator_load& span : spans) {
        worst.worker_busy = std::max(worst.worker_busy, span.worker_busy);
        widen(worst.run_delay, span.run_delay);
        widen(worst.loop_late_p99, span.loop_late_p99);
        widen(worst.loop_late_max, span.loop_late_max);
        widen(worst.machine_steal, span.machine_steal);
        widen(worst.cpu_pressure, span.cpu_pressure);
        if (span.machine_idle)
            worst.machine_idle = std::min(worst.machine_idle.value_or(1), *span.machine_idle);
        worst.judged = worst.judged || span.long_enough();
        const generator_verdict verdict = judge(span);
        const bool graver = gravity(verdict) > gravity(worst.verdict);
        const bool worse = verdict == worst.verdict && because != nullptr &&
                           badness(span, verdict) > badness(*because, verdict);
        if (!graver && !worse) continue;
        worst.verdict = verdict;
        because = &span;
    }
    worst.limited = worst.verdict == generator_verdict::limit;
    if (because == nullptr) return worst;
    worst.start_s = because->start_s;
    worst.end_s = because->end_s;
    worst.reason = reason_of(*because, worst.verdict, program);
    return worst;
}

}  // namespace postal::stats
