// SPDX-License-Identifier: GPL-3.0-or-later
// A run's ledger in the programs that have --ledger: opened before the run, watched while it goes
// on, closed when it is over.
//
// Flow, in main:
//   auto kept = run_ledger::open(file, run, console);      refuses with one line
//   workers.run(begin, *kept);                             in place of the console
//   ... the workers' ledger feeds end ...
//   kept->close();                                         false: the run has failed
// and in each worker a ledger_feed, whose row buffer takes the rows.
//
// When the ledger falls behind, that is said once, and the ledger feeds' hooks let sessions wait.
// When it fails, that is said once, and the run is ended as a signal would end it.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "base/result.hpp"
#include "cli/options.hpp"
#include "ledger/row_buffer.hpp"
#include "ledger/writer.hpp"
#include "load/worker.hpp"
#include "load/worker_pool.hpp"
#include "program/run_console.hpp"

namespace postal::program {

// The row of the option.
cli::option ledger_option(std::string& file);

// One worker's place at the ledger.
class ledger_feed final : public load::watched {
  public:
    // `on_change` hears when the ledger falls behind (false) and when it has caught up (true).
    ledger_feed(ledger::writer& book, load::worker& own, std::function<void(bool)> on_change);

    ledger::row_buffer& row_buffer() noexcept { return row_buffer_; }
    bool keeps_up() const noexcept { return kept_up_; }

    void on_deadline() override;
    void on_stop(load::stop_kind) override {}

  private:
    ledger::row_buffer row_buffer_;
    std::function<void(bool)> on_change_;
    bool kept_up_ = true;
};

class run_ledger final : public load::run_watcher {
  public:
    // The console must outlive it.
    static base::expected<std::unique_ptr<run_ledger>> open(const std::string& file,
                                                            const ledger::run_entry& run,
                                                            run_console& console);

    ledger::writer& book() noexcept { return *book_; }
    // Whom a failure ends.
    void watch_over(load::worker_pool& workers) {
        workers_ = &workers;
        workers.watch_ledger(book_->thread());
    }

    void on_time_slice(const stats::time_slice& time_slice) override {
        console_.on_time_slice(time_slice);
    }
    void on_live(const stats::live_state& state) override;
    void on_gave_up() override { console_.on_gave_up(); }
    void on_first_error(const stats::first_error& what) override { console_.on_first_error(what); }
    void on_interrupt(const stats::live_state& now, std::chrono::nanoseconds grace) override {
        console_.on_interrupt(now, grace);
    }
    void on_cut_short() override { console_.on_cut_short(); }

    // Writes what is left; false, and said, when something has failed.
    bool close();

  private:
    run_ledger(std::unique_ptr<ledger::writer> book, run_console& console)
        : book_(std::move(book)), console_(console) {}
    void look();

    std::unique_ptr<ledger::writer> book_;
    run_console& console_;
    load::worker_pool* workers_ = nullptr;
    bool said_behind_ = false;
    bool said_failed_ = false;
};

}  // namespace postal::program
