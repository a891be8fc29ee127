// SPDX-License-Identifier: GPL-3.0-or-later
// Seeds are fixed, so that a figure is always the same: the margins say what it would be of any.
#include "behaviour/rule.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

using namespace postal::behaviour;
using namespace std::chrono_literals;

namespace {

constexpr int draws = 20'000;

delay made(distribution kind, nanoseconds from, nanoseconds to = {}, double sigma = 0) {
    delay one;
    one.kind = kind;
    one.from = from;
    one.to = to;
    one.sigma = sigma;
    return one;
}

std::vector<double> seconds_of(const delay& from) {
    postal::base::random_source random(7);
    std::vector<double> all;
    for (int i = 0; i < draws; ++i)
        all.push_back(std::chrono::duration<double>(draw(from, 0, random)).count());
    std::sort(all.begin(), all.end());
    return all;
}

double mean(const std::vector<double>& all) {
    double sum = 0;
    for (const double one : all)
        sum += one;
    return sum / static_cast<double>(all.size());
}

}  // namespace

TEST_CASE("delay: a fixed one is what it is") {
    postal::base::random_source random(1);
    CHECK(draw(made(distribution::fixed, 200ms), 1000, random) == 200ms);
    CHECK(draw(delay{}, 1000, random) == 0ns);
    CHECK(delay{}.none());
}

TEST_CASE("delay: a uniform one lies within its range, both ends included") {
    const auto all = seconds_of(made(distribution::uniform, 100ms, 300ms));
    CHECK(all.front() >= 0.1);
    CHECK(all.front() < 0.101);
    CHECK(all.back() <= 0.3);
    CHECK(all.back() > 0.299);
    CHECK(mean(all) == Approx(0.2).margin(0.002));

    postal::base::random_source random(3);
    bool least = false;
    bool most = false;
    for (int i = 0; i < 100; ++i) {
        const nanoseconds one = draw(made(distribution::uniform, 5ns, 6ns), 0, random);
        REQUIRE((one == 5ns || one == 6ns));
        least = least || one == 5ns;
        most = most || one == 6ns;
    }
    CHECK(least);
    CHECK(most);
}

TEST_CASE("delay: a lognormal one has the median and the sigma that it was given") {
    const auto all = seconds_of(made(distribution::lognormal, 200ms, {}, 0.8));
    CHECK(all[draws / 2] == Approx(0.2).epsilon(0.03));
    CHECK(mean(all) == Approx(0.2 * std::exp(0.8 * 0.8 / 2)).epsilon(0.03));
    // One sigma above the median lie 15.87 % of all.
    CHECK(all[static_cast<std::size_t>(draws * 0.8413)] ==
          Approx(0.2 * std::exp(0.8)).epsilon(0.04));
}

TEST_CASE("delay: none is longer than a day") {
    postal::base::random_source random(5);
    for (int i = 0; i < 1000; ++i) {
        const nanoseconds one = draw(made(distribution::lognormal, 1h, {}, 200), 0, random);
        REQUIRE(one >= 0ns);
        REQUIRE(one <= 24h);
    }
    CHECK(draw(made(distribution::fixed, 25h), 0, random) == 24h);
}

TEST_CASE("delay: each octet adds its part, and an absurd size no more than a day") {
    postal::base::random_source random(1);
    delay slow = made(distribution::fixed, 1s);
    slow.per_octet = 10us;
    CHECK_FALSE(slow.none());
    CHECK(draw(slow, 0, random) == 1s);
    CHECK(draw(slow, 100'000, random) == 2s);
    CHECK(draw(slow, std::numeric_limits<std::uint64_t>::max(), random) == 24h);
    slow.per_octet = nanoseconds::max();
    CHECK(draw(slow, 2, random) == 24h);
}

TEST_CASE("delay: a reading speed is as likely in each order of magnitude") {
    struct row {
        number_range among;
        std::uint64_t least;
        std::uint64_t most;
        std::string_view reason;
    };
    const row rows[] = {
        {{0, 0}, 0, 0, "no limit"},
        {{500, 500}, 500, 500, "a fixed one"},
        {{0, 3}, 1, 3, "0 would mean none"},
        {{1000, std::numeric_limits<std::uint64_t>::max()},
         1000,
         std::numeric_limits<std::uint64_t>::max(),
         "without an upper end"},
    };
    postal::base::random_source random(9);
    for (const row& one : rows) {
        CAPTURE(one.reason);
        for (int i = 0; i < 1000; ++i) {
            const std::uint64_t drawn = draw_rate(one.among, random);
            REQUIRE(drawn >= one.least);
            REQUIRE(drawn <= one.most);
        }
    }

    std::vector<std::uint64_t> all;
    for (int i = 0; i < draws; ++i)
        all.push_back(draw_rate({1'000, 1'000'000}, random));
    std::sort(all.begin(), all.end());
    CHECK(all.front() >= 1'000);
    CHECK(all.back() <= 1'000'000);
    CHECK(static_cast<double>(all[draws / 3]) == Approx(10'000).epsilon(0.08));
    CHECK(static_cast<double>(all[draws * 2 / 3]) == Approx(100'000).epsilon(0.08));
}
