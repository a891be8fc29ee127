// SPDX-License-Identifier: GPL-3.0-or-later
// What a listener is told of each message, and of its recipient's domain.
#include <map>

#include "book.hpp"
#include "ledger/recipient_domains.hpp"

using namespace ledger_test;

namespace {

struct noted {
    std::string domain;
    outcome sent = outcome::accepted;
    finding what = finding::found;
    std::int64_t first_us = 0;
    std::size_t copies = 0;
    bool operator==(const noted&) const = default;
};

// By the number of the row.
std::map<std::int64_t, noted> judge(const std::string& path,
                                    const std::vector<std::string>& domains) {
    std::map<std::int64_t, noted> result;
    auto file = reader::open(path);
    REQUIRE(file.has_value());
    questions wanted;
    wanted.domains = domains;
    wanted.on_judged = [&](const judgement& one, std::size_t domain) {
        result[one.sent->number] = {.domain = domain < domains.size() ? domains[domain] : "other",
                                    .sent = one.sent->what,
                                    .what = one.what,
                                    .first_us = one.first == nullptr ? 0 : one.first->time_us,
                                    .copies = one.copies};
    };
    REQUIRE(file->reconcile(wanted).has_value());
    return result;
}

}  // namespace

TEST_CASE("ledger report: each acknowledged or found message is told of once") {
    const folder here;
    book all(here / "b");
    all.sent(0, "a@one").sent(1, "b@one").sent(2, "c@two").sent(3, "d@three");
    all.sent(4, "e@one", outcome::in_doubt).sent(5, "f@one", outcome::rejected);
    all.seen(0, "a@one").time_us = 70'000;
    all.seen(0, "a@one").time_us = 60'000;
    all.seen(2, "x@nine").time_us = 80'000;
    all.seen(3, "d@three").time_us = 90'000;
    all.seen(4, "e@one").time_us = 95'000;
    all.report();
    const auto got = judge(here / "b", {"one", "two"});
    REQUIRE(got.size() == 5);
    CHECK(got.at(1) == noted{"one", outcome::accepted, finding::found, 60'000, 2});
    CHECK(got.at(2) == noted{"one", outcome::accepted, finding::lost, 0, 0});
    CHECK(got.at(3) == noted{"two", outcome::accepted, finding::misplaced, 80'000, 0});
    CHECK(got.at(4) == noted{"other", outcome::accepted, finding::found, 90'000, 1});
    CHECK(got.at(5) == noted{"one", outcome::in_doubt, finding::found, 95'000, 1});
}

TEST_CASE("ledger report: what a sink without an end may have is not known") {
    const folder here;
    book all(here / "b");
    all.sent(0, "a@one");
    all.report();
    run_sql(here / "b",
            "INSERT INTO runs(run, program, role, started, horizon_us) "
            "VALUES('b', 'bhm', 'sink', '1970-01-01T00:00:00.000Z', 0)");
    CHECK(judge(here / "b", {"one"}).at(1).what == finding::not_known);
}

TEST_CASE("ledger domains: the largest ones, however addresses look") {
    const folder here;
    {
        book all(here / "b");
        std::uint64_t sequence = 0;
        const auto send = [&](const std::string& to, int count, outcome what = outcome::accepted) {
            for (int each = 0; each < count; ++each)
                all.sent(sequence++, to, what);
        };
        send("a@few", 1);
        send("a@many", 2);
        send("b@many", 2);
        send("\"x@many\"@quoted", 3);
        send("postmaster", 2);
        send("a@refused", 9, outcome::rejected);
        send(std::string(2000, 'x') + "@long", 1);
        all.report();
    }
    auto file = reader::open(here / "b");
    REQUIRE(file.has_value());
    const auto of = [&](std::size_t most) {
        const auto names = file->largest_domains(most);
        REQUIRE(names.has_value());
        return *names;
    };
    // Of as many the first in the alphabet: "" has 3, as "quoted" has.
    CHECK(of(20) == std::vector<std::string>{"many", "", "quoted", "few"});
    CHECK(of(1) == std::vector<std::string>{"many"});

    auto raw = database::open(here / "b", SQLITE_OPEN_READWRITE);
    REQUIRE(raw.has_value());
    auto domains = recipient_domains::look_up(*raw, {"quoted", ""});
    REQUIRE(domains.has_value());
    const auto place_of = [&](const std::string& address) {
        auto ask = raw->prepare("SELECT id FROM addresses WHERE address = ?1");
        REQUIRE(ask.has_value());
        ask->bind(1, std::string_view(address));
        REQUIRE(ask->step() == SQLITE_ROW);
        return domains->place_of(ask->number(0));
    };
    for (int twice = 0; twice < 2; ++twice) {
        CHECK(place_of("\"x@many\"@quoted") == 0);
        CHECK(place_of("postmaster") == 1);
        CHECK(place_of("a@many") == 2);
    }
    for (const std::int64_t unheard : {-1, 0, 1'000'000})
        CHECK(domains->place_of(unheard) == 2);
    CHECK(domains->result() == SQLITE_OK);
}

TEST_CASE("ledger report: a domain that cannot be read is a failure, and no other domain") {
    const folder here;
    book all(here / "b");
    all.sent(0, "a@one").sent(1, "a@two");
    all.report();
    auto raw = database::open(here / "b", SQLITE_OPEN_READWRITE);
    REQUIRE(raw.has_value());
    auto domains = recipient_domains::look_up(*raw, {"one", "two"});
    REQUIRE(domains.has_value());
    run_sql(here / "b", "DROP TABLE addresses");
    domains->place_of(1);
    CHECK(domains->result() == SQLITE_ERROR);
    CHECK(domains->place_of(2) == 2);
    CHECK(domains->result() == SQLITE_ERROR);
}
