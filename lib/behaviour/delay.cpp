// SPDX-License-Identifier: GPL-3.0-or-later
// Draws of delays and of speeds.
#include "behaviour/rule.hpp"

#include <algorithm>
#include <cmath>

namespace postal::behaviour {
namespace {

constexpr nanoseconds longest = std::chrono::hours{24};

nanoseconds draw_base(const delay& from, base::random_source& random) {
    switch (from.kind) {
        case distribution::fixed:
            return from.from;
        case distribution::uniform: {
            if (from.to <= from.from) return from.from;
            const auto width = static_cast<std::uint64_t>((from.to - from.from).count());
            return from.from + nanoseconds{static_cast<std::int64_t>(random.below(width + 1))};
        }
        case distribution::lognormal: {
            const double drawn =
                static_cast<double>(from.from.count()) * std::exp(from.sigma * random.normal());
            if (!(drawn < static_cast<double>(longest.count()))) return longest;
            return nanoseconds{std::llround(drawn)};
        }
    }
    return {};
}

// No more than `longest`.
nanoseconds times(nanoseconds one, std::uint64_t octets) {
    if (one.count() <= 0 || octets == 0) return nanoseconds{0};
    const auto each = static_cast<std::uint64_t>(one.count());
    if (octets > static_cast<std::uint64_t>(longest.count()) / each) return longest;
    return nanoseconds{static_cast<std::int64_t>(each * octets)};
}

}  // namespace

nanoseconds draw(const delay& from, std::uint64_t octets, base::random_source& random) {
    const nanoseconds drawn = std::min(draw_base(from, random), longest);
    return std::min(drawn + times(from.per_octet, octets), longest);
}

std::uint64_t draw_rate(const number_range& among, base::random_source& random) {
    if (among.most == 0 || among.most <= among.least) return among.most;
    const std::uint64_t least = std::max<std::uint64_t>(among.least, 1);
    const auto low = static_cast<double>(least);
    const auto high = static_cast<double>(among.most);
    const double drawn = std::round(low * std::pow(high / low, random.uniform()));
    if (!(drawn < high)) return among.most;
    return std::max(least, static_cast<std::uint64_t>(drawn));
}

}  // namespace postal::behaviour
