// SPDX-License-Identifier: GPL-3.0-or-later
// Cuts and draws: which ones, how often, and that each can be had again.
#include "postal-audit/draws.hpp"

#include "../temporary_file.hpp"
#include "log_builder.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <set>
#include <string>

#include <catch2/catch.hpp>

using namespace postal;
using audit::survival;
using test::log_builder;

namespace {

audit::write_log log_of(const log_builder& builder) {
    const test::temporary_file file(builder.text());
    return audit::write_log::open(file.path()).value();
}

// A flush, then `writes` of eight sectors each, a discard among them.
audit::write_log unflushed(std::size_t writes) {
    log_builder builder;
    builder.write(0, "a").flushed();
    for (std::size_t i = 1; i < writes; ++i)
        builder.write(8 * i, "abcdefgh");
    return log_of(builder.entry(0, 8, test::discard));
}

std::vector<std::size_t> indices(const audit::draw& one) {
    std::vector<std::size_t> found;
    for (const audit::survivor& write : one.writes)
        found.push_back(write.index);
    return found;
}

}  // namespace

TEST_CASE("cuts: distinct, ascending, within bounds, the same from the same seed") {
    const auto log = unflushed(98);  // 100 entries
    REQUIRE(log.entries().size() == 100);
    const auto cuts = audit::choose_cuts(log, 10, 90, 20, 1);
    REQUIRE(cuts.size() == 20);
    CHECK(std::is_sorted(cuts.begin(), cuts.end()));
    CHECK(std::adjacent_find(cuts.begin(), cuts.end()) == cuts.end());
    CHECK(cuts.front() >= 10);
    CHECK(cuts.back() <= 90);
    CHECK(audit::choose_cuts(log, 10, 90, 20, 1) == cuts);
    CHECK(audit::choose_cuts(log, 10, 90, 20, 2) != cuts);

    CHECK(audit::choose_cuts(log, 5, 7, 3, 1) == std::vector<std::size_t>{5, 6, 7});
    CHECK(audit::choose_cuts(log, 5, 7, 100, 1) == std::vector<std::size_t>{5, 6, 7});
    CHECK(audit::choose_cuts(log, 99, 5000, 100, 1) == std::vector<std::size_t>{99, 100});
    CHECK(audit::choose_cuts(log, 7, 6, 100, 1).empty());
    CHECK(audit::choose_cuts(log, 101, 200, 100, 1).empty());
    CHECK(audit::choose_cuts(log, 0, 100, 0, 1).empty());
}

TEST_CASE("cuts: each place is as likely as the others") {
    const auto log = unflushed(18);  // 20 entries: cuts at 0 to 20
    std::array<unsigned, 21> chosen{};
    constexpr unsigned rounds = 7000;
    for (std::uint64_t seed = 0; seed < rounds; ++seed) {
        for (const std::size_t cut : audit::choose_cuts(log, 0, 20, 6, seed))
            ++chosen[cut];
    }
    // 2000 expected of each, standard deviation 38.
    for (const unsigned times : chosen) {
        CHECK(times > 1800);
        CHECK(times < 2200);
    }
}

TEST_CASE("draws: none, all, then subsets; each can be had again by itself") {
    const auto log = unflushed(60);
    const std::size_t cut = log.entries().size();
    const auto draws = audit::draws_of(cut, log, 12, 7, 20);
    REQUIRE(draws.size() >= 10);
    CHECK(draws[0].what == survival::none);
    CHECK(draws[0].writes.empty());
    CHECK(draws[1].what == survival::all);
    CHECK(indices(draws[1]) == log.at_risk(cut));
    const auto at_risk = log.at_risk(cut);
    for (const audit::draw& one : draws) {
        CHECK(one == audit::draw_of(cut, log, one.number, 7, 20));
        const auto found = indices(one);
        CHECK(std::includes(at_risk.begin(), at_risk.end(), found.begin(), found.end()));
        if (one.number < 2) continue;
        CHECK(one.what == survival::some);
        CHECK(one != audit::draw_of(cut, log, one.number, 8, 20));
        CHECK(one != audit::draw_of(cut - 1, log, one.number, 7, 20));
    }
    // Fewer draws are the first of more.
    const auto fewer = audit::draws_of(cut, log, 3, 7, 20);
    CHECK(std::equal(fewer.begin(), fewer.end(), draws.begin()));
    CHECK(audit::draws_of(cut, log, 1, 7, 20).size() == 1);
    CHECK(audit::draws_of(cut, log, 0, 7, 20).empty());
}

