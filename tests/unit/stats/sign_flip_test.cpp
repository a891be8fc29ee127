// SPDX-License-Identifier: GPL-3.0-or-later
// The sign-flip test against all assignments of signs, made the plain way.
#include "stats/experiment/sign_flip.hpp"

#include "base/random.hpp"

#include <catch2/catch.hpp>

#include <cmath>
#include <vector>

using namespace postal::stats;

namespace {

double brute_force(const std::vector<double>& differences) {
    const auto sum_of = [&](std::size_t signs) {
        double sum = 0;
        for (std::size_t i = 0; i < differences.size(); ++i)
            sum += ((signs >> i) & 1U) != 0 ? -differences[i] : differences[i];
        return std::abs(sum);
    };
    std::size_t as_far = 0;
    const std::size_t all = std::size_t{1} << differences.size();
    for (std::size_t signs = 0; signs < all; ++signs)
        if (sum_of(signs) >= sum_of(0) - 1e-12) ++as_far;
    return static_cast<double>(as_far) / static_cast<double>(all);
}

std::vector<double> drawn(std::size_t count, double mean, std::uint64_t seed) {
    postal::base::random_source random(seed);
    std::vector<double> values;
    for (std::size_t i = 0; i < count; ++i)
        values.push_back(mean + random.normal());
    return values;
}

}  // namespace

TEST_CASE("sign flip: every assignment is gone through") {
    for (std::size_t count = 1; count <= 12; ++count) {
        for (const double mean : {0.0, 0.5, 2.0}) {
            const auto differences = drawn(count, mean, count);
            const auto made = sign_flip(differences, 1);
            CAPTURE(differences);
            CHECK(made.exact);
            CHECK(made.probability == brute_force(differences));
        }
    }
}

TEST_CASE("sign flip: known cases") {
    struct row {
        std::vector<double> differences;
        double wanted;
        const char* why;
    };
    const auto [differences, wanted, why] = GENERATE(values<row>({
        {{}, 1, "nothing says nothing"},
        {{3}, 1, "one value is as far with either sign"},
        {{0, 0, 0, 0, 0, 0}, 1, "no difference"},
        {{1, 1, 1, 1, 1, 1}, 2.0 / 64, "the least that six give"},
        {{-1, -1, -1, -1, -1, -1}, 2.0 / 64, "both sides count"},
        {{0.1, 0.2, -0.3, 0.3, -0.1, -0.2}, 1, "sums that are 0 but for rounding are as far"},
        {{0.1, 0.2, 0.3}, 2.0 / 8, "0.1 + 0.2 is 0.3"},
        {{0.1, 0.2, -0.3}, 1, "and so is it here"},
    }));
    CAPTURE(why);
    CHECK(sign_flip(differences, 1).probability == wanted);
}

TEST_CASE("sign flip: above twenty values a sample says about the same, and says so") {
    auto differences = drawn(20, 0.4, 3);
    const auto exact = sign_flip(differences, 1);
    CHECK(exact.exact);
    differences.push_back(0);  // which has no sign
    const auto sampled = sign_flip(differences, 1);
    CHECK_FALSE(sampled.exact);
    CHECK(exact.probability > 0.01);
    CHECK(exact.probability < 0.9);
    CHECK(sampled.probability == Approx(exact.probability).margin(0.006));
    CHECK(sign_flip(differences, 1).probability == sampled.probability);
    CHECK(sign_flip(differences, 2).probability != sampled.probability);
    // Beyond 64 values, and never 0.
    CHECK(sign_flip(std::vector<double>(70, 1), 1).probability == 1.0 / (sign_flip_samples + 1));
    const auto many = drawn(70, 0, 4);
    CHECK(sign_flip(many, 1).probability > 0.001);
}
