// SPDX-License-Identifier: GPL-3.0-or-later
#include "stats/capacity/queue_course.hpp"

#include <catch2/catch.hpp>

#include <chrono>

using namespace postal;
using namespace std::chrono_literals;

TEST_CASE("queue course: between two counts it goes in a line, above the fewest there ever were") {
    capacity::queue_course queue;
    CHECK_FALSE(queue.is_known());
    CHECK(queue.above(1s) == 0);
    CHECK_FALSE(queue.has_fallen(0s, 1e9));

    queue.note(-1s, 40);  // what waited before the search is not its doing
    queue.note(1s, 60);
    queue.note(1s, 1000);    // the same count, seen again
    queue.note(500ms, 700);  // and an older one
    queue.note(3s, 100);
    CHECK(queue.is_known());
    CHECK(queue.above(-5s) == 0);
    CHECK(queue.above(0s) == 10);
    CHECK(queue.above(1s) == 20);
    CHECK(queue.above(2s) == 40);
    CHECK(queue.above(9s) == 60);

    queue.note(4s, 10);  // what waited before the search goes
    CHECK(queue.above(4s) == 0);
    CHECK(queue.above(3s) == 90);
    CHECK(queue.above(3500ms) == 45);
}

TEST_CASE("queue course: it has fallen where a count says so that was made since") {
    capacity::queue_course queue;
    queue.note(0s, 5);
    CHECK(queue.has_fallen(0s, 0));
    CHECK_FALSE(queue.has_fallen(1ms, 0));
    queue.note(2s, 17);
    CHECK_FALSE(queue.has_fallen(1s, 11));
    CHECK(queue.has_fallen(1s, 12));
    CHECK(queue.has_fallen(2s, 12));
    CHECK_FALSE(queue.has_fallen(2001ms, 12));
}

TEST_CASE(
    "queue course: what lies before a time is forgotten, but for the count that leads to it") {
    capacity::queue_course queue;
    for (int i = 0; i <= 10; ++i)
        queue.note(std::chrono::seconds(i), i);
    queue.forget_before(4500ms);
    CHECK(queue.above(4500ms) == 4.5);
    CHECK(queue.above(1s) == 4);
    queue.forget_before(1h);
    CHECK(queue.above(4500ms) == 10);
    CHECK(queue.has_fallen(10s, 10));
    queue.note(11s, 3);  // still above what was there first
    CHECK(queue.above(11s) == 3);
    CHECK(queue.newest() == 11s);
}
