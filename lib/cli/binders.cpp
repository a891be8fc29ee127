#include "cli/binders.hpp"

#include <fmt/format.h>

#include <charconv>
#include <system_error>

namespace postal::cli {

namespace {

base::expected<bool> parse_truth(const std::string& given) {
    if (given == "true") return true;
    if (given == "false") return false;
    return base::fail("\"{}\" is a value, and this is a flag; give it without one", given);
}

base::expected<base::rate> positive_rate(std::string_view given, base::rate_unit bare) {
    auto rate = base::parse_rate(given, bare);
    if (rate && !(rate->per_second > 0)) {
        return base::fail("{} is not a rate; give more than 0, such as 600/min or 10/s", given);
    }
    return rate;
}

}  // namespace

setter text(std::string& target) {
    return [&target](const std::string& given) -> base::expected<void> {
        if (given.empty()) return base::fail("the value is empty");
        target = given;
        return {};
    };
}

setter texts(std::vector<std::string>& target) {
    return [&target](const std::string& given) -> base::expected<void> {
        if (given.empty()) return base::fail("the value is empty");
        target.push_back(given);
        return {};
    };
}

setter flag(bool& target) {
    return [&target](const std::string& given) -> base::expected<void> {
        const auto truth = parse_truth(given);
        if (!truth) return truth.error();
        target = *truth;
        return {};
    };
}

setter percent(unsigned& target) {
    return [&target](const std::string& given) -> base::expected<void> {
        const bool has_sign = given.size() > 1 && given.back() == '%';
        const auto number = parse_count(given.substr(0, given.size() - (has_sign ? 1 : 0)), 0, 100);
        if (!number) return base::fail("\"{}\" is not a percentage; give 0 to 100", given);
        target = static_cast<unsigned>(*number);
        return {};
    };
}

setter duration(std::chrono::nanoseconds& target, duration_limit min, duration_limit max) {
    return [&target, min, max](const std::string& given) -> base::expected<void> {
        const auto parsed = base::parse_duration(given);
        if (!parsed) return parsed.error();
        if (*parsed < min) {
            return base::fail("{} is too short; give at least {}", given,
                              base::format_duration(min));
        }
        if (*parsed > max) {
            return base::fail("{} is too long; give at most {}", given, base::format_duration(max));
        }
        target = *parsed;
        return {};
    };
}

setter size(std::uint64_t& target, std::uint64_t bare_unit, std::uint64_t max) {
    return [&target, bare_unit, max](const std::string& given) -> base::expected<void> {
        const auto parsed = base::parse_size(given, bare_unit);
        if (!parsed) return parsed.error();
        if (*parsed > max) {
            return base::fail("{} is too large; give at most {}", given, base::format_size(max));
        }
        target = *parsed;
        return {};
    };
}

setter rate(base::rate& target, base::rate_unit bare) {
    return parsed(target, [bare](std::string_view text) { return positive_rate(text, bare); });
}

setter rate(std::optional<base::rate>& target, base::rate_unit bare) {
    return parsed(target, [bare](std::string_view text) { return positive_rate(text, bare); });
}

base::expected<std::int64_t> parse_count(const std::string& given, std::int64_t min,
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
    return base::fail("\"{}\" is not known; give {}", given, fmt::join(words, ", "));
}

}  // namespace postal::cli
