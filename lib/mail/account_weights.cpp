// SPDX-License-Identifier: GPL-3.0-or-later
#include "mail/account_weights.hpp"

#include "base/text.hpp"
#include "base/units.hpp"

#include <cmath>

namespace postal::mail {
namespace {

constexpr std::string_view zipf = "zipf:";
constexpr double least_exponent = 0.1;
constexpr double most_exponent = 5;

// Scaled so that their mean is 1.
std::vector<double> zipf_weights(std::size_t accounts, double exponent, account_draw::part of) {
    std::vector<double> weights(accounts);
    double sum = 0;
    for (std::size_t i = 0; i < accounts; ++i) {
        weights[i] = std::pow(static_cast<double>(of.first + i * of.step + 1), -exponent);
        sum += weights[i];
    }
    for (double& one : weights)
        one *= static_cast<double>(accounts) / sum;
    return weights;
}

}  // namespace

base::expected<account_weights> parse_account_weights(std::string_view text) {
    if (text == "uniform") return account_weights{};
    if (text.starts_with(zipf)) {
        const auto exponent = base::parse_number(text.substr(zipf.size()));
        if (exponent && *exponent >= least_exponent && *exponent <= most_exponent)
            return account_weights{*exponent};
    }
    return base::fail(
        "\"{}\" is none; give uniform, or zipf: and an exponent from {} to {}, such as "
        "zipf:1.1",
        base::printable(text, 40), least_exponent, most_exponent);
}

// What an account has less than the mean is filled by one that has more.
account_draw::account_draw(std::size_t accounts, account_weights how, part of)
    : accounts_(accounts) {
    if (how.alike() || accounts == 0) return;
    std::vector<double> left = zipf_weights(accounts, how.exponent, of);
    columns_.resize(accounts);
    std::vector<std::uint32_t> poor, rich;
    for (std::size_t i = accounts; i-- > 0;)
        (left[i] < 1 ? poor : rich).push_back(static_cast<std::uint32_t>(i));
    constexpr std::uint64_t whole = std::uint64_t{1} << 32U;
    while (!poor.empty() && !rich.empty()) {
        const std::uint32_t filled = poor.back(), giver = rich.back();
        poor.pop_back();
        columns_[filled] = {static_cast<std::uint64_t>(left[filled] * static_cast<double>(whole)),
                            giver};
        left[giver] -= 1 - left[filled];
        if (left[giver] >= 1) continue;
        rich.pop_back();
        poor.push_back(giver);
    }
    for (const auto* rest : {&poor, &rich})  // whose weights are 1 but for rounding
        for (const std::uint32_t one : *rest)
            columns_[one] = {whole, one};
}

std::uint32_t account_draw::draw(base::random_source& random) const noexcept {
    const auto which = static_cast<std::uint32_t>(random.below(accounts_));
    if (columns_.empty()) return which;
    const column& fallen_on = columns_[which];
    return (random.next() >> 32U) < fallen_on.own ? which : fallen_on.other;
}

}  // namespace postal::mail
