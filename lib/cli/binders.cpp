// SPDX-License-Identifier: GPL-3.0-or-later
#include "cli/binders.hpp"

#include "base/alternatives.hpp"

#include <fmt/format.h>

#include <charconv>
#include <system_error>

namespace postal::cli {

namespace {

base::expected<std::string> parse_text(std::string_view given) {
    if (given.empty()) return base::fail("the value is empty");
    return {boost::system::in_place_value, std::string(given)};
}

base::expected<bool> parse_truth(std::string_view given) {
    if (given == "true") return true;
    if (given == "false") return false;
    return base::fail("\"{}\" is a value, and this is a flag; give it without one", given);
}

base::expected<unsigned> parse_percent(std::string_view given) {
    const bool has_sign = given.size() > 1 && given.back() == '%';
    const auto number = parse_count(given.substr(0, given.size() - (has_sign ? 1 : 0)), 0, 100);
    if (!number) return base::fail("\"{}\" is not a percentage; give 0 to 100", given);
    return static_cast<unsigned>(*number);
}

}  // namespace

setter text(std::string& target) {
    return parsed(target, parse_text);
}

setter texts(std::vector<std::string>& target) {
    return appended(target, parse_text);
}

setter flag(bool& target) {
    return parsed(target, parse_truth);
}

setter percent(unsigned& target) {
    return parsed(target, parse_percent);
}

setter percent(std::optional<unsigned>& target) {
    return parsed(target, parse_percent);
}

namespace {

auto duration_within(duration_limit min, duration_limit max) {
    return [min, max](std::string_view given) {
        auto time = base::parse_duration(given);
        if (time && *time < min) {
            time = min <= std::chrono::nanoseconds(1)
                       ? base::fail("{} leaves no time; give more than 0s, such as 30s", given)
                       : base::fail("{} is too short; give at least {}", given,
                                    base::format_duration(min));
        } else if (time && *time > max) {
            time = base::fail("{} is too long; give at most {}", given, base::format_duration(max));
        }
        return time;
    };
}

}  // namespace

setter duration(std::chrono::nanoseconds& target, duration_limit min, duration_limit max) {
    return parsed(target, duration_within(min, max));
}

setter duration(std::optional<std::chrono::nanoseconds>& target, duration_limit min,
                duration_limit max) {
    return parsed(target, duration_within(min, max));
}

setter size(std::uint64_t& target, std::uint64_t bare_unit, std::uint64_t max) {
    return parsed(target, [bare_unit, max](std::string_view given) {
        auto octets = base::parse_size(given, bare_unit);
        if (octets && *octets > max) {
            octets = base::fail("{} is too large; give at most {}", given, base::format_size(max));
        }
        return octets;
    });
}

setter rate(std::optional<base::rate>& target, base::rate_unit bare) {
    return parsed(target, [bare](std::string_view given) {
        auto rate = base::parse_rate(given, bare);
        if (rate && !(rate->per_second > 0)) {
            rate = base::fail("{} is not a rate; give more than 0, such as 600/min or 10/s", given);
        }
        return rate;
    });
}

base::expected<std::int64_t> parse_count(std::string_view given, std::int64_t min,
                                         std::int64_t max) {
    std::int64_t number = 0;
    const char* end = given.data() + given.size();
    const auto [stop, problem] = std::from_chars(given.data(), end, number);
    const bool is_number = stop == end && !given.empty() &&
                           (problem == std::errc{} || problem == std::errc::result_out_of_range);
    const bool is_inside = problem == std::errc{} && number >= min && number <= max;
    if (is_number && is_inside) return number;
    const bool is_bounded = max != std::numeric_limits<std::int64_t>::max();
    return base::fail(
        "{}{}{} {}; give a whole number {}", is_number ? "" : "\"", given, is_number ? "" : "\"",
        is_number ? "is out of range" : "is not a number",
        is_bounded ? fmt::format("from {} to {}", min, max) : fmt::format("of at least {}", min));
}

base::failure not_a_choice(const std::string& given, const std::vector<std::string>& words) {
    return base::fail("\"{}\" is not known; give {}", given, base::alternatives(words));
}

}  // namespace postal::cli
