// SPDX-License-Identifier: GPL-3.0-or-later
#include "base/saturated.hpp"

#include <catch2/catch.hpp>

using namespace postal;

TEST_CASE("saturated: sums and differences end at the bounds") {
    constexpr std::int64_t least = std::numeric_limits<std::int64_t>::min();
    constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
    CHECK(base::saturated_sum(1, 2) == 3);
    CHECK(base::saturated_sum(most, 1) == most);
    CHECK(base::saturated_sum(least, -1) == least);
    CHECK(base::saturated_sum(most, least) == -1);
    CHECK(base::saturated_difference(1, 2) == -1);
    CHECK(base::saturated_difference(most, -1) == most);
    CHECK(base::saturated_difference(least, 1) == least);
    CHECK(base::saturated_difference(0, least) == most);
}
