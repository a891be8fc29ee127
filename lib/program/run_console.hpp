// What a run says while it goes on and when it is over: the interval log on standard output, the
// live line, diagnostics and the summary on standard error, the run record in its file. A record
// that goes to standard output has it for itself: the log goes to standard error then.
//
// Flow:
//   auto console = run_console::create(description, options);   refuses what cannot be written
//   console->begin();              the log's header
//   workers.run(begin, *console);
//   console->finish(workers.lasted())  ->  how the run ended
//
// The same for every program that runs a worker pool, so that all report alike.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "cli/main.hpp"
#include "cli/run_options.hpp"
#include "load/worker_pool.hpp"
#include "stats/interval_log.hpp"
#include "stats/run_report.hpp"
#include "stats/threshold.hpp"

namespace postal::program {

struct console_options {
    const cli::run_options& run;
    // Where diagnostics go in place of standard error; the summary stays there.
    std::function<void(const std::string&)> diagnostics{};
    std::function<void()> after_time_slice{};
    std::uint64_t messages = 0;           // the stop rules, for the live line's estimate; 0: none
    std::chrono::nanoseconds give_up{0};  // as in worker_pool_plan
    // Of one rank among several: another console speaks for the run. It keeps the record alone, to
    // that file; its diagnostics begin with `who`.
    bool silent = false;
    std::string record = run.record;
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
    // Prints the log's header; to be called when nothing can be refused any more.
    base::expected<void> begin();

    void on_time_slice(const stats::time_slice& time_slice) override;
    void on_live(const stats::live_state& state) override;
    void on_gave_up() override;
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
    bool logs_to_errors() const noexcept { return options_.record == "-"; }
    void erase_live_line();
    void note(const base::expected<void>& written);

    console_options options_;
    stats::run_report report_;
    stats::interval_log log_;
    std::vector<stats::threshold> thresholds_;
    bool live_ = false;        // whether the live line is wanted
    bool live_shown_ = false;  // whether it stands on the terminal
    bool output_failed_ = false;
};

}  // namespace postal::program
