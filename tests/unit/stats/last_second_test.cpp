// SPDX-License-Identifier: GPL-3.0-or-later
#include "stats/last_second.hpp"

#include <catch2/catch.hpp>

#include <chrono>

using namespace postal;
using namespace std::chrono_literals;

namespace {

stats::time_slice slice(double start_s, double end_s, std::uint64_t messages) {
    stats::time_slice made(1);
    made.start_s = start_s;
    made.end_s = end_s;
    made.counts.messages = messages;
    for (std::uint64_t i = 0; i < messages; ++i)
        made.counts.latency[0].record(1ms);
    return made;
}

}  // namespace

TEST_CASE("last second: slices that are shorter come to whole seconds") {
    stats::last_second of(1);
    CHECK_FALSE(of.add(slice(0, 0.25, 10)));
    CHECK_FALSE(of.add(slice(0.25, 0.5, 20)));
    CHECK_FALSE(of.add(slice(0.5, 0.75, 30)));
    REQUIRE(of.add(slice(0.75, 1, 40)));
    CHECK(of.whole().start_s == 0);
    CHECK(of.whole().end_s == 1);
    CHECK(of.whole().counts.messages == 100);
    CHECK(of.whole().counts.latency[0].count() == 100);

    CHECK_FALSE(of.add(slice(1, 1.6, 1)));
    REQUIRE(of.add(slice(1.6, 2.6, 2)));  // one that is late
    CHECK(of.whole().start_s == 1);
    CHECK(of.whole().counts.messages == 3);
}

TEST_CASE("last second: one that is a second long is one") {
    stats::last_second of(1);
    for (int i = 0; i < 3; ++i) {
        REQUIRE(of.add(slice(i, i + 0.9995, 5)));
        CHECK(of.whole().counts.messages == 5);
    }
    stats::time_slice end = slice(3, 3.1, 7);
    end.draining = true;
    REQUIRE(of.add(end));
    CHECK(of.whole().draining);
    CHECK(of.whole().counts.messages == 7);
}
