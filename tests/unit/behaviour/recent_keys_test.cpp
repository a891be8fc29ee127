// SPDX-License-Identifier: GPL-3.0-or-later
#include "behaviour/recent_keys.hpp"

#include <catch2/catch.hpp>

using postal::behaviour::recent_keys;

TEST_CASE("recent keys: the one that was used longest ago makes room, and asking is using") {
    recent_keys<int> keys(2);
    keys.touch("a").value = 1;
    keys.touch("b").value = 2;
    REQUIRE(keys.find("a") != nullptr);
    CHECK(*keys.find("a") == 1);
    CHECK(keys.touch("c").added);
    CHECK(keys.find("b") == nullptr);
    CHECK(*keys.find("a") == 1);
    CHECK(keys.size() == 2);
}

TEST_CASE("recent keys: what is erased is not known, and leaves room") {
    recent_keys<int> keys(2);
    keys.touch("a").value = 1;
    keys.touch("b").value = 2;
    keys.erase("a");
    keys.erase("nobody");
    CHECK(keys.find("a") == nullptr);
    CHECK(keys.size() == 1);
    CHECK(keys.touch("a").added);
    CHECK(*keys.find("b") == 2);
}
