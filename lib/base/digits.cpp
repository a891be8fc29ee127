// SPDX-License-Identifier: GPL-3.0-or-later
#include "base/digits.hpp"

#include "base/units.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <string_view>

namespace postal::base {
namespace {

constexpr double largest = 1e18;  // that format_count can take

int place_of_first_digit(double value) {
    return static_cast<int>(std::floor(std::log10(value)));
}

// The power of ten of the last digit.
int last_place(double value, std::optional<double> uncertainty) {
    const int three = place_of_first_digit(value) - 2;
    if (!uncertainty || !std::isfinite(*uncertainty)) return three;
    const int known = *uncertainty >= 1 ? place_of_first_digit(*uncertainty) : 0;
    return std::min(three, known);
}

}  // namespace

std::string format_measured(double value, std::optional<double> uncertainty) {
    const double size = std::min(std::abs(value), largest);
    if (!std::isfinite(value) || size == 0) return "0";
    const int place = last_place(size, uncertainty);
    const double unit = std::pow(10, place);
    const double rounded = std::round(size / unit) * unit;
    const std::string_view sign = value < 0 ? "-" : "";
    if (place < 0) return fmt::format("{}{:.{}f}", sign, rounded, -place);
    return fmt::format("{}{}", sign,
                       format_count(static_cast<std::uint64_t>(std::llround(rounded))));
}

std::string format_number(double value) {
    if (!std::isfinite(value)) return "0";
    if (value >= largest) return fmt::format("{:.3g}", value);
    if (value >= 100) return format_count(static_cast<std::uint64_t>(std::llround(value)));
    return fmt::format("{:.4g}", std::round(value * 100) / 100);
}

std::string format_octet_rate(double per_second) {
    constexpr std::array<std::string_view, 6> units{"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
    std::size_t unit = 0;
    for (; per_second >= 1024 && unit + 1 < units.size(); ++unit)
        per_second /= 1024;
    return fmt::format("{} {}/s", format_measured(per_second), units[unit]);
}

}  // namespace postal::base
