// SPDX-License-Identifier: GPL-3.0-or-later
// What a ledger cannot know yet, and what tells copies, mailboxes and strangers apart.
#include "ledger/reader.hpp"

#include <algorithm>

#include "book.hpp"

using namespace ledger_test;

TEST_CASE("ledger report: uids are compared within a server and a UIDVALIDITY") {
    struct copy {
        const char* server;
        std::uint32_t validity;
        std::uint64_t uid;
    };
    struct row {
        std::string what;
        std::vector<copy> copies;
        std::uint64_t extra;
    };
    const row rows[]{
        {"a mailbox made anew", {{"one", 7, 1}, {"one", 8, 1}}, 0},
        {"with other uids", {{"one", 7, 1}, {"one", 8, 5}}, 0},
        {"in which there are two", {{"one", 7, 1}, {"one", 8, 5}, {"one", 8, 6}}, 1},
        {"two servers with the same uids", {{"one", 7, 1}, {"two", 7, 1}}, 1},
        {"two servers, one made anew", {{"one", 7, 1}, {"one", 9, 2}, {"two", 8, 1}}, 1},
    };
    for (const row& each : rows) {
        INFO(each.what);
        const folder here;
        book all(here / "b");
        all.sent(0, "a");
        for (const copy& one : each.copies) {
            seen_row& seen = all.seen(0, "a");
            seen.through = way::imap;
            seen.server = all.address(one.server);
            seen.uid_validity = one.validity;
            seen.uid = one.uid;
            seen.what = condition::truncated;
        }
        const told got = all.report(discrepancy::duplicated);
        CHECK(got.totals.duplicated == (each.extra > 0 ? 1 : 0));
        CHECK(got.totals.extra_copies == each.extra);
        CHECK(got.rows.size() == each.extra);
        CHECK(got.totals.all_corrupt() == each.extra + 1);
    }
}

TEST_CASE("ledger report: places of a mailbox made anew say nothing of the order") {
    const folder here;
    book all(here / "b");
    all.sent(0, "a").sent(1, "a");
    for (const std::uint64_t sequence : {0, 1}) {
        seen_row& seen = all.seen(sequence, "a");
        seen.through = way::imap;
        seen.uid_validity = 7 + static_cast<std::uint32_t>(sequence);
        seen.uid = seen.place = 9 - sequence;
    }
    CHECK(all.report().totals.out_of_order == 0);
}

TEST_CASE("ledger report: what an observer without an end may have seen is not known yet") {
    struct row {
        std::string what;
        std::string observers;  // role, start, horizon in seconds, end
        std::uint64_t lost, not_known;
    };
    const row rows[]{
        {"all have ended", "('b', 'sink', 0, 400, 400)", 3, 0},
        {"the horizon lies behind the first", "('b', 'sink', 0, 150, NULL)", 1, 2},
        {"and too near to the second", "('b', 'sink', 0, 200.5, NULL)", 1, 2},
        {"and behind the second", "('b', 'sink', 0, 202, NULL)", 2, 1},
        {"another has ended", "('b', 'sink', 0, 150, NULL), ('c', 'sink', 0, 400, 400)", 1, 2},
        {"another came long after it", "('b', 'sink', 0, 150, NULL), ('c', 'sink', 250, 400, 400)",
         2, 1},
        {"another came while it lived", "('b', 'sink', 0, 150, NULL), ('c', 'sink', 149, 400, 400)",
         1, 2},
        {"a reader that has not looked everywhere", "('b', 'reader', 0, 900, NULL)", 0, 3},
        {"another looked after it", "('b', 'reader', 0, 350, NULL), ('c', 'reader', 400, 500, 500)",
         3, 0},
        {"or is still at it", "('b', 'reader', 0, 350, NULL), ('c', 'reader', 400, 500, NULL)", 0,
         3},
        {"a sender sees nothing", "('b', 'sender', 0, 150, NULL)", 3, 0},
    };
    for (const row& each : rows) {
        INFO(each.what);
        const folder here;
        book all(here / "b");
        for (const std::uint64_t sequence : {0, 1, 2, 3})
            all.sent(sequence, "a");
        all.seen(3, "a");
        all.report();
        run_sql(
            here / "b",
            "UPDATE sent SET time_us = (sequence + 1) * 100000000;"
            "WITH o(run, role, started, horizon, ended) AS (VALUES" +
                each.observers +
                ") "
                "INSERT INTO runs(run, program, role, started, horizon_us, ended_us) SELECT run, "
                "role, role, strftime('%Y-%m-%dT%H:%M:%S.000Z', started, 'unixepoch'), "
                "horizon * 1000000, ended * 1000000 FROM o");
        const told got = report(here / "b", discrepancy::not_known);
        CHECK(got.totals.lost == each.lost);
        CHECK(got.totals.not_known == each.not_known);
        CHECK(got.totals.found == 1);
        CHECK(got.rows.size() == each.not_known);
        CHECK(got.totals.broken_promise() == (each.lost > 0));
    }
}

TEST_CASE("ledger report: a sender without an end may yet say that it has sent what was seen") {
    const folder here;
    book all(here / "b");
    all.sent(0, "a");
    all.seen(0, "a");
    all.seen(0, "b").time_us = 2'000'000;
    all.seen(1, "a");
    const told before = all.report();
    CHECK(before.totals.unknown == 1);
    CHECK(before.totals.misdelivered == 1);
    CHECK(!before.runs[0].ended.empty());
    run_sql(here / "b", "UPDATE runs SET ended_us = NULL, horizon_us = 2000000");
    const told got = report(here / "b");
    CHECK(got.totals.unknown == 0);
    CHECK(got.totals.misdelivered == 0);
    CHECK(got.totals.unwritten == 2);
    CHECK(got.runs[0].ended.empty());
    run_sql(here / "b", "UPDATE runs SET horizon_us = 4000000");
    CHECK(report(here / "b").totals.misdelivered == 1);
}

TEST_CASE("ledger report: mail of the original postal belongs to no run") {
    const folder here;
    book all(here / "b");
    all.sent(0, "a");
    all.seen(0, "a");
    for (const condition what : {condition::original, condition::original_corrupt,
                                 condition::truncated, condition::foreign}) {
        seen_row& row = all.seen(0, "a");
        row.run = 0;
        row.what = what;
    }
    const told got = all.report(discrepancy::corrupt);
    CHECK(got.totals.original == 2);
    CHECK(got.totals.foreign == 1);
    CHECK(got.totals.all_corrupt() == 2);
    CHECK(got.totals.unknown == 0);
    CHECK(got.totals.corrupt_acknowledged == 0);
    CHECK(got.runs.size() == 1);
    REQUIRE(got.rows.size() == 2);
    CHECK(got.rows[0].run.empty());
    CHECK(ask_sql(here / "b", "SELECT count(*) FROM runs") == "1");
}
