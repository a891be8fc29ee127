// SPDX-License-Identifier: GPL-3.0-or-later
// The sequences are fixed for ever, and the distributions are what they are called.
#include "base/random.hpp"

#include <catch2/catch.hpp>

#include <set>

using namespace postal::base;

TEST_CASE("random: xoshiro256++ seeded by splitmix64 as its authors publish it") {
    // splitmix64 from 0 begins with these, so the state is known, and the first output follows.
    std::uint64_t state[4] = {0xe220a8397b1dcdafU, 0x6e789e6aa1b965f4U, 0x06c45d188009454fU,
                              0xf88bb8a8724c81ecU};
    random_source random(0);
    CHECK(random.next() == std::rotl(state[0] + state[3], 23) + state[0]);
    CHECK(random_source(42).next() == random_source(42).next());
    CHECK(random_source(42).next() != random_source(43).next());
}

TEST_CASE("random: below stays below and reaches everything") {
    random_source random(7);
    std::set<std::uint64_t> seen;
    for (int i = 0; i < 1000; ++i) {
        const auto value = random.below(10);
        REQUIRE(value < 10);
        seen.insert(value);
    }
    CHECK(seen.size() == 10);
    CHECK(random.below(0) == 0);
    CHECK(random.below(1) == 0);
    for (int i = 0; i < 100; ++i)
        REQUIRE(random.below(UINT64_MAX) < UINT64_MAX);
}

TEST_CASE("random: the moments of the distributions") {
    random_source random(11);
    constexpr int n = 200'000;
    double uniform = 0, exponential = 0, normal = 0, squares = 0;
    for (int i = 0; i < n; ++i) {
        const double u = random.uniform();
        REQUIRE(u >= 0);
        REQUIRE(u < 1);
        uniform += u;
        const double e = random.exponential();
        REQUIRE(e >= 0);
        REQUIRE(std::isfinite(e));
        exponential += e;
        const double z = random.normal();
        normal += z;
        squares += z * z;
    }
    CHECK(uniform / n == Approx(0.5).margin(0.005));
    CHECK(exponential / n == Approx(1).margin(0.01));
    CHECK(normal / n == Approx(0).margin(0.01));
    CHECK(squares / n == Approx(1).margin(0.02));
}

TEST_CASE("random: mix tells its arguments and their order apart") {
    std::set<std::uint64_t> seeds;
    for (std::uint64_t a = 0; a < 10; ++a) {
        for (std::uint64_t b = 0; b < 10; ++b) {
            for (std::uint64_t c = 0; c < 10; ++c)
                seeds.insert(mix(a, b, c));
        }
    }
    CHECK(seeds.size() == 1000);
}

TEST_CASE("random: the kernel's entropy differs from call to call") {
    CHECK(fresh_entropy() != fresh_entropy());
}
