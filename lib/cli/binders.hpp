// SPDX-License-Identifier: GPL-3.0-or-later
// Makers of setters: each checks the text of an option against its bounds and stores it in a
// variable.
//
// The target must outlive the parse. On failure the target keeps its value, and the message says
// what was given and what would be right, for example: `"x" is not a number; give a whole number
// from 1 to 64`.
#pragma once

#include "base/result.hpp"
#include "base/units.hpp"
#include "cli/options.hpp"

#include <chrono>
#include <concepts>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace postal::cli {

// Any parser `base::expected<T> parse(std::string_view)` whose result the target takes (also an
// optional<T>).
template <class Target, class Parse>
setter parsed(Target& target, Parse parse) {
    return [&target, parse = std::move(parse)](const std::string& given) -> base::expected<void> {
        auto value = parse(std::string_view{given});
        if (!value) return value.error();
        target = std::move(*value);
        return {};
    };
}

// The same, appended to a list: for a repeatable option.
template <class Value, class Parse>
setter appended(std::vector<Value>& target, Parse parse) {
    return [&target, parse = std::move(parse)](const std::string& given) -> base::expected<void> {
        auto value = parse(std::string_view{given});
        if (!value) return value.error();
        target.push_back(std::move(*value));
        return {};
    };
}

setter text(std::string& target);                // any text but an empty one
setter texts(std::vector<std::string>& target);  // the same, appended: for a repeatable option
setter flag(bool& target);         // true when given; "name = false" in a file gives false
setter percent(unsigned& target);  // 0 to 100, with or without the sign
setter percent(std::optional<unsigned>& target);

using duration_limit = std::chrono::nanoseconds;
setter duration(std::chrono::nanoseconds& target, duration_limit min = duration_limit{1},
                duration_limit max = std::chrono::hours{24 * 366});
setter duration(std::optional<std::chrono::nanoseconds>& target,
                duration_limit min = duration_limit{1},
                duration_limit max = std::chrono::hours{24 * 366});
setter size(std::uint64_t& target, std::uint64_t bare_unit = 1,
            std::uint64_t max = std::numeric_limits<std::uint64_t>::max());
setter rate(std::optional<base::rate>& target, base::rate_unit bare);  // more than 0

// A whole number within bounds that the type of the target can hold.
base::expected<std::int64_t> parse_count(std::string_view given, std::int64_t min,
                                         std::int64_t max);

template <std::integral Number>
inline constexpr Number most_counted = static_cast<Number>(std::min<std::uintmax_t>(
    std::numeric_limits<Number>::max(), std::numeric_limits<std::int64_t>::max()));

template <std::integral Number>
setter count(Number& target, std::type_identity_t<Number> min,
             std::type_identity_t<Number> max = most_counted<Number>) {
    return [&target, min, max](const std::string& given) -> base::expected<void> {
        const auto number =
            parse_count(given, static_cast<std::int64_t>(min), static_cast<std::int64_t>(max));
        if (!number) return number.error();
        target = static_cast<Number>(*number);
        return {};
    };
}

// The same for a number that may be left out.
template <std::integral Number>
setter count(std::optional<Number>& target, std::type_identity_t<Number> min,
             std::type_identity_t<Number> max = most_counted<Number>) {
    return [&target, min, max](const std::string& given) {
        Number number{};
        const auto stored = count(number, min, max)(given);
        if (stored) target = number;
        return stored;
    };
}

// The failure of choice(): names every word that would be right.
base::failure not_a_choice(const std::string& given, const std::vector<std::string>& words);

// An optional's, too.
template <class Value>
setter choice(Value& target,
              std::vector<std::pair<std::string, std::type_identity_t<Value>>> words) {
    return [&target, words = std::move(words)](const std::string& given) -> base::expected<void> {
        std::vector<std::string> known;
        for (const auto& [word, value] : words) {
            if (word == given) {
                target = value;
                return {};
            }
            known.push_back(word);
        }
        return not_a_choice(given, known);
    };
}

}  // namespace postal::cli
