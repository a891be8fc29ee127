// SPDX-License-Identifier: GPL-3.0-or-later
#include "proto/imap/date.hpp"

#include <algorithm>
#include <chrono>
#include <optional>

#include "base/text.hpp"

namespace postal::proto {

namespace {

constexpr std::string_view month_names = "JanFebMarAprMayJunJulAugSepOctNovDec";

// All of the text is digits, but for a blank in front of a day.
std::optional<int> number_of(std::string_view text) noexcept {
    int value = 0;
    for (const char c : text) {
        if (c < '0' || c > '9') return std::nullopt;
        value = value * 10 + (c - '0');
    }
    return value;
}

std::optional<unsigned> month_of(std::string_view name) noexcept {
    for (unsigned month = 0; month < 12; ++month)
        if (base::iequals(month_names.substr(std::size_t{month} * 3, 3), name)) return month + 1;
    return std::nullopt;
}

}  // namespace

std::uint64_t read_imap_date(std::string_view text) noexcept {
    using namespace std::chrono;
    constexpr std::string_view form = "dd-mmm-yyyy hh:mm:ss +hhmm";
    if (text.size() != form.size()) return 0;
    for (std::size_t at = 0; at < form.size(); ++at)
        if ((form[at] == '-' || form[at] == ':' || form[at] == ' ') && text[at] != form[at])
            return 0;
    const char sign = text[21];
    if (sign != '+' && sign != '-') return 0;
    const auto day_of_month =
        number_of(text.substr(text[0] == ' ' ? 1 : 0, text[0] == ' ' ? 1 : 2));
    const auto month = month_of(text.substr(3, 3));
    const auto of_year = number_of(text.substr(7, 4));
    const auto hour = number_of(text.substr(12, 2));
    const auto minute = number_of(text.substr(15, 2));
    const auto second = number_of(text.substr(18, 2));
    const auto zone_hours = number_of(text.substr(22, 2));
    const auto zone_minutes = number_of(text.substr(24, 2));
    if (!day_of_month || !month || !of_year || !hour || !minute || !second || !zone_hours ||
        !zone_minutes)
        return 0;
    const year_month_day day{year{*of_year}, std::chrono::month{*month},
                             std::chrono::day{static_cast<unsigned>(*day_of_month)}};
    if (!day.ok() || *hour > 23 || *minute > 59 || *second > 60 || *zone_minutes > 59) return 0;
    const auto ahead = hours(*zone_hours) + minutes(*zone_minutes);
    const auto time = sys_days(day).time_since_epoch() + hours(*hour) + minutes(*minute) +
                      seconds(*second) - (sign == '+' ? ahead : -ahead);
    const auto us = duration_cast<microseconds>(time).count();
    return us > 0 ? static_cast<std::uint64_t>(us) : 0;
}

std::string imap_date(std::int64_t seconds) {
    using namespace std::chrono;
    const sys_seconds when{std::chrono::seconds(seconds)};
    const auto day = floor<days>(when);
    const year_month_day date(day);
    const hh_mm_ss time(when - day);
    std::string text;
    const auto put = [&](std::int64_t number, std::size_t width, std::string_view behind) {
        const std::string written = std::to_string(number);
        text.append(width - std::min(width, written.size()), '0').append(written).append(behind);
    };
    put(static_cast<unsigned>(date.day()), 2, "-");
    text.append(month_names.substr((static_cast<unsigned>(date.month()) - 1) * 3, 3)).append("-");
    put(static_cast<int>(date.year()), 4, " ");
    put(time.hours().count(), 2, ":");
    put(time.minutes().count(), 2, ":");
    put(time.seconds().count(), 2, " +0000");
    return text;
}

}  // namespace postal::proto
