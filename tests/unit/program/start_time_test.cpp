// SPDX-License-Identifier: GPL-3.0-or-later
// Times at which a run shall begin.
#include "program/start_time.hpp"

#include <catch2/catch.hpp>

#include <cstdlib>
#include <ctime>

using namespace postal;
using namespace std::chrono_literals;
using program::format_start;
using program::parse_start;

namespace {

// Central Europe's time, whatever this host's is; gives the old one back.
struct in_berlin {
    in_berlin() { set("CET-1CEST,M3.5.0,M10.5.0/3"); }
    ~in_berlin() {
        if (before_.empty()) {
            ::unsetenv("TZ");
            ::tzset();
        } else {
            set(before_);
        }
    }
    static void set(const std::string& zone) {
        ::setenv("TZ", zone.c_str(), 1);
        ::tzset();
    }
    std::string before_ = ::getenv("TZ") != nullptr ? ::getenv("TZ") : "";
};

program::wall_time at(int year, unsigned month, unsigned day, std::chrono::seconds time) {
    using namespace std::chrono;
    return sys_days(year_month_day(std::chrono::year(year), std::chrono::month(month),
                                   std::chrono::day(day))) +
           time;
}

}  // namespace

TEST_CASE("start_time: an instant, or the next time that a clock here shows it") {
    const in_berlin here;
    const auto winter = at(2026, 11, 21, 10h + 59min + 30s);  // 11:59:30 here
    struct {
        program::wall_time now;
        std::string text, wanted, reason;
    } const rows[] = {
        {winter, "2026-11-21T12:00:00Z", "2026-11-21T12:00:00Z", "UTC"},
        {winter, "2026-11-22T10:59:30Z", "2026-11-22T10:59:30Z", "a day ahead"},
        {winter, "12:00", "2026-11-21T11:00:00Z", "today"},
        {winter, "11:59:31", "2026-11-21T10:59:31Z", "in a second"},
        {winter, "11:59:30", "2026-11-22T10:59:30Z", "just over"},
        {winter, "11:59", "2026-11-22T10:59:00Z", "over: tomorrow"},
        {winter, "00:00", "2026-11-21T23:00:00Z", "tonight"},
        {at(2026, 12, 31, 20h), "12:00", "2027-01-01T11:00:00Z", "the next year"},
        {at(2026, 10, 24, 20h), "12:00", "2026-10-25T11:00:00Z", "the clock is put back meanwhile"},
    };
    for (const auto& row : rows) {
        INFO(row.reason);
        const auto start = parse_start(row.text, row.now);
        REQUIRE(start.has_value());
        CHECK(format_start(*start) == row.wanted);
    }
}

TEST_CASE("start_time: what is none, is over or too far ahead is refused") {
    const auto now = at(2026, 11, 21, 12h);
    for (const std::string text :
         {"", "noon", "12", "1:00", "24:00", "12:60", "12:00:60", "12:00:00Z", "-1:00", "12:00 ",
          "2026-11-21", "2026-11-21T12:30:00", "2026-11-31T12:30:00Z", "2026-13-01T12:30:00Z",
          "2026-11-21T25:00:00Z", "2026-11-21 12:30:00Z", "2026-11-21T12:30:00+01:00"}) {
        INFO(text);
        const auto start = parse_start(text, now);
        REQUIRE_FALSE(start.has_value());
        CHECK(start.error().message ==
              "\"" + text +
                  "\" is no time; give one such as 2026-11-21T12:00:00Z, 12:00 or 12:00:30");
    }
    for (const std::string text : {"2026-11-21T12:00:00Z", "1999-01-01T00:00:00Z"})
        CHECK_THAT(parse_start(text, now).error().message,
                   Catch::StartsWith(text + " is over, it is 2026-11-21T12:00:00Z now"));
    for (const std::string text : {"2026-11-22T12:00:01Z", "9999-01-01T00:00:00Z"})
        CHECK_THAT(parse_start(text, now).error().message,
                   Catch::StartsWith(text + " is more than a day ahead"));
}

TEST_CASE("start_time: the steady clock's instant is as far ahead") {
    const auto ahead = program::on_steady_clock(std::chrono::system_clock::now() + 1h) -
                       std::chrono::steady_clock::now();
    CHECK(ahead > 59min);
    CHECK(ahead < 61min);
}
