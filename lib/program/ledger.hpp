// A run's ledger in the programs that have --ledger: opened before the run, watched while it goes
// on, closed when it is over.
//
// Flow, in main:
//   auto kept = ledger_keeper::open(file, run, console);   refuses with one line
//   fleet.run(begin, *kept);                               in place of the console
//   ... the workers' desks end ...
//   kept->close();                                         false: the run has failed
// and in each worker a ledger_desk, whose page takes the rows.
//
// When the ledger falls behind, that is said once, and the desks' hooks let sessions wait. When it
// fails, that is said once, and the run is ended as a signal would end it.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "base/result.hpp"
#include "cli/options.hpp"
#include "ledger/page.hpp"
#include "ledger/writer.hpp"
#include "load/fleet.hpp"
#include "load/run_console.hpp"
#include "load/worker.hpp"

namespace postal::program {

// The row of the option.
cli::option ledger_option(std::string& file);

// One worker's place at the ledger.
class ledger_desk final : public load::watched {
  public:
    // `on_change` hears when the ledger falls behind (false) and when it has caught up (true).
    ledger_desk(ledger::writer& book, load::worker& own, std::function<void(bool)> on_change);

    ledger::page& page() noexcept { return page_; }
    bool keeps_up() const noexcept { return kept_up_; }

    void on_deadline() override;
    void on_stop(load::stop_kind) override {}

  private:
    ledger::page page_;
    std::function<void(bool)> on_change_;
    bool kept_up_ = true;
};

class ledger_keeper final : public load::run_watcher {
  public:
    // The console must outlive it.
    static base::expected<std::unique_ptr<ledger_keeper>> open(const std::string& file,
                                                               const ledger::run_entry& run,
                                                               load::run_console& console);

    ledger::writer& book() noexcept { return *book_; }
    // Whom a failure ends.
    void watch_over(load::fleet& ships) noexcept { ships_ = &ships; }

    void on_piece(const stats::piece& piece) override { console_.on_piece(piece); }
    void on_live(const stats::live_state& state) override;

    // Writes what is left; false, and said, when something has failed.
    bool close();

  private:
    ledger_keeper(std::unique_ptr<ledger::writer> book, load::run_console& console)
        : book_(std::move(book)), console_(console) {}
    void look();

    std::unique_ptr<ledger::writer> book_;
    load::run_console& console_;
    load::fleet* ships_ = nullptr;
    bool said_behind_ = false;
    bool said_failed_ = false;
};

}  // namespace postal::program
