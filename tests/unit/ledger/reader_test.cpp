// SPDX-License-Identifier: GPL-3.0-or-later
#include "ledger/reader.hpp"

#include <algorithm>
#include <limits>

#include "book.hpp"

using namespace ledger_test;

TEST_CASE("ledger report: a clean run") {
    const folder here;
    book all(here / "b");
    all.sent(0, "a").sent(0, "b").sent(1, "a");
    all.seen(0, "A").time_us = 5100;
    all.seen(0, "b");
    all.seen(1, "a");
    const told got = all.report();
    CHECK(got.totals.acknowledged() == 3);
    CHECK(got.totals.found == 3);
    CHECK(got.totals.sightings == 3);
    CHECK(!got.totals.broken_promise());
    CHECK(got.rows.empty());
    CHECK(got.deliveries_us.size() == 3);
    CHECK(std::count(got.deliveries_us.begin(), got.deliveries_us.end(), 5000) == 1);
    REQUIRE(got.runs.size() == 1);
    CHECK(got.runs[0].sent == 3);
    CHECK(got.runs[0].seen == 3);
}

TEST_CASE("ledger report: lost is what was acknowledged and seen nowhere") {
    const folder here;
    book all(here / "b");
    all.sent(0, "a").sent(0, "b").sent(1, "a", outcome::rejected).sent(2, "a", outcome::in_doubt);
    all.seen(0, "a");
    const told got = all.report();
    CHECK(got.totals.lost == 1);
    CHECK(got.totals.found == 1);
    CHECK(got.totals.broken_promise());
    REQUIRE(got.rows.size() == 1);
    CHECK(got.rows[0].sequence == "0");
    CHECK(got.rows[0].recipient == "b");
    CHECK(got.rows[0].sender == "from");
    CHECK(got.rows[0].outcome == "accepted");
    CHECK(got.rows[0].seen.empty());
}

TEST_CASE("ledger report: times at the ends of 64 bits are far apart, and no more") {
    const folder here;
    book all(here / "b");
    all.sent(0, "a");
    seen_row& row = all.seen(0, "a");
    row.time_us = std::numeric_limits<std::int64_t>::max();
    row.sent_us = std::uint64_t{1} << 63U;  // the least that there is
    const told got = all.report();
    CHECK(got.totals.found == 1);
    REQUIRE(got.deliveries_us.size() == 1);
    CHECK(got.deliveries_us[0] == std::numeric_limits<std::int64_t>::max());
}

TEST_CASE("ledger report: what was not acknowledged and is there") {
    const folder here;
    book all(here / "b");
    for (std::uint64_t each = 0; each < 5; ++each) {
        all.sent(each, "a", static_cast<outcome>(each));
        all.seen(each, "a");
    }
    const told got = all.report(discrepancy::unacknowledged);
    CHECK(got.totals.all_unacknowledged() == 4);
    CHECK(got.totals.unacknowledged == std::array<std::uint64_t, 5>{0, 1, 1, 1, 1});
    CHECK(!got.totals.broken_promise());
    REQUIRE(got.rows.size() == 4);
    CHECK(got.rows[3].outcome == "in_doubt");
    CHECK(got.rows[3].mailbox == "a");
}

TEST_CASE("ledger report: duplicates are copies, not sightings") {
    struct row {
        std::string what;
        way through;
        std::uint64_t first_uid, second_uid;
        std::uint64_t duplicated;
    };
    const row rows[]{
        {"received twice", way::smtp, 0, 0, 1},
        {"received twice over LMTP", way::lmtp, 0, 0, 1},
        {"one stored message seen twice", way::imap, 7, 7, 0},
        {"two stored messages", way::imap, 7, 8, 1},
        {"no uids, one reader", way::pop3, 0, 0, 1},
    };
    for (const row& each : rows) {
        INFO(each.what);
        const folder here;
        book all(here / "b");
        all.sent(0, "a");
        for (const std::uint64_t uid : {each.first_uid, each.second_uid}) {
            seen_row& seen = all.seen(0, "a");
            seen.through = each.through;
            seen.uid = uid;
        }
        const told got = all.report(discrepancy::duplicated);
        CHECK(got.totals.duplicated == each.duplicated);
        CHECK(got.totals.extra_copies == each.duplicated);
        CHECK(got.rows.size() == each.duplicated);
        CHECK(got.totals.found == 1);
        CHECK(!got.totals.broken_promise());
    }
}

