// SPDX-License-Identifier: GPL-3.0-or-later
#include "load/content_time.hpp"

#include <catch2/catch.hpp>

#include <chrono>

using postal::load::content_time;
using namespace std::chrono_literals;

TEST_CASE("content_time: whoever drips has as long as silence may last, and what came earns more") {
    content_time drips;
    CHECK(drips.left(2s, 500, 0) == 2s);
    for (int i = 0; i < 3; ++i)
        drips.waited(1200ms);  // each below the 2 s
    CHECK(drips.left(2s, 500, 3) == -1600ms);
    CHECK(drips.left(2s, 500, 1000) == 400ms);
    CHECK(drips.left(2s, 1, 1000) == 998400ms);
    drips = {};
    CHECK(drips.left(2s, 500, 0) == 2s);
}
