// SPDX-License-Identifier: GPL-3.0-or-later
// Sums and differences that end at the bounds of 64 bits: what a file says of time may be anything.
#pragma once

#include <cstdint>
#include <limits>

namespace postal::base {

[[nodiscard]] constexpr std::int64_t saturated_sum(std::int64_t a, std::int64_t b) noexcept {
    std::int64_t sum = 0;
    if (!__builtin_add_overflow(a, b, &sum)) return sum;
    return b < 0 ? std::numeric_limits<std::int64_t>::min()
                 : std::numeric_limits<std::int64_t>::max();
}

[[nodiscard]] constexpr std::int64_t saturated_difference(std::int64_t a, std::int64_t b) noexcept {
    std::int64_t difference = 0;
    if (!__builtin_sub_overflow(a, b, &difference)) return difference;
    return b < 0 ? std::numeric_limits<std::int64_t>::max()
                 : std::numeric_limits<std::int64_t>::min();
}

}  // namespace postal::base
