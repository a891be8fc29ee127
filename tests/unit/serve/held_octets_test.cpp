#include "serve/held_octets.hpp"

#include <catch2/catch.hpp>

#include <cstdint>
#include <limits>
#include <optional>
#include <utility>

using postal::serve::held_octets;

constexpr std::uint64_t megabyte = 1024 * 1024;

TEST_CASE("held_octets: shares have so much together, and give it back with their end") {
    held_octets all(3 * megabyte);
    std::optional<held_octets::share> first(std::in_place, &all);
    held_octets::share second(&all);
    CHECK(first->add(2 * megabyte));
    CHECK_FALSE(second.add(2 * megabyte));
    CHECK(all.held() == 2 * megabyte);
    CHECK(second.add(megabyte));
    CHECK(all.full());
    CHECK_FALSE(second.add(1));
    first.reset();
    CHECK_FALSE(all.full());
    CHECK(second.add(1));
    held_octets::share moved(std::move(second));
    moved.give_back();
    CHECK(all.held() == 0);
    CHECK(moved.add(1));
}

TEST_CASE("held_octets: small amounts are taken together, and sums do not begin again at 0") {
    held_octets all(megabyte);
    {
        held_octets::share one(&all);
        for (int i = 0; i < 100; ++i)
            CHECK(one.add(100));
        CHECK(all.held() >= 100 * 100);
        CHECK(all.held() < 32 * 1024);
        CHECK_FALSE(one.add(std::numeric_limits<std::uint64_t>::max()));
        CHECK_FALSE(one.add(std::numeric_limits<std::uint64_t>::max() - 100));
        CHECK(one.add(100));
    }
    CHECK(all.held() == 0);
}

TEST_CASE("held_octets: without a total there is always room") {
    held_octets::share free;
    CHECK(free.add(std::numeric_limits<std::uint64_t>::max()));
    CHECK(free.add(1));
}
