// SPDX-License-Identifier: GPL-3.0-or-later
// Several ledgers read as one.
#include "ledger/joined.hpp"

#include "book.hpp"

using namespace ledger_test;

namespace {

told report_all(const std::vector<std::string>& paths) {
    told result;
    auto book = reader::open(paths);
    INFO((book ? std::string() : book.error().message));
    REQUIRE(book.has_value());
    questions wanted;
    wanted.list = discrepancy::lost;
    wanted.on_row = [&](const discrepancy_row& row) { result.rows.push_back(row); };
    auto said = book->reconcile(wanted);
    REQUIRE(said.has_value());
    result.totals = said->totals;
    result.runs = said->runs;
    return result;
}

}  // namespace

TEST_CASE("ledgers: the ranks' files and a reader's are one") {
    const folder here;
    {
        book first(here / "0");  // sends as run 1, session 0
        first.sent(0, "a").sent(1, "b");
        first.report();
        book second(here / "1");  // the same run, session 1; its addresses have other numbers
        second.sent(0, "c", outcome::accepted, 1).sent(1, "b", outcome::accepted, 1);
        second.report();
        auto third = open(here / "2", run_of(2, "rabid"));
        auto rows = std::make_unique<row_buffer>(*third);
        for (const auto& [session, sequence, mailbox] :
             {std::tuple{0U, 0U, "a"}, {1U, 0U, "c"}, {1U, 1U, "b"}}) {
            seen_row row;
            row.run = 1;
            row.session = session;
            row.sequence = sequence;
            row.mailbox = rows->address(mailbox);
            row.sent_us = 100;
            row.time_us = 20'000;
            rows->add(row);
        }
        rows.reset();
        REQUIRE(third->close().has_value());
    }
    const told got = report_all({here / "0", here / "1", here / "2"});
    CHECK(got.totals.acknowledged() == 4);
    CHECK(got.totals.found == 3);
    CHECK(got.totals.lost == 1);
    CHECK(got.totals.unknown == 0);
    REQUIRE(got.rows.size() == 1);
    CHECK(got.rows[0].recipient == "b");
    CHECK(got.rows[0].session == "0");
    REQUIRE(got.runs.size() == 2);
    CHECK(got.runs[0].sent + got.runs[1].sent == 4);
    CHECK(got.runs[0].seen + got.runs[1].seen == 3);
    for (const run_row& run : got.runs)
        CHECK(!run.ended.empty());
}

TEST_CASE("ledgers: a run has ended when it has in each file") {
    const folder here;
    book(here / "0").sent(0, "a").report();
    book(here / "1").sent(0, "a", outcome::accepted, 1).report();
    run_sql(here / "1", "UPDATE runs SET ended_us = NULL");
    for (const auto& order : {std::vector{here / "0", here / "1"}, {here / "1", here / "0"}}) {
        const told got = report_all(order);
        REQUIRE(got.runs.size() == 1);
        CHECK(got.runs[0].ended.empty());
        CHECK(got.runs[0].sent == 2);
    }
}

TEST_CASE("ledgers: what cannot be joined is named") {
    const folder here;
    book(here / "0").sent(0, "a").report();
    const auto twice = reader::open(std::vector{here / "0", (here / ".") + "/0"});
    REQUIRE(!twice.has_value());
    CHECK(twice.error().message.find("is given twice") != std::string::npos);
    const auto missing = reader::open(std::vector{here / "0", here / "none"});
    REQUIRE(!missing.has_value());
    CHECK(missing.error().message.find("none: ") != std::string::npos);
}

TEST_CASE(
    "ledgers: of the visits of one run the latest counts, in whatever order files are given") {
    const auto visit = [](const std::string& path, std::uint64_t began_us, extent what) {
        run_entry reader = run_of(2, "rabid");
        reader.is = role::reader;
        reader.notes_visits = true;
        auto book = open(path, reader);
        auto rows = std::make_unique<row_buffer>(*book);
        visit_row row;
        row.mailbox = rows->address("a");
        row.server = rows->address("one");
        row.what = what;
        row.began_us = began_us;
        row.ended_us = began_us + 5'000'000;
        rows->add(row);
        rows.reset();
        REQUIRE(book->close().has_value());
    };
    const struct {
        const char* why;
        extent what;
        std::uint64_t older_us, newer_us;
        std::uint64_t lost;  // of the message that was accepted at 1000 us, and that at 1001
    } rows[]{{"read again behind both", extent::complete, 500, 2000, 2},
             {"read again before them", extent::complete, 500, 999, 0},
             {"between them", extent::complete, 500, 1000, 1}};
    for (const auto& row : rows) {
        INFO(row.why);
        const folder here;
        book(here / "sent").sent(0, "a").sent(1, "a").report();
        visit(here / "older", row.older_us, row.what);
        visit(here / "newer", row.newer_us, row.what);
        for (const auto& order : {std::vector{here / "sent", here / "older", here / "newer"},
                                  {here / "newer", here / "older", here / "sent"}}) {
            const told got = report_all(order);
            CHECK(got.totals.lost == row.lost);
            CHECK(got.totals.not_looked_for == 2 - row.lost);
        }
    }
    const folder here;
    visit(here / "watch", 1000, extent::incoming);
    visit(here / "later", 9'000'000, extent::incoming);
    book(here / "during").sent(2'000'000, "a").report();  // accepted at 2,001,000 us
    for (const auto& order : {std::vector{here / "during", here / "watch", here / "later"},
                              {here / "later", here / "watch", here / "during"}})
        CHECK(report_all(order).totals.lost == 1);
}
