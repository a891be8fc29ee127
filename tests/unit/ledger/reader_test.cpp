#include "ledger/reader.hpp"

#include "support.hpp"

#include <algorithm>
#include <deque>

using namespace ledger_test;

namespace {

// A ledger that is written row by row in the words of a test.
class book {
  public:
    explicit book(const std::string& path) : path_(path), writer_(open(path, run_of(1))) {
        row_buffer_ = std::make_unique<row_buffer>(*writer_);
    }

    book& sent(std::uint64_t sequence, const std::string& to, outcome what = outcome::accepted,
               std::uint64_t session = 0) {
        sent_row row;
        row.session = session;
        row.sequence = sequence;
        row.recipient = row_buffer_->address(to);
        row.sender = row_buffer_->address("from");
        row.what = what;
        row.time_us = 1000 + sequence;
        row_buffer_->add(row);
        return *this;
    }
    seen_row& seen(std::uint64_t sequence, const std::string& in) {
        seen_row row;
        row.run = 1;
        row.sequence = sequence;
        row.mailbox = row_buffer_->address(in);
        row.sent_us = 100;
        row.time_us = ++clock_;
        waiting_.push_back(row);
        return waiting_.back();
    }
    address_id address(const std::string& text) { return row_buffer_->address(text); }
    told report(discrepancy list = discrepancy::lost) {
        for (seen_row& row : waiting_) {
            if (row.what == condition::foreign || row.what == condition::unreadable) row.run = 0;
            row_buffer_->add(row);
        }
        row_buffer_.reset();
        REQUIRE(writer_->close().has_value());
        return ledger_test::report(path_, list);
    }

  private:
    std::string path_;
    std::unique_ptr<writer> writer_;
    std::unique_ptr<row_buffer> row_buffer_;
    std::deque<seen_row> waiting_;
    std::uint64_t clock_ = 10'000;
};

}  // namespace

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
            "1000, 99, NULL, 0, 0, 0, NULL, 0, 0 FROM seen");
    const told got = report(here / "b");
    CHECK(got.totals.acknowledged() == 1);
    CHECK(got.totals.duplicated == 0);
}
