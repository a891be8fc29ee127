// SPDX-License-Identifier: GPL-3.0-or-later
#include "mail/account_weights.hpp"

#include <catch2/catch.hpp>

#include <cmath>
#include <numeric>
#include <vector>

using namespace postal;
using namespace postal::mail;

namespace {

std::vector<double> shares_of(const account_draw& of, std::size_t accounts, int draws) {
    base::random_source random(7);
    std::vector<double> shares(accounts);
    for (int i = 0; i < draws; ++i)
        shares.at(of.draw(random)) += 1.0 / draws;
    return shares;
}

std::vector<double> wanted_shares(std::size_t accounts, double exponent, std::size_t first,
                                  std::size_t step) {
    std::vector<double> shares;
    for (std::size_t i = 0; i < accounts; ++i)
        shares.push_back(std::pow(static_cast<double>(first + i * step + 1), -exponent));
    const double sum = std::accumulate(shares.begin(), shares.end(), 0.0);
    for (double& one : shares)
        one /= sum;
    return shares;
}

}  // namespace

TEST_CASE("account weights: what may be asked for") {
    CHECK(parse_account_weights("uniform")->alike());
    CHECK(parse_account_weights("zipf:1.1")->exponent == 1.1);
    CHECK(parse_account_weights("zipf:5")->exponent == 5);
    for (const char* wrong : {"", "zipf", "zipf:", "zipf:0", "zipf:5.1", "zipf:-1", "zipf:nan",
                              "zipf:inf", "zipf:1x", "pareto:1"}) {
        INFO(wrong);
        REQUIRE_FALSE(parse_account_weights(wrong).has_value());
        CHECK(parse_account_weights(wrong).error().message.find("such as zipf:1.1") !=
              std::string::npos);
    }
}

TEST_CASE("account weights: each account comes as often as Zipf's law says") {
    struct row {
        std::size_t accounts;
        double exponent;
        account_draw::part of;
    };
    constexpr int draws = 400'000;
    for (const row& one : {row{1, 1.1, {}}, row{2, 0.5, {}}, row{10, 1, {}}, row{1000, 1.1, {}},
                           row{37, 5, {}}, row{20, 1.1, {1, 3}}}) {
        INFO(one.accounts << " accounts, " << one.exponent);
        const account_draw drawn(one.accounts, {one.exponent}, one.of);
        const auto seen = shares_of(drawn, one.accounts, draws);
        const auto wanted = wanted_shares(one.accounts, one.exponent, one.of.first, one.of.step);
        for (std::size_t i = 0; i < one.accounts; ++i)  // within five standard deviations
            CHECK(std::abs(seen[i] - wanted[i]) <=
                  5 * std::sqrt(wanted[i] * (1 - wanted[i]) / draws) + 1e-5);
    }
}

TEST_CASE("account weights: without any, draws are what they were") {
    base::random_source one(3), other(3);
    const account_draw alike(17, {});
    CHECK(alike.alike());
    for (int i = 0; i < 100; ++i)
        CHECK(alike.draw(one) == other.below(17));
    CHECK(account_draw().draw(one) == 0);
    CHECK(account_draw(0, {1.1}).draw(one) == 0);
}

TEST_CASE("account weights: the same seed draws the same") {
    base::random_source random(1);
    const account_draw of(100, {1.1});
    std::vector<std::uint32_t> drawn;
    for (int i = 0; i < 12; ++i)
        drawn.push_back(of.draw(random));
    CHECK(drawn == std::vector<std::uint32_t>{3, 11, 18, 10, 9, 6, 8, 8, 0, 7, 0, 15});
}
