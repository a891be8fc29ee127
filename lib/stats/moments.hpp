// SPDX-License-Identifier: GPL-3.0-or-later
// Mean and scatter of a few values.
#pragma once

#include <cmath>
#include <cstddef>
#include <span>

namespace postal::stats {

struct moments {
    std::size_t count = 0;
    double mean = 0;
    double squares = 0;  // sum of the squared deviations from it

    // Of the sample, n - 1; 0 below two values.
    [[nodiscard]] double deviation() const noexcept {
        return count < 2 ? 0 : std::sqrt(squares / static_cast<double>(count - 1));
    }
};

[[nodiscard]] inline moments moments_of(std::span<const double> values) noexcept {
    moments of{.count = values.size()};
    for (const double value : values)
        of.mean += value / static_cast<double>(values.size());
    for (const double value : values)
        of.squares += (value - of.mean) * (value - of.mean);
    return of;
}

}  // namespace postal::stats
