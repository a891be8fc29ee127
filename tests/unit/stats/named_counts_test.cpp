// SPDX-License-Identifier: GPL-3.0-or-later
#include "stats/named_counts.hpp"

#include <catch2/catch.hpp>

#include "stats/tally.hpp"

using namespace postal::stats;

TEST_CASE("named_counts: the most frequent first, merged, and forgotten but for the memory") {
    named_counts counts;
    CHECK(counts.empty());
    counts.add("PLAIN");
    counts.add("LOGIN", 2);
    counts.add("PLAIN", 3);
    named_counts other;
    other.add("EXTERNAL");
    other.clear();
    other.add("PLAIN");
    counts.merge(other);
    const auto found = counts.sorted();
    REQUIRE(found.size() == 2);
    CHECK(found[0].name == "PLAIN");
    CHECK(found[0].count == 5);
    CHECK(found[1].name == "LOGIN");
    CHECK(found[1].count == 2);
    counts.clear();
    CHECK(counts.empty());
    CHECK(counts.sorted().empty());
}

TEST_CASE("tally: authentications are merged and cleared with the rest") {
    tally one(1);
    tally other(1);
    other.authentications.add("PLAIN");
    CHECK_FALSE(other.empty());
    one.merge(other);
    CHECK(one.authentications.sorted().front().count == 1);
    one.clear();
    CHECK(one.empty());
}
