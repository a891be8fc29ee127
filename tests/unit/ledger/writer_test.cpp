// SPDX-License-Identifier: GPL-3.0-or-later
#include "ledger/writer.hpp"

#include "support.hpp"

#include <atomic>
#include <thread>

#include "ledger/checkpointer.hpp"

using namespace ledger_test;

namespace {

sent_row sent(row_buffer& to, std::uint64_t sequence, const std::string& recipient) {
    sent_row row;
    row.session = 3;
    row.sequence = sequence;
    row.time_us = 1'790'000'000'250'000;
    row.recipient = to.address(recipient);
    row.sender = to.address("from@example.com");
    row.code = 250;
    row.enhanced = short_text("2.0.0");
    return row;
}

// Waits for what another thread is about to do.
template <class Condition>
bool comes_true(Condition condition) {
    const auto until = std::chrono::steady_clock::now() + std::chrono::minutes(1);
    while (!condition()) {
        if (std::chrono::steady_clock::now() > until) return false;
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
    return true;
}

}  // namespace

TEST_CASE("ledger writer: rows are read back with words for numbers") {
    const folder here;
    const std::string path = here / "book";
    {
        auto book = open(path, run_of(0xabc));
        row_buffer mine(*book);
        mine.add(sent(mine, 17, "USER@Example.com"));
        sent_row failed = sent(mine, 18, "user@example.com");
        failed.what = outcome::in_doubt;
        failed.code = 0;
        failed.enhanced = {};
        failed.sender = 0;
        mine.add(failed);
        seen_row row;
        row.run = 0xabc;
        row.session = 3;
        row.sequence = 17;
        row.mailbox = mine.address("other@example.com");
        row.what = condition::truncated;
        row.detail = "truncated at octet 17";
        row.through = way::imap;
        row.time_us = 1'790'000'001'000'000;
        row.sent_us = 1'790'000'000'000'000;
        mine.add(row);
        mine.flush();
        REQUIRE(book->close().has_value());
        CHECK(book->rows_written() == 3);
    }
    const auto line = [&](const std::string& columns, const std::string& from) {
        return ask_sql(path, "SELECT concat FROM (SELECT " + columns + " AS concat FROM " + from +
                                 " ORDER BY number)");
    };
    CHECK(line("run || '/' || session || '/' || sequence", "sent_messages") ==
          "0000000000000abc/3/17 0000000000000abc/3/18");
    CHECK(line("sender || '>' || recipient || ':' || outcome || code || enhanced || time",
               "sent_messages WHERE code IS NOT NULL") ==
          "from@example.com>user@example.com:accepted2502.0.02026-09-21T14:13:20.250000Z");
    CHECK(line("coalesce(sender, '-') || outcome || coalesce(code, '-') || coalesce(enhanced, '-')",
               "sent_messages WHERE code IS NULL") == "-in_doubt--");
    CHECK(
        line("observer || mailbox || condition || detail || way || delivery_s", "seen_messages") ==
        "0000000000000abcother@example.comtruncatedtruncated at octet 17imap1.0");
    CHECK(ask_sql(path, "SELECT program || seed || argv || started FROM runs") ==
          "postal42postal -t 'a b'2026-09-21T14:13:20.000Z");
    CHECK(ask_sql(path, "SELECT value FROM meta WHERE key = 'schema'") == "postal-ledger/6");
}

TEST_CASE("ledger writer: what cannot be a ledger is refused in one line") {
    const folder here;
    std::filesystem::create_directory(here / "folder");
    std::ofstream(here / "text") << std::string(2000, 'x');
    run_sql(here / "foreign", "CREATE TABLE t(a)");
    { auto made = open(here / "newer", run_of(1)); }
    run_sql(here / "newer", "PRAGMA user_version = 7");
    { auto made = open(here / "locked", run_of(1)); }
    struct row {
        std::string name, reason;
    };
    const row rows[]{
        {"folder", "is a directory"},
        {"text", "is no ledger"},
        {"foreign", "is a database, but no ledger"},
        {"newer", "has schema 7 of ledgers; this version knows schema 6 and reads 2 on"},
        {"nowhere/book", "No such file or directory"},
    };
    for (const row& each : rows) {
        const auto made = writer::open(here / each.name, run_of(2));
        REQUIRE(!made.has_value());
        CHECK(made.error().message == (here / each.name) + ": " + each.reason);
        const auto read = reader::open(here / each.name);
        REQUIRE(!read.has_value());
        CHECK(read.error().message == (here / each.name) + ": " + each.reason);
    }
    const auto missing = reader::open(here / "missing");
    REQUIRE(!missing.has_value());
    CHECK(missing.error().message == (here / "missing") + ": No such file or directory");
    auto holder = database::open(here / "locked", SQLITE_OPEN_READWRITE);
    REQUIRE(holder->execute("BEGIN IMMEDIATE") == SQLITE_OK);
    const auto locked = writer::open(here / "locked", run_of(2));
    REQUIRE(!locked.has_value());
    CHECK(locked.error().message == (here / "locked") + ": is locked by another program");
    CHECK(reader::open(here / "locked").has_value());  // readers need not wait for writers
}

TEST_CASE("ledger writer: several runs add to one file at the same time") {
    const folder here;
    const std::string path = here / "book";
    constexpr int runs = 4;
    constexpr std::uint64_t rows = 20'000;
    std::vector<std::thread> threads;
    std::vector<std::string> problems(runs);
    for (int each = 0; each < runs; ++each) {
        threads.emplace_back([&, each] {
            auto book = writer::open(path, run_of(static_cast<std::uint64_t>(each) + 1));
            if (!book) {
                problems[each] = book.error().message;
                return;
            }
            {
                row_buffer one(**book);
                row_buffer two(**book);
                for (std::uint64_t n = 0; n < rows; ++n) {
                    row_buffer& mine = n % 2 == 0 ? one : two;
                    mine.add(sent(mine, n, "user" + std::to_string(n % 100) + "@example.com"));
                    mine.flush_if_due(std::chrono::steady_clock::now());
                }
            }
            const auto closed = (*book)->close();
            if (!closed) problems[each] = closed.error().message;
        });
    }
    for (std::thread& one : threads)
        one.join();
    for (const std::string& problem : problems)
        CHECK(problem == "");  // so that a failure says why
    CHECK(ask_sql(path, "SELECT count(*) FROM sent GROUP BY run") == "20000 20000 20000 20000");
    CHECK(ask_sql(path, "SELECT count(*) FROM (SELECT DISTINCT run, sequence FROM sent)") ==
          "80000");
    CHECK(ask_sql(path, "SELECT count(*) FROM addresses") == "101");
}

TEST_CASE("ledger writer: rows wait while another program keeps the file, and none is lost") {
    const folder here;
    const std::string path = here / "book";
    auto book = open(path, run_of(1));
    auto holder = database::open(path, SQLITE_OPEN_READWRITE);
    REQUIRE(holder->execute("BEGIN IMMEDIATE") == SQLITE_OK);
    constexpr std::uint64_t many = 250'000;
    {
        row_buffer mine(*book);
        const sent_row row = sent(mine, 1, "user@example.com");
        CHECK(book->keeps_up());
        for (std::uint64_t n = 0; n < many; ++n)
            mine.add(row);
    }
    CHECK(!book->keeps_up());
    CHECK(book->times_behind() == 1);
    CHECK(book->rows_written() == 0);
    REQUIRE(holder->execute("COMMIT") == SQLITE_OK);
    REQUIRE(book->close().has_value());
    CHECK(book->keeps_up());
    CHECK(book->rows_written() == many);
}

TEST_CASE("ledger writer: a run says how far it is, and that it has ended") {
    using namespace std::chrono;
    const auto now_us = [] {
        return duration_cast<microseconds>(system_clock::now().time_since_epoch()).count();
    };
    const folder here;
    const std::string path = here / "book";
    const auto told = [&](const std::string& column) {
        return std::stoll(ask_sql(path, "SELECT coalesce(" + column + ", 0) FROM runs"));
    };
    auto book = open(path, run_of(1));
    auto busy = std::make_unique<row_buffer>(*book);
    auto idle = std::make_unique<row_buffer>(*book);
    const auto begun = now_us();
    // Some moments after the last time that a buffer was flushed: what it may hold is not written.
    busy->add(sent(*busy, 1, "user@example.com"));
    busy->flush();
    REQUIRE(comes_true([&] { return book->rows_written() > 0; }));
    CHECK(told("horizon_us") <= begun);
    CHECK(told("ended_us") == 0);
    REQUIRE(comes_true([&] {  // also without rows
        idle->flush();
        busy->flush();
        return told("horizon_us") >= begun;
    }));
    CHECK(told("horizon_us") <= now_us());
    busy.reset();
    idle.reset();
    REQUIRE(book->close().has_value());
    CHECK(told("ended_us") == told("horizon_us"));
    CHECK(told("ended_us") >= begun);
    auto failing = open(path, run_of(2));
    run_sql(path, "DROP TABLE sent");
    {
        row_buffer mine(*failing);
        mine.add(sent(mine, 1, "user@example.com"));
    }
    CHECK(!failing->close().has_value());
    CHECK(ask_sql(path, "SELECT count(*) FROM runs WHERE ended_us IS NULL") == "1");
}

TEST_CASE("ledger writer: nothing new is begun while another program keeps the file") {
    const folder here;
    const std::string path = here / "book";
    auto book = open(path, run_of(1));
    auto holder = database::open(path, SQLITE_OPEN_READWRITE);
    REQUIRE(holder->execute("BEGIN IMMEDIATE") == SQLITE_OK);
    {
        row_buffer mine(*book);
        mine.add(sent(mine, 1, "user@example.com"));
    }
    REQUIRE(comes_true([&] { return !book->keeps_up(); }));
    CHECK(book->rows_written() == 0);
    REQUIRE(holder->execute("COMMIT") == SQLITE_OK);
    REQUIRE(comes_true([&] { return book->keeps_up(); }));
    CHECK(book->rows_written() == 1);
    REQUIRE(book->close().has_value());
}

TEST_CASE("ledger writer: the log is emptied also while two write without a pause") {
    const folder here;
    const std::string path = here / "book";
    run_sql(path, "PRAGMA journal_mode = WAL; CREATE TABLE t(a)");
    const auto beside = checkpointer::open(path, 100);
    REQUIRE(beside.has_value());
    std::atomic<bool> enough{false};
    std::vector<std::thread> threads;
    for (int each = 0; each < 2; ++each) {
        threads.emplace_back([&] {
            auto file = database::open(path, SQLITE_OPEN_READWRITE);
            file->set_patience(30'000);
            file->execute("PRAGMA synchronous = OFF; PRAGMA wal_autocheckpoint = 0");
            while (!enough)
                file->execute("BEGIN IMMEDIATE; INSERT INTO t VALUES(zeroblob(4000)); COMMIT");
        });
    }
    std::uintmax_t most = 0;
    const bool emptied = comes_true([&] {
        const std::uintmax_t now = std::filesystem::file_size(path + "-wal");
        most = std::max(most, now);
        return now < most;
    });
    enough = true;
    for (std::thread& one : threads)
        one.join();
    CHECK(emptied);
    CHECK(most > 100 * 4096);
}

TEST_CASE("ledger writer: a failure is kept, and nobody waits for it") {
    const folder here;
    const std::string path = here / "book";
    auto book = open(path, run_of(1));
    run_sql(path, "DROP TABLE sent");
    {
        row_buffer mine(*book);
        mine.add(sent(mine, 1, "user@example.com"));
    }
    const auto closed = book->close();
    REQUIRE(!closed.has_value());
    CHECK(closed.error().message == path + ": no such table: sent");
    CHECK(book->has_failed());
    CHECK(book->failure() == closed.error().message);
    CHECK(book->keeps_up());
    CHECK(!book->close().has_value());
}

#ifndef __SANITIZE_ADDRESS__
TEST_CASE("ledger writer: last rows that there is no memory for are no secret") {
    for (const unsigned failing : {0U, 1U, 1000U}) {
        const folder here;
        const std::string path = here / "book";
        auto book = open(path, run_of(1));
        auto mine = std::make_unique<row_buffer>(*book);
        mine->add(sent(*mine, 1, "user@example.com"));
        allocations_to_fail = failing;
        mine.reset();
        allocations_to_fail = 0;
        const auto closed = book->close();
        CAPTURE(failing);
        CHECK(closed.has_value() == (failing == 0));
        if (!closed) CHECK(closed.error().message == "out of memory");
    }
}
#endif

TEST_CASE("ledger writer: a reader's run that met mail of a later run shares its row") {
    const folder here;
    const std::string path = here / "book";
    {
        auto book = open(path, run_of(1, "bhm"));
        row_buffer mine(*book);
        seen_row row;
        row.run = 2;
        row.mailbox = mine.address("a@example.com");
        mine.add(row);
    }
    { auto book = open(path, run_of(2)); }
    CHECK(ask_sql(path, "SELECT program FROM runs ORDER BY id") == "bhm postal");
    CHECK(ask_sql(path, "SELECT run FROM seen_messages") == "0000000000000002");
}
