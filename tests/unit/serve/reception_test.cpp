#include "serve/reception.hpp"

#include <catch2/catch.hpp>

using postal::serve::reception;

TEST_CASE("reception: the lowest free place is given out, and no more than there are") {
    reception front(3, {});
    auto first = front.take();
    auto second = front.take();
    auto third = front.take();
    REQUIRE(first);
    REQUIRE(second);
    REQUIRE(third);
    CHECK(third->number == 2);
    CHECK(third->transcript == nullptr);
    CHECK_FALSE(front.take());
    front.give_back(*second);
    front.give_back(*first);
    CHECK(front.take()->number == 0);
    CHECK(front.take()->number == 1);
    CHECK_FALSE(front.take());
}
