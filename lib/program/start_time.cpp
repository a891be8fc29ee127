// SPDX-License-Identifier: GPL-3.0-or-later
#include "program/start_time.hpp"

#include <array>
#include <cstddef>
#include <ctime>

namespace postal::program {

namespace {

using base::expected;
using std::chrono::system_clock;

constexpr auto most_ahead = std::chrono::hours(24);
constexpr std::string_view instant = "0000-00-00T00:00:00Z";

bool is_digit(char one) {
    return one >= '0' && one <= '9';
}

// A 0 of the shape stands for any digit.
bool has_shape(std::string_view text, std::string_view shape) {
    if (text.size() != shape.size()) return false;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (shape[i] == '0' ? !is_digit(text[i]) : text[i] != shape[i]) return false;
    }
    return true;
}

int number_at(std::string_view text, std::size_t from, std::size_t digits = 2) {
    int number = 0;
    for (const char digit : text.substr(from, digits))
        number = number * 10 + (digit - '0');
    return number;
}

base::failure no_time(std::string_view text) {
    return base::fail("\"{}\" is no time; give one such as 2026-11-21T12:00:00Z, 12:00 or 12:00:30",
                      text);
}

// `into` has the day.
bool set_time_of_day(std::tm& into, std::string_view text) {
    into.tm_hour = number_at(text, 0);
    into.tm_min = number_at(text, 3);
    into.tm_sec = text.size() > 5 ? number_at(text, 6) : 0;
    into.tm_isdst = -1;
    return into.tm_hour < 24 && into.tm_min < 60 && into.tm_sec < 60;
}

expected<wall_time> parse_instant(std::string_view text, wall_time now) {
    using namespace std::chrono;
    const year_month_day day(year(number_at(text, 0, 4)),
                             month(static_cast<unsigned>(number_at(text, 5))),
                             std::chrono::day(static_cast<unsigned>(number_at(text, 8))));
    std::tm time{};
    if (!day.ok() || !set_time_of_day(time, text.substr(11, 8))) return no_time(text);
    // In seconds: not every year's nanoseconds have a number.
    const sys_seconds start =
        sys_days(day) + hours(time.tm_hour) + minutes(time.tm_min) + seconds(time.tm_sec);
    const seconds ahead = start - floor<seconds>(now);
    if (ahead <= seconds(0)) {
        return base::fail("{} is over, it is {} now; give a time to come", text, format_start(now));
    }
    if (ahead > most_ahead) {
        return base::fail("{} is more than a day ahead, it is {} now; give an earlier time", text,
                          format_start(now));
    }
    return start;
}

// mktime() takes the day after the last of a month for the first of the next.
expected<wall_time> parse_time_of_day(std::string_view text, wall_time now) {
    const std::time_t today = system_clock::to_time_t(now);
    std::tm local{};
    if (::localtime_r(&today, &local) == nullptr || !set_time_of_day(local, text))
        return no_time(text);
    std::tm tomorrow = local;
    ++tomorrow.tm_mday;
    const wall_time start = system_clock::from_time_t(std::mktime(&local));
    return start > now ? start : system_clock::from_time_t(std::mktime(&tomorrow));
}

}  // namespace

expected<wall_time> parse_start(std::string_view text, wall_time now) {
    if (has_shape(text, instant)) return parse_instant(text, now);
    if (has_shape(text, "00:00") || has_shape(text, "00:00:00"))
        return parse_time_of_day(text, now);
    return no_time(text);
}

std::string format_start(wall_time start) {
    const std::time_t seconds = system_clock::to_time_t(start);
    std::tm utc{};
    std::array<char, instant.size() + 1> text{};
    ::gmtime_r(&seconds, &utc);
    return {text.data(), std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &utc)};
}

load::steady_time on_steady_clock(wall_time when) {
    return std::chrono::steady_clock::now() + (when - system_clock::now());
}

}  // namespace postal::program
