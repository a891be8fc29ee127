// SPDX-License-Identifier: GPL-3.0-or-later
#include "stats/generator_reason.hpp"

#include "base/units.hpp"

#include <fmt/format.h>

namespace postal::stats {
namespace {

using std::chrono::nanoseconds;

std::string_view name_of(run_thread which) {
    return which == run_thread::worker ? "a worker"
           : which == run_thread::main ? "the main thread"
                                       : "the ledger's writer";
}

thread_share share_of(const generator_load& span, run_thread which) {
    const thread_share worker{span.worker_busy.value_or(0), span.run_delay.value_or(0)};
    if (which == run_thread::worker) return span.worker.value_or(worker);
    return (which == run_thread::main ? span.main : span.ledger).value_or(thread_share{});
}

// "a worker hardly slept: it ran 60 % of the time, waited 1 % for a processor and had 38 % stolen"
std::string full_text(const generator_load& span, run_thread which) {
    const thread_share one = share_of(span, which);
    const double stolen = stolen_from(one, span);
    std::string text =
        fmt::format("{} hardly slept: it ran {:.0f} % of the time", name_of(which), one.busy * 100);
    text += fmt::format("{} waited {:.0f} % for a processor", stolen < 0.01 ? " and" : ",",
                        one.waited * 100);
    if (stolen >= 0.01) text += fmt::format(" and had {:.0f} % stolen", stolen * 100);
    return text;
}

// "a worker was 98 % busy and the schedule was 20.0 ms late at the 99th percentile"
std::string symptoms(const generator_load& span, const generator_finding& found) {
    std::string text;
    const auto add = [&](bool seen, const std::string& symptom) {
        if (seen) text += (text.empty() ? "" : " and ") + symptom;
    };
    const thread_share one = share_of(span, found.thread);
    const bool full = occupied(one, span) > busy_limit;
    const bool itself =
        found.verdict == generator_verdict::limit || found.cause == generator_cause::steal;
    const double busy = found.thread == run_thread::worker ? span.worker_busy.value_or(0)
                                                           : share_of(span, found.thread).busy;
    add(busy > busy_limit, fmt::format("{} was {:.0f} % busy", name_of(found.thread), busy * 100));
    add(busy <= busy_limit && full && (itself || found.thread != run_thread::worker),
        full_text(span, found.thread));
    add(waited(span) && (!full || !itself) && found.thread == run_thread::worker,
        fmt::format("a worker waited {:.0f} % of the time for a processor and ran {:.0f} %",
                    span.run_delay.value_or(0) * 100, span.worker_busy.value_or(0) * 100));
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

std::string when(const generator_load& span) {
    return fmt::format(" from {:.0f} s to {:.0f} s", span.start_s, span.end_s);
}

std::string conclusion(const generator_load& span, const generator_finding& found,
                       std::string_view program) {
    if (found.verdict == generator_verdict::limit)
        return found.thread == run_thread::ledger
                   ? fmt::format(": the ledger of {} was the limit", program)
                   : fmt::format(": {} itself was the limit", program);
    if (found.cause == generator_cause::steal)
        return ": the hypervisor gave the processors to others, and the figures are about that";
    return few_idle(span) ? ": the machine was shared and full, and the figures are about it"
                          : ": it had to share its processor, and the figures are about that";
}

}  // namespace

std::string reason_of(const generator_load& span, const generator_finding& found,
                      std::string_view program) {
    if (found.verdict == generator_verdict::none) return {};
    if (found.cause == generator_cause::stopped)
        return fmt::format(
            "{} was stopped for {:.1f} s{}: it neither ran nor waited for a "
            "processor, and the figures are about that, too",
            program, span.stopped_s.value_or(0), when(span));
    const std::string seen = symptoms(span, found);
    if (found.cause == generator_cause::quota)
        return fmt::format(
            "{}its cgroup had used up its CPU quota for {:.0f} % of the time{}: {} "
            "was held back by its CPU quota (cgroup), and the figures are about that",
            seen.empty() ? "" : seen + " and ", span.throttled.value_or(0) * 100, when(span),
            program);
    return seen + when(span) + machine_text(span) + conclusion(span, found, program);
}

}  // namespace postal::stats