TEST_CASE("ledger report: copies that two protocols show are not added up") {
    const folder here;
    book all(here / "b");
    all.sent(0, "a");
    seen_row& pop = all.seen(0, "a");
    pop.through = way::pop3;
    pop.uid = 99;
    pop.what = condition::dot_lost;
    seen_row& imap = all.seen(0, "a");
    imap.through = way::imap;
    imap.uid = 1;
    imap.what = condition::dot_lost;
    const told got = all.report();
    CHECK(got.totals.duplicated == 0);
    CHECK(got.totals.all_corrupt() == 1);
}

TEST_CASE("ledger report: each kind of damage is named") {
    constexpr auto with_identity = static_cast<std::size_t>(condition::original);
    const folder here;
    book all(here / "b");
    std::uint64_t sequence = 0;
    for (std::size_t kind = 3; kind < with_identity; ++kind) {
        all.sent(sequence, "a");
        seen_row& seen = all.seen(sequence++, "a");
        seen.what = static_cast<condition>(kind);
        seen.detail = "at octet 17";
    }
    const told got = all.report(discrepancy::corrupt);
    for (std::size_t kind = 3; kind < with_identity; ++kind)
        CHECK(got.totals.corrupt[kind] == 1);
    CHECK(got.totals.all_corrupt() == 10);
    CHECK(got.totals.lost == 1);  // the one whose identity cannot be read
    CHECK(got.totals.corrupt_acknowledged == 9);
    CHECK(got.totals.original == 0);
    REQUIRE(got.rows.size() == 10);
    CHECK(got.rows[0].condition == "unreadable");
    CHECK(got.rows[0].sequence.empty());
    CHECK(got.rows[9].condition == "header_changed");
    CHECK(got.rows[9].detail == "at octet 17");
    CHECK(got.rows[9].recipient == "a");
}

TEST_CASE("ledger report: misdelivered, and what that explains") {
    const folder here;
    book all(here / "b");
    all.sent(0, "a").sent(0, "b").sent(0, "c");  // b's copy lies in x's box, c's nowhere
    all.sent(1, "a");                            // also in x's box
    all.seen(0, "a");
    all.seen(0, "x");
    all.seen(1, "a");
    all.seen(1, "x");
    const told got = all.report(discrepancy::misdelivered);
    CHECK(got.totals.misdelivered == 2);
    CHECK(got.totals.misplaced == 1);
    CHECK(got.totals.lost == 1);
    CHECK(got.totals.found == 2);
    CHECK(got.totals.acknowledged() == 4);
    REQUIRE(got.rows.size() == 2);
    CHECK(got.rows[0].recipient.empty());
    CHECK(got.rows[0].mailbox == "x");
    CHECK(got.rows[1].recipient == "b");
    const told misplaced = report(here / "b", discrepancy::misplaced);
    REQUIRE(misplaced.rows.size() == 1);
    CHECK(misplaced.rows[0].recipient == "b");
    CHECK(misplaced.rows[0].mailbox == "x");
}

TEST_CASE("ledger report: out of order is what was seen after a later one") {
    struct row {
        std::string what;
        std::vector<std::uint64_t> seen;  // sequences in the order of sighting
        std::vector<std::string> late;
    };
    const row rows[]{
        {"in order", {0, 1, 2, 3}, {}},
        {"two changed places", {0, 2, 1, 3}, {"1"}},
        {"the first came last", {1, 2, 3, 0}, {"0"}},
        {"the last came first", {3, 0, 1, 2}, {"0", "1", "2"}},
        {"gaps are no disorder", {0, 3}, {}},
    };
    for (const row& each : rows) {
        INFO(each.what);
        const folder here;
        book all(here / "b");
        for (std::uint64_t sequence = 0; sequence < 4; ++sequence)
            all.sent(sequence, "a");
        for (const std::uint64_t sequence : each.seen)
            all.seen(sequence, "a");
        const told got = all.report(discrepancy::out_of_order);
        std::vector<std::string> late;
        for (const discrepancy_row& one : got.rows)
            late.push_back(one.sequence);
        CHECK(late == each.late);
        CHECK(got.totals.out_of_order == each.late.size());
    }
}

TEST_CASE("ledger report: the mailbox's own order counts more than time") {
    const folder here;
    book all(here / "b");
    all.sent(0, "a").sent(1, "a");
    all.seen(1, "a").place = 2;
    all.seen(0, "a").place = 1;
    CHECK(all.report().totals.out_of_order == 0);
}

