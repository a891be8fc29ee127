// SPDX-License-Identifier: GPL-3.0-or-later
#include "ledger/table_writer.hpp"

#include <chrono>
#include <utility>

#include <fmt/chrono.h>
#include <fmt/format.h>

#include "base/text.hpp"
#include "ledger/row_buffer.hpp"
#include "ledger/schema.hpp"
#include "ledger/schema_tables.hpp"

namespace postal::ledger {

namespace {

using base::expected;

constexpr int busy_timeout_ms = 500;  // then begin() is asked again

std::string hex_of(std::uint64_t run) {
    return fmt::format("{:016x}", run);
}

// The arguments as a line in which those with blanks stand in quotes.
std::string line_of(const std::vector<std::string>& argv) {
    return base::shell_line(argv, [](char c) {
        return std::string_view(" \t'\"\\").find(c) == std::string_view::npos;
    });
}

}  // namespace

expected<std::unique_ptr<table_writer>> table_writer::open(const std::string& path,
                                                           const run_entry& own) {
    auto file = open_to_write(path);
    if (!file) return file.error();
    std::unique_ptr<table_writer> made(new table_writer(std::move(*file)));
    const auto prepared = made->prepare();
    if (!prepared) return prepared.error();
    const auto added = made->add_run(own);
    if (!added) return added.error();
    made->file_.set_patience(busy_timeout_ms);
    auto beside = checkpointer::open(path);
    if (!beside) return beside.error();
    made->checkpointer_ = std::move(*beside);
    return made;
}

expected<void> table_writer::prepare() {
    // What is in the log is safe from a kill. The disk is waited for by the checkpointer alone.
    const int result = file_.execute(
        "PRAGMA synchronous = OFF; PRAGMA wal_autocheckpoint = 0; PRAGMA cache_size = -8192");
    if (result != SQLITE_OK) return file_.failure(result);
    const std::pair<statement*, std::string_view> wanted[] = {
        {&add_sent_,
         "INSERT INTO sent(run, session, sequence, recipient, sender, outcome, counted, code, "
         "enhanced, time_us, octets) VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)"},
        {&add_seen_,
         "INSERT INTO seen(observer, run, session, sequence, mailbox, condition, way, uid, place, "
         "detail, time_us, sent_us, server, uid_validity, announced_us, notice, watcher, "
         "arrived_us) VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, "
         "?16, ?17, ?18)"},
        {&add_removed_,
         "INSERT INTO removed(observer, run, session, sequence, mailbox, way, server, "
         "uid_validity, uid, time_us) VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)"},
        {&add_returned_,
         "INSERT INTO returned(observer, run, session, sequence, recipient, mailbox, action, "
         "status, detail, way, time_us) VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)"},
        {&add_wait_, put_wait},
        {&add_visit_, put_visit},
        {&add_address_, "INSERT INTO addresses(address) VALUES(?1) ON CONFLICT DO NOTHING"},
        {&ask_address_, "SELECT id FROM addresses WHERE address = ?1"},
        {&add_run_, "INSERT INTO runs(run) VALUES(?1) ON CONFLICT DO NOTHING"},
        {&ask_run_, "SELECT id FROM runs WHERE run = ?1"},
        {&set_horizon_, "UPDATE runs SET horizon_us = ?1 WHERE id = ?2"},
        {&set_end_, "UPDATE runs SET horizon_us = ?1, ended_us = ?1 WHERE id = ?2"}};
    for (const auto& [into, sql] : wanted) {
        auto made = file_.prepare(sql);
        if (!made) return made.error();
        *into = std::move(*made);
    }
    return {};
}

// A reader may have met mail of this run before: its row is completed then.
expected<void> table_writer::add_run(const run_entry& own) {
    auto add = file_.prepare(
        "INSERT INTO runs(run, program, started, seed, argv, role, horizon_us, notes_visits) "
        "VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8) "
        "ON CONFLICT(run) DO UPDATE SET program = excluded.program, started = excluded.started, "
        "seed = excluded.seed, argv = excluded.argv, role = excluded.role, "
        "horizon_us = excluded.horizon_us, notes_visits = excluded.notes_visits");
    if (!add) return add.error();
    const std::string run = hex_of(own.run);
    const auto whole = std::chrono::floor<std::chrono::milliseconds>(own.started);
    const std::string started = fmt::format(
        "{:%Y-%m-%dT%H:%M:%S}.{:03}Z", fmt::gmtime(std::chrono::system_clock::to_time_t(whole)),
        whole.time_since_epoch().count() % 1000);
    const std::string argv = line_of(own.argv);
    add->bind(1, run);
    add->bind(2, own.program);
    add->bind(3, started);
    add->bind(4, own.seed);
    add->bind(5, argv);
    add->bind(6, to_text(own.is));
    add->bind(7, std::int64_t{whole.time_since_epoch().count() * 1000});
    add->bind(8, std::int64_t{own.notes_visits});
    int result = begin();
    if (result == SQLITE_OK) result = add->run();
    if (result == SQLITE_OK) result = find_run(own.run, own_);
    if (result == SQLITE_OK) result = commit();
    if (result != SQLITE_OK) return file_.failure(result);
    return {};
}

int table_writer::note_horizon(std::uint64_t us) {
    set_horizon_.bind(1, us);
    set_horizon_.bind(2, own_);
    return set_horizon_.run();
}

int table_writer::note_end(std::uint64_t us) {
    set_end_.bind(1, us);
    set_end_.bind(2, own_);
    return set_end_.run();
}

int table_writer::write(const block& rows) {
    const auto each_of = [this](const auto& all) {
        for (const auto& row : all) {
            const int result = write(row);
            if (result != SQLITE_OK) return result;
        }
        return SQLITE_OK;
    };
    int result = each_of(rows.sent);
    if (result == SQLITE_OK) result = each_of(rows.seen);
    if (result == SQLITE_OK) result = each_of(rows.removed);
    if (result == SQLITE_OK) result = each_of(rows.returned);
    if (result == SQLITE_OK) result = each_of(rows.waits);
    if (result == SQLITE_OK) result = each_of(rows.visits);
    return result;
}

int table_writer::write(const sent_row& row) {
    std::int64_t recipient = 0;
    std::int64_t sender = 0;
    int result = find_address(row.recipient, recipient);
    if (result == SQLITE_OK && row.sender != 0) result = find_address(row.sender, sender);
    std::int64_t run = own_;
    if (result == SQLITE_OK && row.run != 0) result = find_run(row.run, run);
    if (result != SQLITE_OK) return result;
    add_sent_.bind(1, run);
    add_sent_.bind(2, row.session);
    add_sent_.bind(3, row.sequence);
    add_sent_.bind(4, recipient);
    row.sender != 0 ? add_sent_.bind(5, sender) : add_sent_.bind_null(5);
    add_sent_.bind(6, static_cast<std::int64_t>(row.what));
    add_sent_.bind(7, static_cast<std::int64_t>(row.counted));
    row.code != 0 ? add_sent_.bind(8, std::int64_t{row.code}) : add_sent_.bind_null(8);
    add_sent_.bind_optional(9, row.enhanced.view());
    add_sent_.bind(10, row.time_us);
    add_sent_.bind(11, row.octets);
    return add_sent_.run();
}

int table_writer::write(const seen_row& row) {
    const bool ours = row.run != 0;
    std::int64_t mailbox = 0;
    std::int64_t server = 0;
    std::int64_t run = 0;
    int result = find_address(row.mailbox, mailbox);
    if (result == SQLITE_OK && row.server != 0) result = find_address(row.server, server);
    if (result == SQLITE_OK && ours) result = find_run(row.run, run);
    if (result != SQLITE_OK) return result;
    add_seen_.bind(1, own_);
    if (ours) {
        add_seen_.bind(2, run);
        add_seen_.bind(3, row.session);
        add_seen_.bind(4, row.sequence);
        add_seen_.bind(12, row.sent_us);
    } else {
        for (const int column : {2, 3, 4, 12}) {
            add_seen_.bind_null(column);
        }
    }
    add_seen_.bind(5, mailbox);
    add_seen_.bind(6, static_cast<std::int64_t>(row.what));
    add_seen_.bind(7, static_cast<std::int64_t>(row.through));
    add_seen_.bind(8, row.uid);
    add_seen_.bind(9, row.place);
    add_seen_.bind_optional(10, row.detail);
    add_seen_.bind(11, row.time_us);
    row.server != 0 ? add_seen_.bind(13, server) : add_seen_.bind_null(13);
    add_seen_.bind(14, std::int64_t{row.uid_validity});
    if (row.announced_us != 0) {
        add_seen_.bind(15, row.announced_us);
        add_seen_.bind(16, static_cast<std::int64_t>(row.told));
        add_seen_.bind(17, std::int64_t{row.watcher});
    } else {
        for (const int column : {15, 16, 17})
            add_seen_.bind_null(column);
    }
    row.arrived_us != 0 ? add_seen_.bind(18, row.arrived_us) : add_seen_.bind_null(18);
    return add_seen_.run();
}

int table_writer::write(const removed_row& row) {
    std::int64_t mailbox = 0;
    std::int64_t server = 0;
    std::int64_t run = 0;
    int result = find_address(row.mailbox, mailbox);
    if (result == SQLITE_OK && row.server != 0) result = find_address(row.server, server);
    if (result == SQLITE_OK) result = find_run(row.run, run);
    if (result != SQLITE_OK) return result;
    add_removed_.bind(1, own_);
    add_removed_.bind(2, run);
    add_removed_.bind(3, row.session);
    add_removed_.bind(4, row.sequence);
    add_removed_.bind(5, mailbox);
    add_removed_.bind(6, static_cast<std::int64_t>(row.through));
    row.server != 0 ? add_removed_.bind(7, server) : add_removed_.bind_null(7);
    add_removed_.bind(8, std::int64_t{row.uid_validity});
    add_removed_.bind(9, row.uid);
    add_removed_.bind(10, row.time_us);
    return add_removed_.run();
}

int table_writer::write(const returned_row& row) {
    std::int64_t recipient = 0;
    std::int64_t mailbox = 0;
    std::int64_t run = 0;
    int result = find_address(row.recipient, recipient);
    if (result == SQLITE_OK) result = find_address(row.mailbox, mailbox);
    if (result == SQLITE_OK) result = find_run(row.run, run);
    if (result != SQLITE_OK) return result;
    add_returned_.bind(1, own_);
    add_returned_.bind(2, run);
    add_returned_.bind(3, row.session);
    add_returned_.bind(4, row.sequence);
    add_returned_.bind(5, recipient);
    add_returned_.bind(6, mailbox);
    add_returned_.bind(7, static_cast<std::int64_t>(row.what));
    add_returned_.bind_optional(8, row.status.view());
    add_returned_.bind_optional(9, row.detail);
    add_returned_.bind(10, static_cast<std::int64_t>(row.through));
    add_returned_.bind(11, row.time_us);
    return add_returned_.run();
}

int table_writer::write(const wait_row& row) {
    std::int64_t mailbox = 0;
    std::int64_t server = 0;
    int result = find_address(row.mailbox, mailbox);
    if (result == SQLITE_OK) result = find_address(row.server, server);
    if (result != SQLITE_OK) return result;
    add_wait_.bind_null(1);
    add_wait_.bind(2, own_);
    add_wait_.bind(3, row.session);
    add_wait_.bind(4, mailbox);
    add_wait_.bind(5, static_cast<std::int64_t>(row.through));
    add_wait_.bind(6, server);
    add_wait_.bind(7, static_cast<std::int64_t>(row.how));
    add_wait_.bind(8, row.opened_us);
    add_wait_.bind(9, row.began_us);
    add_wait_.bind(10, row.ended_us);
    return add_wait_.run();
}

int table_writer::write(const visit_row& row) {
    std::int64_t mailbox = 0;
    std::int64_t server = 0;
    int result = find_address(row.mailbox, mailbox);
    if (result == SQLITE_OK) result = find_address(row.server, server);
    if (result != SQLITE_OK) return result;
    add_visit_.bind_null(1);
    add_visit_.bind(2, own_);
    add_visit_.bind(3, mailbox);
    add_visit_.bind(4, static_cast<std::int64_t>(row.through));
    add_visit_.bind(5, server);
    add_visit_.bind(6, static_cast<std::int64_t>(row.what));
    add_visit_.bind(7, row.began_us);
    add_visit_.bind(8, row.ended_us);
    add_visit_.bind(9, row.messages);
    add_visit_.bind(10, row.looked_at);
    add_visit_.bind_optional(11, row.reason);
    return add_visit_.run();
}

// The number that a text has in the file; it gets one if it has none.
int table_writer::find(statement& add, statement& ask, std::string_view text, std::int64_t& into) {
    add.bind(1, text);
    const int result = add.run();
    if (result != SQLITE_OK) return result;
    ask.bind(1, text);
    const int found = ask.step();
    into = ask.number(0);
    ask.reset();
    return found == SQLITE_ROW ? SQLITE_OK : found;
}

int table_writer::find_address(address_id which, std::int64_t& into) {
    if (which >= known_addresses_.size()) known_addresses_.resize(which + 1 + which / 2);
    std::int64_t& known = known_addresses_[which];
    if (known == 0) {
        const std::string text = addresses_.text(which);
        const int result = find(add_address_, ask_address_, text, known);
        if (result != SQLITE_OK) return result;
    }
    into = known;
    return SQLITE_OK;
}

int table_writer::find_run(std::uint64_t run, std::int64_t& into) {
    if (run != last_run_ || last_run_number_ == 0) {
        std::int64_t& known = known_runs_[run];
        if (known == 0) {
            const std::string text = hex_of(run);
            const int result = find(add_run_, ask_run_, text, known);
            if (result != SQLITE_OK) return result;
        }
        last_run_ = run;
        last_run_number_ = known;
    }
    into = last_run_number_;
    return SQLITE_OK;
}

}  // namespace postal::ledger
