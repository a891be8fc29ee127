// SPDX-License-Identifier: GPL-3.0-or-later
#include "program/run_ledger.hpp"

#include <chrono>
#include <utility>

#include "cli/binders.hpp"

namespace postal::program {

namespace {

// Whether it is one is judged when it is opened, with a reason.
constexpr cli::file_kind ledger_file{"ledger"};

}  // namespace

cli::option ledger_option(std::string& file) {
    return {"--ledger",
            "FILE",
            "",
            "write what became of each message to this SQLite file; runs may share one",
            cli::text(file),
            false,
            &ledger_file};
}

// Its deadline has always passed, so that each tick of the worker comes here.
ledger_feed::ledger_feed(ledger::writer& book, load::worker& own,
                         std::function<void(bool)> on_change)
    : row_buffer_(book), on_change_(std::move(on_change)) {
    own.watch(*this);
    set_deadline({});
}

void ledger_feed::on_deadline() {
    set_deadline({});
    row_buffer_.flush_if_due(std::chrono::steady_clock::now());
    const bool now = row_buffer_.keeps_up();
    if (now == kept_up_) return;
    kept_up_ = now;
    on_change_(now);
}

base::expected<std::unique_ptr<run_ledger>> run_ledger::open(const std::string& file,
                                                             const ledger::run_entry& run,
                                                             run_console& console) {
    auto book = ledger::writer::open(file, run);
    if (!book) return base::at("--ledger", book.error());
    return std::unique_ptr<run_ledger>(new run_ledger(std::move(*book), console));
}

void run_ledger::on_live(const stats::live_state& state) {
    console_.on_live(state);
    look();
}

void run_ledger::look() {
    if (book_->times_behind() > 0 && !said_behind_) {
        said_behind_ = true;
        console_.say("--ledger: does not keep up with this run; sessions wait for it");
    }
    if (!book_->has_failed() || said_failed_) return;
    said_failed_ = true;
    console_.say("--ledger: " + book_->failure());
    if (workers_ != nullptr) workers_->stop(load::stop_kind::gently);
}

bool run_ledger::close() {
    const bool fine = book_->close().has_value();
    workers_ = nullptr;
    look();
    return fine;
}

}  // namespace postal::program
