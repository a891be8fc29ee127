// SPDX-License-Identifier: GPL-3.0-or-later
// Writing durations, sizes, rates and counts. Durations and rates are exact opposites of the
// parsers, durations in integers throughout; the others are for tables and lose digits.
#include "base/units.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace postal::base {
namespace {

// A number without the zeros (and the point) that say nothing.
std::string without_trailing_zeros(std::string text) {
    if (text.find('.') == std::string::npos) return text;
    text.erase(text.find_last_not_of('0') + 1);
    if (text.back() == '.') text.pop_back();
    return text;
}

// ns in a unit of 10^digits ns, exactly: 1500000000 with 9 is "1.5".
std::string decimal(std::uint64_t ns, int digits) {
    std::uint64_t unit = 1;
    for (int i = 0; i < digits; ++i)
        unit *= 10;
    if (digits == 0) return fmt::format("{}", ns);
    return without_trailing_zeros(fmt::format("{}.{:0{}}", ns / unit, ns % unit, digits));
}

std::string three_digits(double value, const char* unit) {
    const int decimals = value < 9.995 ? 2 : value < 99.95 ? 1 : 0;
    return fmt::format("{:.{}f} {}", value, decimals, unit);
}

}  // namespace

std::string format_duration(std::chrono::nanoseconds value) {
    constexpr std::uint64_t second = 1'000'000'000;
    const bool negative = value.count() < 0;
    std::uint64_t ns = static_cast<std::uint64_t>(value.count());
    if (negative) ns = 0 - ns;
    std::string text = negative ? "-" : "";
    if (ns == 0) return "0s";
    if (ns < second) {
        const bool ms = ns >= 1'000'000;
        const bool us = ns >= 1'000;
        return text + decimal(ns, ms ? 6 : us ? 3 : 0) + (ms ? "ms" : us ? "us" : "ns");
    }
    const std::uint64_t hours = ns / (3600 * second);
    const std::uint64_t minutes = ns / (60 * second) % 60;
    const std::uint64_t rest = ns % (60 * second);
    if (hours != 0) text += fmt::format("{}h", hours);
    if (minutes != 0) text += fmt::format("{}m", minutes);
    if (rest != 0) text += decimal(rest, 9) + "s";
    return text;
}

std::string format_clock(std::chrono::nanoseconds value) {
    const auto all = std::chrono::duration_cast<std::chrono::seconds>(value).count();
    const auto seconds = std::max<std::int64_t>(all, 0);
    if (seconds < 3600) return fmt::format("{}:{:02}", seconds / 60, seconds % 60);
    return fmt::format("{}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60);
}

std::string format_latency(std::chrono::nanoseconds value) {
    const auto ns = static_cast<double>(value.count());
    if (std::abs(ns) < 1e3) return fmt::format("{} ns", value.count());
    if (std::abs(ns) < 999.5e3) return three_digits(ns / 1e3, "µs");
    if (std::abs(ns) < 999.5e6) return three_digits(ns / 1e6, "ms");
    return three_digits(ns / 1e9, "s");
}

std::string format_size(std::uint64_t octets) {
    constexpr std::array<const char*, 5> units{"B", "KiB", "MiB", "GiB", "TiB"};
    if (octets < 1024) return fmt::format("{} B", octets);
    auto value = static_cast<double>(octets);
    std::size_t unit = 0;
    // 1023.95 would be printed as "1024.0" of the smaller unit.
    while (value >= 1023.95 && unit + 1 < units.size()) {
        value /= 1024;
        ++unit;
    }
    return fmt::format("{:.1f} {}", value, units[unit]);
}

std::string format_rate(rate value, rate_unit unit) {
    const bool minutes = unit == rate_unit::per_minute;
    const double number = minutes ? value.per_minute() : value.per_second;
    return without_trailing_zeros(fmt::format("{:.6f}", number)) + (minutes ? "/min" : "/s");
}

std::string format_count(std::uint64_t value) {
    std::string text = fmt::format("{}", value);
    for (std::size_t place = text.size(); place > 3;) {
        place -= 3;
        text.insert(place, 1, ',');
    }
    return text;
}

std::string format_amount(std::uint64_t count, std::string_view noun) {
    return fmt::format("{} {}{}", format_count(count), noun, count == 1 ? "" : "s");
}

}  // namespace postal::base
