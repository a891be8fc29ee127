// SPDX-License-Identifier: GPL-3.0-or-later
// Puts rows into a ledger's tables: the statements, and the numbers that runs and addresses have in
// the file.
//
// Flow, in one thread: begin(); write(block)...; commit(). Each gives SQLite's result code.
// SQLITE_BUSY comes from begin() alone, and may be tried again; every other failure is final.
// Numbers of runs and addresses are looked up in the file once, and remembered.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/result.hpp"
#include "ledger/checkpointer.hpp"
#include "ledger/database.hpp"
#include "ledger/dictionary.hpp"
#include "ledger/rows.hpp"

namespace postal::ledger {

struct block;

class table_writer {
  public:
    // Opens the file and adds the run.
    static base::expected<std::unique_ptr<table_writer>> open(const std::string& path,
                                                              const run_entry& own);

    int begin() noexcept { return file_.execute("BEGIN IMMEDIATE"); }
    int write(const block& rows);
    // Of the run: writer.hpp.
    int note_horizon(std::uint64_t us);
    int note_end(std::uint64_t us);
    int commit() noexcept { return file_.execute("COMMIT"); }

    [[nodiscard]] base::failure failure(int result) const { return file_.failure(result); }
    dictionary& addresses() noexcept { return addresses_; }

  private:
    explicit table_writer(database file) : file_(std::move(file)) {}
    base::expected<void> prepare();
    base::expected<void> add_run(const run_entry& own);

    class numbers;

    int write(const sent_row& row);
    int write(const seen_row& row);
    int write(const removed_row& row);
    int write(const returned_row& row);
    int write(const wait_row& row);
    int write(const visit_row& row);
    int find(statement& add, statement& ask, std::string_view text, std::int64_t& into);
    int find_address(address_id which, std::int64_t& into);
    int find_run(std::uint64_t run, std::int64_t& into);

    std::unique_ptr<checkpointer> checkpointer_;  // ends after the file is closed
    database file_;
    statement add_sent_;
    statement add_seen_;
    statement add_removed_;
    statement add_returned_;
    statement add_wait_;
    statement add_visit_;
    statement add_address_;
    statement ask_address_;
    statement add_run_;
    statement ask_run_;
    statement set_horizon_;
    statement set_end_;
    dictionary addresses_;
    std::vector<std::int64_t> known_addresses_;  // their numbers in the file; 0: not known
    std::unordered_map<std::uint64_t, std::int64_t> known_runs_;
    std::uint64_t last_run_ = 0;  // most rows are of the same run as those before
    std::int64_t last_run_number_ = 0;
    std::int64_t own_ = 0;
};

}  // namespace postal::ledger
