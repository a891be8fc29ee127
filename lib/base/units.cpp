// SPDX-License-Identifier: GPL-3.0-or-later
// Reading durations, sizes and rates: tables of units and one loop over the text.
//
// Numbers are read by std::from_chars, which knows no locale, after a check that only digits and a
// point are there, since it would accept signs, "inf" and "nan" too. Everything is bounded before
// it is converted, so that nothing overflows. Every refusal repeats the text, made printable and
// cut.
#include "base/units.hpp"

#include "base/text.hpp"

#include <array>
#include <charconv>
#include <cmath>
#include <limits>

namespace postal::base {
namespace {

struct duration_unit {
    std::string_view name;
    std::uint64_t ns;
};

// Largest first: the order in which they may follow each other.
constexpr std::array<duration_unit, 8> duration_units{{{"d", 86'400'000'000'000},
                                                       {"h", 3'600'000'000'000},
                                                       {"min", 60'000'000'000},
                                                       {"m", 60'000'000'000},
                                                       {"s", 1'000'000'000},
                                                       {"ms", 1'000'000},
                                                       {"us", 1'000},
                                                       {"ns", 1}}};

constexpr std::uint64_t largest_ns =
    static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());

constexpr std::string_view duration_forms = "500ms, 30s, 20m, 1h30m";

failure not_a_duration(std::string_view text) {
    return fail("'{}' is not a duration; give one such as {}", printable(text, 60), duration_forms);
}

failure too_long(std::string_view text) {
    return fail("the duration '{}' is too long", printable(text, 60));
}

bool is_number_char(char c) {
    return is_digit(c) || c == '.';
}

bool is_lower_letter(char c) {
    return c >= 'a' && c <= 'z';
}

// Takes the longest prefix of characters that the predicate holds for.
template <class Predicate>
std::string_view take(std::string_view& rest, Predicate wanted) {
    std::size_t length = 0;
    while (length < rest.size() && wanted(rest[length]))
        ++length;
    const std::string_view taken = rest.substr(0, length);
    rest.remove_prefix(length);
    return taken;
}

const duration_unit* find_unit(std::string_view name) {
    for (const auto& unit : duration_units) {
        if (unit.name == name) return &unit;
    }
    return nullptr;
}

}  // namespace

expected<std::uint64_t> parse_count(std::string_view text) {
    std::uint64_t value = 0;
    const char* const end = text.data() + text.size();
    const auto [stopped, error] = std::from_chars(text.data(), end, value);
    if (error == std::errc::result_out_of_range) {
        return fail("the number '{}' is too large", printable(text, 60));
    }
    if (error != std::errc{} || stopped != end) {
        return fail("'{}' is not a whole number", printable(text, 60));
    }
    return value;
}

expected<double> parse_number(std::string_view text) {
    double value = 0;
    const char* const end = text.data() + text.size();
    // from_chars would also take a sign, "inf" and "nan".
    bool plain = !text.empty() && is_digit(text.front()) && is_digit(text.back());
    for (const char c : text)
        plain = plain && is_number_char(c);
    const auto [stopped, error] =
        std::from_chars(text.data(), end, value, std::chars_format::fixed);
    if (!plain || error != std::errc{} || stopped != end) {
        return fail("'{}' is not a number", printable(text, 60));
    }
    return value;
}

expected<double> parse_share(std::string_view text) {
    const auto value = parse_number(text.substr(0, text.empty() ? 0 : text.size() - 1));
    if (!text.ends_with('%') || !value || *value > 100)
        return fail("\"{}\" is no share; want 0% to 100%", printable(text, 40));
    return *value / 100;
}

expected<std::chrono::nanoseconds> parse_duration(std::string_view text) {
    if (text == "0") return std::chrono::nanoseconds{0};
    if (text.empty()) return not_a_duration(text);
    std::uint64_t total = 0;
    std::uint64_t previous = std::numeric_limits<std::uint64_t>::max();
    std::string_view rest = text;
    while (!rest.empty()) {
        const std::string_view digits = take(rest, is_number_char);
        const auto number = parse_number(digits);
        if (!number) return not_a_duration(text);
        const duration_unit* const unit = find_unit(take(rest, is_lower_letter));
        if (unit == nullptr || unit->ns >= previous) return not_a_duration(text);
        previous = unit->ns;

        const long double ns =
            static_cast<long double>(*number) * static_cast<long double>(unit->ns);
        if (ns > static_cast<long double>(largest_ns - total)) return too_long(text);
        total += static_cast<std::uint64_t>(std::llround(ns));
    }
    return std::chrono::nanoseconds{static_cast<std::int64_t>(total)};
}

expected<std::uint64_t> parse_size(std::string_view text, std::uint64_t bare_unit) {
    std::string_view rest = text;
    const std::string_view digits = take(rest, is_digit);
    const auto refuse = [&] {
        return fail("'{}' is not a size; give one such as 512, 5K, 10M, 1G", printable(text, 60));
    };
    if (digits.empty()) return refuse();
    std::uint64_t unit = bare_unit;
    if (!rest.empty()) {
        constexpr std::string_view letters = "kmgt";
        const std::size_t power = letters.find(ascii_lower(rest.front()));
        unit = power == std::string_view::npos ? 1 : std::uint64_t{1} << (10 * (power + 1));
        if (power != std::string_view::npos) rest.remove_prefix(1);
        const bool octets = rest.empty() || iequals(rest, "b") || (unit > 1 && iequals(rest, "ib"));
        if (!octets) return refuse();
    }
    const auto number = parse_count(digits);
    if (!number) return number.error();
    if (unit != 0 && *number > std::numeric_limits<std::uint64_t>::max() / unit) {
        return fail("the size '{}' is too large", printable(text, 60));
    }
    return *number * unit;
}

expected<rate> parse_rate(std::string_view text, rate_unit bare) {
    struct row {
        std::string_view name;
        double seconds;
    };
    static constexpr std::array<row, 8> periods{{{"s", 1},
                                                 {"sec", 1},
                                                 {"second", 1},
                                                 {"m", 60},
                                                 {"min", 60},
                                                 {"minute", 60},
                                                 {"h", 3600},
                                                 {"hour", 3600}}};
    const std::size_t slash = text.find('/');
    const auto number = parse_number(text.substr(0, slash));
    double seconds = bare == rate_unit::per_second ? 1 : 60;
    bool known = slash == std::string_view::npos;
    for (const auto& period : periods) {
        if (slash == std::string_view::npos || period.name != text.substr(slash + 1)) continue;
        known = true;
        seconds = period.seconds;
    }
    if (!number || !known) {
        return fail("'{}' is not a rate; give one such as 10/s, 600/min, 36000/h",
                    printable(text, 60));
    }
    if (*number / seconds > most_rate_per_second) {
        return fail("the rate '{}' is too large; at most {:.0f}/s", printable(text, 60),
                    most_rate_per_second);
    }
    return rate{*number / seconds};
}

}  // namespace postal::base
