// SPDX-License-Identifier: GPL-3.0-or-later
#include "cli/run_options.hpp"

#include "base/units.hpp"
#include "cli/binders.hpp"
#include "cli/label_options.hpp"
#include "os/host.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

namespace postal::cli {

namespace {

constexpr unsigned most_workers = 1024;

// Parts of a minute, the longest first.
constexpr std::array fitting_intervals{std::chrono::seconds{60}, std::chrono::seconds{30},
                                       std::chrono::seconds{15}, std::chrono::seconds{10},
                                       std::chrono::seconds{5},  std::chrono::seconds{2}};

}  // namespace

const file_kind run_record{"run record", [](std::string_view beginning) {
                               return beginning.starts_with('{') &&
                                      beginning.find("\"postal-record/") != beginning.npos;
                           }};

unsigned default_workers() noexcept {
    return std::min(os::usable_cpus(), most_workers);
}

group run_options_group(run_options& options, threshold_rule thresholds) {
    using namespace std::chrono_literals;
    setter keep_threshold = texts(options.thresholds);
    if (thresholds.check) {
        keep_threshold = [keep = keep_threshold, check = std::move(thresholds.check)](
                             const std::string& given) -> base::expected<void> {
            if (auto checked = check(given); !checked) return checked.error();
            return keep(given);
        };
    }
    group rows{
        "Run and report",
        {
            {"--duration", "DURATION", "until interrupted", "end after this time",
             duration(options.duration)},
            {"--warmup", "DURATION", "0s", "leave the first part of the run out of totals and rate",
             duration(options.warmup, 0s)},
            {"--interval", "DURATION", "1m, about a tenth of a short run",
             "print a line each time this has passed", duration(options.interval, 100ms)},
            {"--align-minutes", "", "", "end intervals at the clock's minute",
             flag(options.align_minutes)},
            {"--log-format", "csv|jsonl|extended", "csv",
             "how to print intervals; extended adds latencies and error counts as columns",
             choice(options.format, {{"csv", stats::log_format::csv},
                                     {"jsonl", stats::log_format::jsonl},
                                     {"extended", stats::log_format::extended}})},
            {"--record", "FILE", "",
             "write the run record, a JSON object, at the end; - is standard output",
             text(options.record), false, &run_record},
            {"--threshold", "EXPR", "",
             fmt::format("end with status 3 unless this holds, such as \"{}\" or \"errors<1%\"",
                         thresholds.example),
             std::move(keep_threshold), true},
            {"--metrics", "HOST:PORT", "",
             "let Prometheus ask there, over HTTP, for what has been counted so far",
             text(options.metrics)},
            {"--push", "URL", "",
             "put counts and results to a Pushgateway of Prometheus when the run is over",
             text(options.push)},
            {"--live", "", "",
             "draw the run on the terminal while it goes on: rate, latency, outcomes, errors",
             flag(options.live)},
            {"--progress", "", "", "show the live line although standard error is not a terminal",
             flag(options.progress)},
            {"--grace", "DURATION", base::format_duration(options.grace),
             "after an interrupt, wait at most this long for what is in flight",
             duration(options.grace, 0s)},
            {"--workers", "N", fmt::format("{}, one a core", options.workers),
             "operating-system threads", count(options.workers, 1, most_workers)},
        },
    };
    for (option& one : label_rows(options.labels))
        rows.options.push_back(std::move(one));
    return rows;
}

std::chrono::nanoseconds interval_of(const run_options& options) {
    using namespace std::chrono_literals;
    if (options.interval) return *options.interval;
    if (options.duration == 0ns || options.align_minutes) return 60s;
    const auto* const fits = std::find_if(
        fitting_intervals.begin(), fitting_intervals.end(), [&](std::chrono::seconds one) {
            return one * 10 <= options.duration && options.warmup % one == 0ns;
        });
    return fits == fitting_intervals.end() ? 1s : *fits;
}

base::expected<void> check(const run_options& options) {
    using std::chrono::minutes;
    const bool is_bounded = options.duration.count() > 0;
    if (is_bounded && options.warmup >= options.duration) {
        return base::fail("--warmup: {} leaves nothing of --duration {}; give a shorter warm-up",
                          base::format_duration(options.warmup),
                          base::format_duration(options.duration));
    }
    if (options.align_minutes && interval_of(options) % minutes{1} != std::chrono::nanoseconds{0}) {
        return base::fail("--align-minutes: --interval {} is not in whole minutes",
                          base::format_duration(*options.interval));
    }
    return {};
}

}  // namespace postal::cli
