// SPDX-License-Identifier: GPL-3.0-or-later
#include "client/hearing_time.hpp"

#include <catch2/catch.hpp>

#include <chrono>

using postal::client::hearing_time;
using namespace std::chrono_literals;

TEST_CASE("hearing_time: who drips within a line has as long as who is silent") {
    hearing_time line;
    CHECK(line.left(2s) == 2s);
    line.heard(1200ms, 1);  // an octet costs a server nothing: 2 ms
    CHECK(line.left(2s) == 800ms);
    line.heard(1200ms, 1);
    CHECK(line.left(2s) == -400ms);
}

TEST_CASE("hearing_time: content that comes earns its time, but no longer silence") {
    hearing_time content;
    content.heard(10s, 500 * 60);
    CHECK(content.left(2s) == 2s);
    content.heard(50s, 0);
    CHECK(content.left(2s) == 2s);
    content.heard(1s, 0);
    CHECK(content.left(2s) == 1s);
}

TEST_CASE("hearing_time: each response has its time anew, an answer that never comes has not") {
    hearing_time search;
    for (int i = 0; i < 119; ++i) {
        search.heard(1s, 8);
        search.response_ended();  // "* OK still searching"
        CHECK(search.left(2s) > 0s);
    }
    search.heard(3s, 8);
    search.response_ended();
    CHECK(search.left(2s) <= 0s);
    search.answered();
    CHECK(search.left(2s) == 2s);
}

TEST_CASE("hearing_time: who waits for years does not wait for less than nothing") {
    CHECK(hearing_time().left(std::chrono::hours(24 * 365 * 100)) > std::chrono::hours(24 * 365));
}
