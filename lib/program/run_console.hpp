// SPDX-License-Identifier: GPL-3.0-or-later
// What a run says while it goes on and when it is over: the interval log on standard output, the
// live line, diagnostics and the summary on standard error, the run record in its file. A record
// that goes to standard output has it for itself: the log goes to standard error then.
//
// Flow:
//   auto console = run_console::create(description, options);   refuses what cannot be written
//   console->begin();              the log's header
//   console->ends_run(stop)        where it may find that the run is over
//   workers.run(begin, *console);
//   console->finish(workers.lasted())  ->  how the run ended
//
// The same for every program that runs a worker pool, so that all report alike.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.hpp"
#include "cli/main.hpp"
#include "cli/run_options.hpp"
#include "load/worker_pool.hpp"
#include "metrics/push_gateway.hpp"
#include "metrics/scrape_endpoint.hpp"
#include "program/rate_search.hpp"
#include "sampling/sampler.hpp"
#include "screen/live_screen.hpp"
#include "stats/first_errors.hpp"
#include "stats/interval_log.hpp"
#include "stats/last_second.hpp"
#include "stats/run_report.hpp"
#include "stats/threshold.hpp"

namespace postal::program {

struct console_options {
    const cli::run_options& run;
    // Where diagnostics go in place of standard error; the summary stays there.
    std::function<void(const std::string&)> diagnostics{};
    std::function<void()> after_interval{};
    std::function<void()> after_time_slice{};  // each second
    std::uint64_t messages = 0;           // the stop rules, for the live line's estimate; 0: none
    std::chrono::nanoseconds give_up{0};  // as in worker_pool_plan
    bool fail_fast = false;               // the first error ends the run
    // What somebody who sees that error may try; empty: nothing comes to mind.
    std::function<std::string(const stats::first_error&)> hint{};
    // Whether it is worth a line of its own; all are, without.
    std::function<bool(const stats::error_entry&)> worth_telling{};
    // Of one rank among several: another console speaks for the run. It keeps the record alone, to
    // that file; its diagnostics begin with `who`.
    bool silent = false;
    std::string record = run.record;
    std::optional<net::endpoint> metrics{};          // where scrapers ask; parsed from run.metrics
    std::optional<metrics::push_gateway> gateway{};  // where results go; from run.push
    std::string who{};
};

// What this process ends with; of a server with the most connections that were open at once.
stats::run_end end_of(const load::worker_pool& workers, unsigned most_connections = 0);

class run_console : public load::run_watcher {
  public:
    static base::expected<std::unique_ptr<run_console>> create(stats::run_description description,
                                                               console_options options);

    // When the run begins, where that is not now; before begin().
    void starts(std::chrono::system_clock::time_point when);
    // Prints the log's header and lets scrapers in; to be called when nothing else can be refused
    // any more.
    base::expected<void> begin();

    void on_time_slice(const stats::time_slice& time_slice) override;
    void on_live(const stats::live_state& state) override;
    void on_gave_up() override;
    void on_first_error(const stats::first_error& what) override { tell_first(what, {}); }
    // The same of another process's, "rank 3 on HOST".
    void tell_first(const stats::first_error& what, const std::string& whose);

    // How the run is ended when an error, or a threshold, says so.
    void ends_run(std::function<void(load::run_ending)> stop) { stop_ = std::move(stop); }
    // Its newest samples are shown and its troubles told, until keep_samples(), which blocks for
    // its last ones; they are then those of the run that began at `start`.
    void shows_samples(sampling::sampler& of) noexcept { sampler_ = &of; }
    void keep_samples(load::steady_time start);
    // It hears of each time slice, and what it found is in the record. It must outlive this.
    void searches(rate_search& of) noexcept { search_ = &of; }
    void on_interrupt(const stats::live_state& now, std::chrono::nanoseconds grace) override;
    void on_cut_short() override;

    // One line on standard error, in the program's name; the live line is put out of its way.
    void say(const std::string& line);

    // Summary, thresholds, record.
    cli::exit_status finish(const stats::run_end& end);

    const stats::run_report& report() const noexcept { return report_; }
    stats::run_report& report() noexcept { return report_; }

  private:
    run_console(stats::run_description description, console_options options,
                std::vector<stats::threshold> thresholds);

    void show(const stats::closed_interval& closed);
    base::expected<void> let_scrapers_in();
    void note_latency(const stats::time_slice& second);
    void note_samples();
    bool logs_to_errors() const noexcept { return options_.record == "-"; }
    base::expected<void> take_terminal();
    void clear_terminal();
    void note(const base::expected<void>& written);
    void tell_silence(const stats::live_state& state);
    std::string patience_with(const stats::error_entry& what) const;
    void judge();
    void with_reserve(const std::function<void()>& act);
    void end_run(load::run_ending why);

    console_options options_;
    stats::run_report report_;
    stats::interval_log log_;
    std::unique_ptr<metrics::scrape_endpoint> scraped_;  // null without --metrics
    std::vector<stats::threshold> thresholds_;
    stats::first_errors first_errors_;
    std::unique_ptr<screen::live_screen> screen_;         // null without --live
    stats::last_second second_;                           // for those who watch
    std::optional<std::chrono::nanoseconds> recent_p50_;  // of the last second's messages
    std::optional<std::chrono::nanoseconds> recent_p99_;
    bool said_silence_ = false;
    sampling::sampler* sampler_ = nullptr;
    rate_search* search_ = nullptr;
    std::function<void(load::run_ending)> stop_;
    std::optional<load::run_ending> ended_run_;            // by ourselves
    std::optional<stats::threshold_result> missed_early_;  // which ended it
    bool live_ = false;                                    // whether the live line is wanted
    bool live_shown_ = false;                              // whether it stands on the terminal
    bool output_failed_ = false;
    // Given back when memory is short at the end; more than a record takes.
    std::unique_ptr<char[]> reserve_ = std::make_unique_for_overwrite<char[]>(2 << 20);
};

}  // namespace postal::program
