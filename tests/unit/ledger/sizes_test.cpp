// SPDX-License-Identifier: GPL-3.0-or-later
// What was found by the sizes of messages, also where a ledger has none.
#include <filesystem>

#include "book.hpp"
#include "ledger/size_class.hpp"

using namespace ledger_test;

namespace {

struct said {
    summary totals;
    std::vector<discrepancy_row> rows;
    breakdown where;
};

said read(const std::vector<std::string>& paths) {
    auto book = reader::open(paths);
    INFO((book ? std::string() : book.error().message));
    REQUIRE(book.has_value());
    said result;
    questions wanted;
    wanted.list_all = true;
    wanted.on_row = [&](const discrepancy_row& row) { result.rows.push_back(row); };
    auto listed = book->reconcile(wanted);
    INFO((listed ? std::string() : listed.error().message));
    REQUIRE(listed.has_value());
    questions with_examples;
    with_examples.examples = 5;
    auto broken_down = book->reconcile(with_examples);
    REQUIRE(broken_down.has_value());
    result.totals = broken_down->totals;
    result.where = broken_down->where;
    return result;
}

std::uint64_t lost(const counted_size& of) {
    return of.found[static_cast<std::size_t>(discrepancy::lost)];
}

}  // namespace

TEST_CASE("ledger sizes: each class is twice as wide as the one before") {
    const struct {
        std::int64_t octets;
        std::size_t which;
        const char* why;
    } rows[]{{0, 0, "empty"},
             {1023, 0, "the last below 1K"},
             {1024, 1, "the first of 1K"},
             {2047, 1, "the last below 2K"},
             {2048, 2, "the first of 2K"},
             {10 * 1024, 4, "10K is in 8K to 16K"},
             {64 * 1024 * 1024 - 1, 16, "the last below 64M"},
             {64 * 1024 * 1024, 17, "64M or more"},
             {std::numeric_limits<std::int64_t>::max(), 17, "of a tampered ledger"},
             {size_not_recorded, class_of_no_size, "not recorded"},
             {std::numeric_limits<std::int64_t>::min(), class_of_no_size, "of a tampered ledger"}};
    for (const auto& row : rows) {
        INFO(row.why);
        CHECK(size_class_of(row.octets) == row.which);
    }
    for (std::size_t which = 0; which < class_of_no_size; ++which)
        CHECK(size_class_of(static_cast<std::int64_t>(least_octets(which))) == which);
}

TEST_CASE("ledger sizes: what is lost is counted in the class of the message") {
    const folder here;
    {
        book all(here / "b");
        all.sent(0, "a", outcome::accepted, 0, 500).sent(1, "a", outcome::accepted, 0, 5000);
        all.sent(2, "a", outcome::accepted, 0, 5001).sent(3, "a", outcome::rejected, 0, 5002);
        all.seen(0, "a");
        all.seen(1, "a").what = condition::truncated;
        all.seen(9, "a");  // nobody has sent it
        auto& foreign = all.seen(0, "a");
        foreign.what = condition::unreadable;
        all.report();
    }
    run_sql(here / "b", "UPDATE runs SET ended_us = 3000000000000000, horizon_us = ended_us");
    auto sink = open(here / "sink", [] {
        run_entry one = run_of(7, "bhm");
        one.is = role::sink;
        return one;
    }());
    REQUIRE(sink->close().has_value());
    const said got = read({here / "b", here / "sink"});
    CHECK(got.totals.sizes[0].acknowledged == 1);
    CHECK(got.totals.sizes[3].acknowledged == 2);  // 4K to 8K
    CHECK(lost(got.totals.sizes[0]) == 0);
    CHECK(lost(got.totals.sizes[3]) == 1);
    const auto corrupt = static_cast<std::size_t>(discrepancy::corrupt);
    CHECK(got.totals.sizes[3].found[corrupt] == 1);
    CHECK(got.totals.sizes[class_of_no_size].found[corrupt] == 1);  // without an identity
    REQUIRE(got.rows.size() == 4);
    CHECK(got.rows[1].octets == "5000");
}

TEST_CASE("ledger sizes: older ledgers have none, alone and joined with newer ones") {
    const folder here;
    { book(here / "old").sent(0, "a", outcome::accepted, 0, 5000).sent(1, "b").report(); }
    make_older(here / "old", 4);
    { book(here / "new").sent(0, "a", outcome::accepted, 1, 5000).report(); }
    auto sink = open(here / "sink", [] {
        run_entry one = run_of(7, "bhm");
        one.is = role::sink;
        return one;
    }());
    REQUIRE(sink->close().has_value());
    const said alone = read({here / "old"});
    CHECK(alone.totals.sizes[class_of_no_size].acknowledged == 2);
    REQUIRE(alone.rows.size() == 2);
    CHECK(alone.rows[0].octets.empty());
    CHECK(alone.rows[0].recipient == "a");
    for (const auto& order : {std::vector{here / "old", here / "new", here / "sink"},
                              {here / "sink", here / "new", here / "old"}}) {
        const said both = read(order);
        CHECK(both.totals.lost == 3);
        CHECK(lost(both.totals.sizes[class_of_no_size]) == 2);
        CHECK(lost(both.totals.sizes[3]) == 1);
        CHECK(both.where.all_accounts == 2);
        CHECK(std::count_if(both.rows.begin(), both.rows.end(),
                            [](const auto& row) { return row.octets == "5000"; }) == 1);
    }
    const auto refused = writer::open(here / "old", run_of(9));
    REQUIRE(!refused.has_value());
    CHECK(refused.error().message.find("older version") != std::string::npos);
}
