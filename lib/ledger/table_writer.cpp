// SPDX-License-Identifier: GPL-3.0-or-later
#include "ledger/table_writer.hpp"

#include <chrono>
#include <optional>
#include <string_view>
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

// Null where it is 0, or empty.
std::optional<std::int64_t> some(std::uint64_t number) {
    return number == 0 ? std::nullopt : std::optional(static_cast<std::int64_t>(number));
}
std::optional<std::string_view> some(std::string_view text) {
    return text.empty() ? std::nullopt : std::optional(text);
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
    add->bind_all(run, own.program, started, own.seed, argv, to_text(own.is),
                  whole.time_since_epoch().count() * 1000, own.notes_visits);
    int result = begin();
    if (result == SQLITE_OK) result = add->run();
    if (result == SQLITE_OK) result = find_run(own.run, own_);
    if (result == SQLITE_OK) result = commit();
    if (result != SQLITE_OK) return file_.failure(result);
    return {};
}

int table_writer::note_horizon(std::uint64_t us) {
    return set_horizon_.run_with(us, own_);
}

int table_writer::note_end(std::uint64_t us) {
    return set_end_.run_with(us, own_);
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

// The numbers in the file of what a row names; not to be used once one of them was not found.
class table_writer::numbers {
  public:
    explicit numbers(table_writer& in) noexcept : in_(in) {}

    std::int64_t address(address_id which) {
        std::int64_t number = 0;
        if (result_ == SQLITE_OK) result_ = in_.find_address(which, number);
        return number;
    }
    std::int64_t run(std::uint64_t which) {
        std::int64_t number = 0;
        if (result_ == SQLITE_OK) result_ = in_.find_run(which, number);
        return number;
    }
    std::optional<std::int64_t> address_if_any(address_id which) {
        return which == 0 ? std::nullopt : std::optional(address(which));
    }
    int result() const noexcept { return result_; }

  private:
    table_writer& in_;
    int result_ = SQLITE_OK;
};

int table_writer::write(const sent_row& row) {
    numbers of(*this);
    const auto recipient = of.address(row.recipient);
    const auto sender = of.address_if_any(row.sender);
    const auto run = row.run != 0 ? of.run(row.run) : own_;
    if (of.result() != SQLITE_OK) return of.result();
    return add_sent_.run_with(run, row.session, row.sequence, recipient, sender, row.what,
                              row.counted, some(row.code), some(row.enhanced.view()), row.time_us,
                              row.octets);
}

int table_writer::write(const seen_row& row) {
    const auto if_ours = [ours = row.run != 0](auto value) {
        return ours ? std::optional(value) : std::nullopt;
    };
    const auto if_announced = [told = row.announced_us != 0](auto value) {
        return told ? std::optional(value) : std::nullopt;
    };
    numbers of(*this);
    const auto mailbox = of.address(row.mailbox);
    const auto server = of.address_if_any(row.server);
    const auto run = row.run != 0 ? of.run(row.run) : 0;
    if (of.result() != SQLITE_OK) return of.result();
    return add_seen_.run_with(
        own_, if_ours(run), if_ours(row.session), if_ours(row.sequence), mailbox, row.what,
        row.through, row.uid, row.place, some(std::string_view(row.detail)), row.time_us,
        if_ours(row.sent_us), server, row.uid_validity, if_announced(row.announced_us),
        if_announced(row.told), if_announced(row.watcher), some(row.arrived_us));
}

int table_writer::write(const removed_row& row) {
    numbers of(*this);
    const auto mailbox = of.address(row.mailbox);
    const auto server = of.address_if_any(row.server);
    const auto run = of.run(row.run);
    if (of.result() != SQLITE_OK) return of.result();
    return add_removed_.run_with(own_, run, row.session, row.sequence, mailbox, row.through, server,
                                 row.uid_validity, row.uid, row.time_us);
}

int table_writer::write(const returned_row& row) {
    numbers of(*this);
    const auto recipient = of.address(row.recipient);
    const auto mailbox = of.address(row.mailbox);
    const auto run = of.run(row.run);
    if (of.result() != SQLITE_OK) return of.result();
    return add_returned_.run_with(own_, run, row.session, row.sequence, recipient, mailbox,
                                  row.what, some(row.status.view()),
                                  some(std::string_view(row.detail)), row.through, row.time_us);
}

int table_writer::write(const wait_row& row) {
    numbers of(*this);
    const auto mailbox = of.address(row.mailbox);
    const auto server = of.address(row.server);
    if (of.result() != SQLITE_OK) return of.result();
    return add_wait_.run_with(std::nullopt, own_, row.session, mailbox, row.through, server,
                              row.how, row.opened_us, row.began_us, row.ended_us);
}

int table_writer::write(const visit_row& row) {
    numbers of(*this);
    const auto mailbox = of.address(row.mailbox);
    const auto server = of.address(row.server);
    if (of.result() != SQLITE_OK) return of.result();
    return add_visit_.run_with(std::nullopt, own_, mailbox, row.through, server, row.what,
                               row.began_us, row.ended_us, row.messages, row.looked_at,
                               some(std::string_view(row.reason)));
}

// The number that a text has in the file; it gets one if it has none.
int table_writer::find(statement& add, statement& ask, std::string_view text, std::int64_t& into) {
    const int result = add.run_with(text);
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