TEST_CASE("ledger report: other sessions, senders and boxes have no order") {
    const folder here;
    book all(here / "b");
    all.sent(0, "a").sent(1, "b").sent(2, "a", outcome::accepted, 1);
    seen_row& other = all.seen(2, "a");
    other.session = 1;
    all.seen(1, "b");
    all.seen(0, "a");
    const told got = all.report();
    CHECK(got.totals.found == 3);
    CHECK(got.totals.out_of_order == 0);
}

TEST_CASE("ledger report: strangers") {
    const folder here;
    book all(here / "b");
    all.seen(0, "a").what = condition::foreign;
    all.seen(1, "a");              // nobody sent it
    all.seen(2, "a").run = 0xfff;  // another ledger's
    all.sent(3, "a");
    all.seen(3, "a").what = condition::unchecked;
    const told got = all.report();
    CHECK(got.totals.foreign == 1);
    CHECK(got.totals.unknown == 2);
    CHECK(got.totals.unchecked == 1);
    CHECK(got.totals.found == 1);
    CHECK(!got.totals.broken_promise());
    CHECK(got.runs.size() == 1);
}

TEST_CASE("ledger report: clocks that differ are noticed") {
    const folder here;
    book all(here / "b");
    all.sent(0, "a");
    all.seen(0, "a").sent_us = 1'000'000;
    CHECK(all.report().totals.seen_before_sent == 1);
}

TEST_CASE("ledger report: a damaged file is refused, numbers out of range are skipped") {
    const folder here;
    {
        book all(here / "b");
        all.sent(0, "a").sent(1, "a");
        all.seen(0, "a");
        all.report();
    }
    run_sql(here / "b",
            "UPDATE sent SET outcome = 99 WHERE sequence = 1; "
            "INSERT INTO seen SELECT 77, observer, run, session, sequence, mailbox, "
            "1000, 99, NULL, 0, 0, 0, NULL, 0, 0, 1, 99, 0, 0 FROM seen");
    const told got = report(here / "b");
    CHECK(got.totals.acknowledged() == 1);
    CHECK(got.totals.duplicated == 0);
}

TEST_CASE("ledger report: examples, and whose and when what was found is") {
    const folder here;
    book all(here / "b");
    all.sent(0, "a").sent(1, "b").sent(2, "b").sent(3, "c");
    all.sent(5'000'000, "c").sent(90'000'000, "c");
    for (const std::uint64_t each : {3, 90'000'000}) {
        seen_row& row = all.seen(each, "c");
        row.what = each == 3 ? condition::octet_changed : condition::verified;
        row.detail = each == 3 ? "octet 4" : "";
    }
    (void)all.report();
    auto opened = reader::open(here / "b");
    REQUIRE(opened.has_value());
    questions wanted;
    wanted.examples = 3;
    const auto said = opened->reconcile(wanted);
    REQUIRE(said.has_value());
    const breakdown& where = said->where;
    REQUIRE(where.examples.size() == 2);
    CHECK(where.examples[0].what == discrepancy::lost);
    CHECK(where.examples[0].count == 4);
    REQUIRE(where.examples[0].rows.size() == 3);
    CHECK(where.examples[0].rows[2].recipient == "b");
    CHECK(where.examples[1].what == discrepancy::corrupt);
    REQUIRE(where.examples[1].rows.size() == 1);
    CHECK(where.examples[1].rows[0].detail == "octet 4");
    // Of "b" and "c" two are not as they should be, of "a" one.
    CHECK(where.all_accounts == 3);
    REQUIRE(where.accounts.size() == 3);
    CHECK(where.accounts[0].name == "b");
    CHECK(where.accounts[0].found[0] == 2);
    CHECK(where.accounts[1].name == "c");
    CHECK(where.accounts[2].found[0] == 1);
    // Two seconds are the least width of which at most 60 cover 90 s.
    CHECK(where.width_us == 2'000'000);
    REQUIRE(where.times.size() == 46);
    CHECK(where.times[0].from == "1970-01-01T00:00:00Z");
    CHECK(where.times[0].acknowledged == 4);
    CHECK(where.times[0].found[0] == 3);
    CHECK(where.times[2].found[0] == 1);
    CHECK(where.times[45].acknowledged == 1);
    CHECK(reader::open(here / "b")->reconcile({})->where.examples.empty());
}
