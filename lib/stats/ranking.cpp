// SPDX-License-Identifier: GPL-3.0-or-later
#include "stats/ranking.hpp"

#include <algorithm>

namespace postal::stats {

support support_of(double q, std::uint64_t count) noexcept {
    constexpr double rounding = 1e-9;
    const double beyond = static_cast<double>(count) * (1 - q) + rounding;
    if (q >= 1) return count > 0 ? support::enough : support::none;
    return beyond < 1 ? support::none : beyond < 10 ? support::few : support::enough;
}

std::optional<std::chrono::nanoseconds> known_quantile(const histogram& values, double q) {
    if (support_of(q, values.count()) == support::none) return std::nullopt;
    return values.quantile(q);
}

ranking::ranking(const histogram& accepted, const histogram* above)
    : accepted_(accepted), all_(accepted) {
    if (above != nullptr) all_.merge(*above);
}

percentile ranking::quantile(double q) const noexcept {
    const std::uint64_t rank = histogram::rank_of(q, all_.count());
    if (rank <= accepted_.count()) return {accepted_.at_rank(rank)};
    return {std::max(all_.at_rank(rank), accepted_.max()), false};
}

}  // namespace postal::stats
