// SPDX-License-Identifier: GPL-3.0-or-later
// How long messages took that were asked for at once, told by reads of a connection.
#include "rabid/turn_clock.hpp"

#include <catch2/catch.hpp>

using namespace postal;
using namespace std::chrono_literals;

namespace {

constexpr load::steady_time start{std::chrono::hours(1)};

struct reads {
    rabid::turn_clock turns;
    stats::histogram times;

    reads() { turns.begin(start); }
    void read(std::chrono::nanoseconds at, int messages, int refusals = 0) {
        for (int i = 0; i < messages; ++i)
            turns.message_ended();
        for (int i = 0; i < refusals; ++i)
            turns.refusal_ended();
        turns.read_ended(start + at, times);
    }
};

}  // namespace

TEST_CASE("turn_clock: a message that ends alone took the time since the one before") {
    reads of;
    of.read(30ms, 1);
    of.read(40ms, 1);
    CHECK(of.times.count() == 2);
    CHECK(of.times.min() == 10ms);
    CHECK(of.times.max() == 30ms);
}

TEST_CASE("turn_clock: messages that end in one read share its time") {
    reads of;
    of.read(10ms, 0);
    of.read(40ms, 4);
    of.read(41ms, 1);
    CHECK(of.times.count() == 5);
    CHECK(of.times.min() == 1ms);
    CHECK(of.times.max() == 10ms);
    CHECK(of.turns.waited(start + 50ms) == 9ms);
}

TEST_CASE("turn_clock: a refusal has its turn, and is no message") {
    reads of;
    of.read(30ms, 1, 2);
    of.read(50ms, 0, 1);
    of.read(51ms, 1);
    CHECK(of.times.count() == 2);
    CHECK(of.times.min() == 1ms);
    CHECK(of.times.max() == 10ms);
}
