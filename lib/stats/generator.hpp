// SPDX-License-Identifier: GPL-3.0-or-later
// Who was the limit: the judgement over what a run's own threads, and the machine under them, did
// with their time.
//
// CPU time alone does not tell: a worker that waits for a processor uses less of it. So each span
// of time also has how long threads were ready and not run (schedstat), how late the workers' loops
// and the schedule were, and what the machine's processors did. A thread that never sleeps runs,
// waits, or has its processor stolen: the three together are all of its time, and what is withheld
// of it says why. The worst span decides, since a mean over a ramp hides its end; spans of less
// than a second are too short to accuse anybody, and so are those without traffic. What is not
// known is an empty optional and accuses nobody. Pure; nothing here fails.
#pragma once

#include "base/host.hpp"
#include "stats/tally.hpp"

#include <array>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace postal::stats {

// What a run's threads, and the machine, did in a span of time.
struct span_times {
    std::vector<worker_time> workers;  // by worker, always the same order
    base::thread_time main;
    base::thread_time ledger;    // that writes one; no wall time: there is none
    base::machine_time machine;  // what its processors did meanwhile
    double stopped_s = 0;        // in which none of our threads ran or waited for a processor

    void add(const span_times& later);
};

enum class run_thread { worker, main, ledger };

// Shares of its time, from 0 to 1.
struct thread_share {
    double busy = 0;
    double waited = 0;  // for a processor
};

// One span of time, of an interval or of the run. Shares are from 0 to 1.
struct generator_load {
    double start_s = 0;
    double end_s = 0;
    std::optional<double> worker_busy;  // CPU time, of the busiest worker
    std::optional<double> run_delay;    // ready and not running, of the worker that waited longest
    // The worker that slept least, where that is known; otherwise it is taken to be both of these.
    std::optional<thread_share> worker;
    std::optional<thread_share> main;
    std::optional<thread_share> ledger;
    std::optional<std::chrono::nanoseconds> slip_p99;  // the latest, while there are few
    std::uint64_t slips = 0;
    std::optional<std::chrono::nanoseconds> loop_late_p99;  // from a hundred ticks on
    std::optional<std::chrono::nanoseconds> loop_late_max;
    std::optional<double> machine_idle;   // of the processors that the run may use
    std::optional<double> machine_steal;  // taken from them by the hypervisor
    std::optional<double> cpu_pressure;  // of the time, in which something waited for any processor
    std::optional<double> throttled;     // of the time, in which a cgroup's CPU quota was used up
    std::optional<double> stopped_s;
    bool traffic = true;  // a connection, or a message

    [[nodiscard]] double length_s() const noexcept { return end_s - start_s; }
    // Others accuse nobody.
    [[nodiscard]] bool long_enough() const noexcept { return length_s() >= 0.999; }
    [[nodiscard]] bool may_be_judged() const noexcept { return long_enough() && traffic; }
    // From what was done and counted in this span.
    void measure(const span_times& times, const tally& counted);
};

enum class generator_verdict : std::uint8_t {
    none,          // none of these was seen
    limit,         // a thread was full, or late while processors were idle
    machine_full,  // it had to wait for a processor: the figures are about the machine
    held_back,     // by its CPU quota, or by who stopped it: the figures are about that
};
constexpr auto words_of(generator_verdict) {
    return std::to_array<std::string_view>({"none", "limit", "machine_full", "held_back"});
}
// A generator that was the limit once is; what the machine did comes second.
[[nodiscard]] int gravity(generator_verdict verdict) noexcept;

// What took most of the time that was missing.
enum class generator_cause : std::uint8_t { none, generator, machine, steal, quota, stopped };
constexpr auto words_of(generator_cause) {
    return std::to_array<std::string_view>(
        {"", "generator", "machine", "steal", "quota", "stopped"});
}

struct generator_finding {
    generator_verdict verdict = generator_verdict::none;
    generator_cause cause = generator_cause::none;
    run_thread thread = run_thread::worker;  // that the verdict is about
};
[[nodiscard]] generator_finding find_limit(const generator_load& span) noexcept;
[[nodiscard]] inline generator_verdict judge(const generator_load& span) noexcept {
    return find_limit(span).verdict;
}

// The worst of all spans, each figure for itself; start_s and end_s are those of the reason.
struct generator_summary : generator_load {
    generator_verdict verdict = generator_verdict::none;
    generator_cause cause = generator_cause::none;
    bool limited = false;  // the verdict is `limit`
    bool judged = false;   // any span could be
    std::string reason;    // one sentence; empty for `none`
};
[[nodiscard]] generator_summary judge_all(const std::vector<generator_load>& spans,
                                          std::string_view program);

}  // namespace postal::stats
