// SPDX-License-Identifier: GPL-3.0-or-later
#include "stats/experiment/growth.hpp"

#include <catch2/catch.hpp>

#include <cmath>
#include <functional>

#include "base/random.hpp"

using namespace postal;
using namespace postal::stats;

namespace {

const std::vector<std::optional<double>> four_sizes{100, 1'000, 10'000, 100'000};

// Blocks in which each value is the law's times noise, and a factor that the block's values share.
metric_table blocks_of(const std::function<double(double)>& law, std::size_t blocks, double noise,
                       base::random_source& random) {
    metric_table made;
    made.variants = four_sizes.size();
    for (std::size_t i = 0; i < blocks; ++i) {
        auto& block = made.blocks.emplace_back();
        const double shared = std::exp(0.3 * random.normal());
        for (const auto& size : four_sizes)
            block.values.emplace_back(law(*size) * shared * std::exp(noise * random.normal()));
    }
    return made;
}

double linear(double n) {
    return 3 * n;
}
double by_logarithm(double n) {
    return 2 * n * std::log(n);
}
double square(double n) {
    return 0.1 * n * n;
}
double constant(double) {
    return 50;
}

}  // namespace

TEST_CASE("growth: the exponents of laws that are known, within 0.03") {
    struct row {
        const char* law;
        double (*value)(double);
        double exponent;  // of the straight line through the law's own logarithms
    };
    const row rows[]{
        {"1", constant, 0}, {"n", linear, 1}, {"n log n", by_logarithm, 1.132}, {"n^2", square, 2}};
    for (const row& one : rows) {
        INFO(one.law);
        base::random_source random(7);
        const auto exact = growth_of(blocks_of(one.value, 4, 0, random), four_sizes, 0.05);
        REQUIRE(exact.has_value());
        CHECK(exact->exponent == Approx(one.exponent).margin(0.002));
        const auto noisy = growth_of(blocks_of(one.value, 12, 0.1, random), four_sizes, 0.05);
        REQUIRE(noisy.has_value());
        CHECK(noisy->exponent == Approx(one.exponent).margin(0.03));
        CHECK(noisy->blocks == 12);
    }
}

TEST_CASE("growth: an interval of 95 % holds the exponent in 95 of 100 experiments") {
    base::random_source random(11);
    constexpr int experiments = 4000;
    for (const std::size_t blocks : {3U, 6U, 12U}) {
        CAPTURE(blocks);
        int covered = 0;
        for (int i = 0; i < experiments; ++i) {
            const auto found = growth_of(blocks_of(linear, blocks, 0.3, random), four_sizes, 0.05);
            covered += (*found->interval)[0] <= 1 && 1 <= (*found->interval)[1] ? 1 : 0;
        }
        // Four standard errors of a share of 95 % in 4,000.
        CHECK(static_cast<double>(covered) / experiments == Approx(0.95).margin(0.014));
    }
}

TEST_CASE("growth: what cannot be used is left out, and nothing becomes infinite") {
    base::random_source random(3);
    metric_table table = blocks_of(linear, 3, 0, random);
    table.blocks[0].voided = true;
    table.blocks[0].values.assign(4, 1.0);
    table.blocks[1].values[2] = std::nullopt;
    table.blocks[1].values[3] = 0.0;
    auto found = growth_of(table, four_sizes, 0.05);
    REQUIRE(found.has_value());
    CHECK(found->blocks == 2);
    CHECK(found->exponent == Approx(1).margin(1e-9));
    CHECK(found->coefficient > 0);
    CHECK_FALSE(growth_of(table, std::vector<std::optional<double>>(4, 100.0), 0.05).has_value());
    CHECK_FALSE(growth_of(table, std::vector<std::optional<double>>(4), 0.05).has_value());
    CHECK_FALSE(growth_of({}, four_sizes, 0.05).has_value());
    table.blocks.resize(2);
    found = growth_of(table, four_sizes, 0.05);
    REQUIRE(found.has_value());
    CHECK_FALSE(found->interval.has_value());  // of one block nobody knows
}
