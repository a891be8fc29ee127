// SPDX-License-Identifier: GPL-3.0-or-later
// The numbers with units that people write on a command line, read and written.
//
// Durations "500ms", "30s", "20m", "1h30m", "50us", "1.5s"; sizes "512", "5K", "10M", "1G" (powers
// of 1024, an optional "B" or "iB" behind the letter); rates "600/min", "10/s", "36000/h".
//
// Parsing fails with one line that repeats the text and shows what would be right. Nothing
// negative, no blanks inside, no overflow: what does not fit is refused. Zero is a number like any
// other here; whoever cannot use it refuses it. Letters of units may be of either case for sizes
// only.
#pragma once

#include "base/result.hpp"

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

namespace postal::base {

// Units d, h, m (or min), s, ms, us, ns, largest first, each at most once; fractions are allowed
// ("1.5s"). A bare number is refused, apart from "0".
[[nodiscard]] expected<std::chrono::nanoseconds> parse_duration(std::string_view text);

// A bare number counts bare_unit octets each.
[[nodiscard]] expected<std::uint64_t> parse_size(std::string_view text,
                                                 std::uint64_t bare_unit = 1);

struct rate {
    double per_second = 0;
    [[nodiscard]] double per_minute() const noexcept { return per_second * 60; }
    bool operator==(const rate&) const = default;
};

// No mail system is near it, and what is due at a rate is counted one by one.
inline constexpr double most_rate_per_second = 1e6;

enum class rate_unit { per_second, per_minute };

// NUMBER[/s|/sec|/m|/min|/h]; the number may have a fraction.
[[nodiscard]] expected<rate> parse_rate(std::string_view text, rate_unit bare);

// A plain decimal number with nothing around it, "12" or "0.5"; refuses nan, inf, exponents, signs.
[[nodiscard]] expected<double> parse_number(std::string_view text);

// A part of a whole, from "0%" to "100%", as a fraction: 0 to 1.
[[nodiscard]] expected<double> parse_share(std::string_view text);

// A plain decimal count with nothing around it.
[[nodiscard]] expected<std::uint64_t> parse_count(std::string_view text);

// The shortest text that parse_duration reads back as the same value: "1h30m", "1m30s", "1.5s",
// "0s".
[[nodiscard]] std::string format_duration(std::chrono::nanoseconds value);

[[nodiscard]] constexpr double seconds_of(std::chrono::nanoseconds value) noexcept {
    return std::chrono::duration<double>(value).count();
}

// As a clock shows it, in whole seconds and never below 0: "0:42", "12:05", "1:02:03".
[[nodiscard]] std::string format_clock(std::chrono::nanoseconds value);

// Three significant digits and the unit that fits, for tables: "12.3 ms", "812 us", "1.20 s".
[[nodiscard]] std::string format_latency(std::chrono::nanoseconds value);

// "512 B", "5.0 KiB", "10.0 MiB".
[[nodiscard]] std::string format_size(std::uint64_t octets);

// The shortest text that parse_rate reads back: "10/s", and "36000/min" for minutes.
[[nodiscard]] std::string format_rate(rate value, rate_unit unit = rate_unit::per_second);

// With separators between thousands: "1,234,567".
[[nodiscard]] std::string format_count(std::uint64_t value);
// "1 connection", "1,234 connections": of nouns that take an s.
[[nodiscard]] std::string format_amount(std::uint64_t count, std::string_view noun);

}  // namespace postal::base
