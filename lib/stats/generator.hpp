// Who was the limit: the judgement over what a run's own workers, and the machine under them, did
// with their time.
//
// CPU time alone does not tell: a worker that waits for a processor uses less of it. So each span of
// time also has how long workers were ready and not run (schedstat), how late their loops and the
// schedule were, and what the machine's processors did. The worst span decides, since a mean over a
// ramp hides its end; spans of less than a second are too short to accuse anybody. What is not known
// is an empty optional and accuses nobody. Pure; nothing here fails.
#pragma once

#include "base/host.hpp"
#include "stats/tally.hpp"

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace postal::stats {

// One span of time, of an interval or of the run. Shares are from 0 to 1.
struct generator_load {
    double start_s = 0;
    double end_s = 0;
    double worker_busy = 0;           // CPU time, of the busiest worker
    std::optional<double> run_delay;  // ready and not running, of the worker that waited longest
    std::optional<std::chrono::nanoseconds> slip_p99;  // the latest, while there are few
    std::uint64_t slips = 0;
    std::optional<std::chrono::nanoseconds> loop_late_p99;  // from a hundred ticks on
    std::optional<std::chrono::nanoseconds> loop_late_max;
    std::optional<double> machine_idle;   // of the processors that the run may use
    std::optional<double> machine_steal;  // taken from them by the hypervisor
    std::optional<double> cpu_pressure;  // of the time, in which something waited for any processor

    [[nodiscard]] double length_s() const noexcept { return end_s - start_s; }
    // Shorter ones accuse nobody.
    [[nodiscard]] bool long_enough() const noexcept { return length_s() >= 0.999; }
    // From what was counted in this span.
    void measure(const std::vector<worker_time>& workers, const tally& counted,
                 const base::machine_time& machine);
};

enum class generator_verdict {
    none,          // neither was seen
    limit,         // a worker was full, or late while processors were idle
    machine_full,  // it had to wait for a processor: the figures are about the machine
};
// "none", "limit", "machine_full"
[[nodiscard]] std::string_view to_text(generator_verdict verdict) noexcept;
// The same back; `none` for any other text.
[[nodiscard]] generator_verdict verdict_of(std::string_view text) noexcept;
// A generator that was the limit once is; what the machine did comes second.
[[nodiscard]] int gravity(generator_verdict verdict) noexcept;

[[nodiscard]] generator_verdict judge(const generator_load& span) noexcept;

// The worst of all spans, each figure for itself; start_s and end_s are those of the reason.
struct generator_summary : generator_load {
    generator_verdict verdict = generator_verdict::none;
    bool limited = false;  // the verdict is `limit`
    bool judged = false;   // any span was long enough
    std::string reason;    // one sentence; empty for `none`
};
[[nodiscard]] generator_summary judge_all(const std::vector<generator_load>& spans,
                                          std::string_view program);

}  // namespace postal::stats