TEST_CASE("draws: where nothing is at risk there is one, and none twice") {
    const auto log = log_of(log_builder().write(0, "a").flushed().write(1, "b"));
    const auto safe = audit::draws_of(2, log, 10, 1, 0);
    REQUIRE(safe.size() == 1);
    CHECK(safe[0].what == survival::all);
    CHECK(safe[0].writes.empty());
    // One write survives or does not: random draws add nothing.
    const auto one_write = audit::draws_of(3, log, 50, 1, 0);
    REQUIRE(one_write.size() == 2);
    CHECK(one_write[0].what == survival::none);
    CHECK(one_write[1].what == survival::all);
}

TEST_CASE("draws: all shares survive as often, and each write half of the time") {
    const auto log = unflushed(99);
    const std::size_t cut = log.entries().size();
    constexpr unsigned rounds = 4000;
    const std::size_t at_risk = log.at_risk(cut).size();
    REQUIRE(at_risk == 99);
    std::array<unsigned, 10> by_share{};
    std::vector<unsigned> by_write(cut);
    for (std::uint64_t number = 2; number < rounds + 2; ++number) {
        const auto found = indices(audit::draw_of(cut, log, number, 3, 0));
        ++by_share[std::min<std::size_t>(found.size() * 10 / at_risk, 9)];
        for (const std::size_t index : found)
            ++by_write[index];
    }
    // 400 expected of each, standard deviation 19.
    for (const unsigned times : by_share) {
        CHECK(times > 300);
        CHECK(times < 500);
    }
    // 2000 expected; a share that is drawn for all of a draw's writes gives 32 of deviation.
    for (const std::size_t index : log.at_risk(cut)) {
        CHECK(by_write[index] > 1800);
        CHECK(by_write[index] < 2200);
    }
}

TEST_CASE(
    "draws: torn writes keep some of their sectors, never none or all, and discards are whole") {
    const auto log = unflushed(40);
    const std::size_t cut = log.entries().size();
    std::set<std::vector<std::uint64_t>> kept_sets;
    std::size_t survivors = 0;
    for (std::uint64_t number = 2; number < 300; ++number) {
        for (const audit::survivor& write : audit::draw_of(cut, log, number, 5, 100).writes) {
            if (log.entries()[write.index].discard) {
                CHECK(write.torn.empty());
                continue;
            }
            ++survivors;
            REQUIRE_FALSE(write.torn.empty());
            std::vector<std::uint64_t> kept;
            std::uint64_t behind = 0;
            for (const audit::sector_run& run : write.torn) {
                REQUIRE(run.sectors > 0);
                REQUIRE((run.first > behind || (run.first == 0 && kept.empty())));
                for (std::uint64_t i = 0; i < run.sectors; ++i)
                    kept.push_back(run.first + i);
                behind = run.first + run.sectors;
            }
            REQUIRE(behind <= 8);
            REQUIRE(kept.size() < 8);
            kept_sets.insert(kept);
        }
    }
    REQUIRE(survivors > 3000);
    CHECK(kept_sets.count({0}) == 1);
    CHECK(kept_sets.count({0, 1, 2, 3, 4, 5, 6}) == 1);
    CHECK(kept_sets.count({7}) == 1);
    CHECK(kept_sets.size() > 100);
}

TEST_CASE("draws: as many writes are torn as was asked, the first two draws have none") {
    const auto log = unflushed(100);
    const std::size_t cut = log.entries().size();
    const auto torn_in = [&](std::uint64_t number, unsigned percent) {
        std::pair<double, double> counts;  // torn, all
        for (const audit::survivor& write : audit::draw_of(cut, log, number, 9, percent).writes) {
            counts.first += write.torn.empty() ? 0 : 1;
            counts.second += 1;
        }
        return counts;
    };
    CHECK(torn_in(1, 100).first == 0);
    double torn = 0;
    double all = 0;
    for (std::uint64_t number = 2; number < 202; ++number) {
        const auto counts = torn_in(number, 20);
        torn += counts.first;
        all += counts.second;
        CHECK(torn_in(number, 0).first == 0);
    }
    CHECK(torn / all == Approx(0.2).margin(0.02));
    // A write of one sector is there or is not.
    const auto small = log_of(log_builder().flushed().write(0, "a").write(1, "b"));
    for (const audit::draw& one : audit::draws_of(3, small, 20, 1, 100)) {
        for (const audit::survivor& write : one.writes)
            CHECK(write.torn.empty());
    }
}
