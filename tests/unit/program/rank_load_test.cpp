// SPDX-License-Identifier: GPL-3.0-or-later
#include "program/rank_load.hpp"
#include "program/haste.hpp"

#include <catch2/catch.hpp>

#include <string>
#include <utility>

using namespace postal;
using namespace std::chrono_literals;

TEST_CASE("ranks: what must be the same at all of them") {
    stats::run_description run;
    run.seed = 7;
    run.options = {{"config", std::string("mine.conf")},
                   {"sessions", std::uint64_t{4}},
                   {"rate", std::string("100")},
                   {"sizes", std::vector<std::string>{"1k", "2k"}}};
    CHECK(program::load_of(run) == "--seed 7\n--rate 100\n--sessions 4\n--sizes 1k 2k\n");
    auto other = run;
    other.options["config"] = std::string("theirs.conf");
    CHECK(program::load_of(other) == program::load_of(run));
    other.options["sessions"] = std::uint64_t{5};
    CHECK(program::load_of(other) != program::load_of(run));
}

TEST_CASE("ranks: each writes files of its own") {
    const std::pair<std::string, std::string> rows[] = {
        {"", ""},
        {"-", ""},
        {"out.json", "out.rank-2.json"},
        {"out", "out.rank-2"},
        {"results.d/out", "results.d/out.rank-2"},
        {"results.d/.hidden", "results.d/.hidden.rank-2"},
        {"a.b.ledger", "a.b.rank-2.ledger"},
    };
    for (const auto& [file, own] : rows)
        CHECK(program::file_of_rank(file, 2) == own);
}

TEST_CASE("ranks: in haste what is in flight is cut short once, and not at once") {
    program::haste none;
    const program::haste::time start{1000h};
    CHECK_FALSE(none.since(start));
    CHECK_FALSE(none.cuts_short(start));

    program::haste of;
    of.begin(start);
    of.begin(start + 1h);  // it has begun
    CHECK(of.since(start + 10ms) == std::chrono::nanoseconds(10ms));
    CHECK_FALSE(of.cuts_short(start + program::haste::grace - 1ns));
    CHECK(of.cuts_short(start + program::haste::grace));
    CHECK_FALSE(of.cuts_short(start + 1h));
}
