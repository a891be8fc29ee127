// SPDX-License-Identifier: GPL-3.0-or-later
#include "proto/imap/date.hpp"

#include <catch2/catch.hpp>

#include <string>

using postal::proto::read_imap_date;

TEST_CASE("imap date: INTERNALDATE as a time, and what is none") {
    const struct {
        std::string_view text;
        std::uint64_t second;
        const char* why;
    } rows[] = {
        {"17-Jul-1996 02:44:25 -0700", 837'596'665, "RFC 3501's own"},
        {"17-JUL-1996 02:44:25 -0700", 837'596'665, "months in any case"},
        {" 1-Jan-2026 00:00:00 +0000", 1'767'225'600, "a blank before the day"},
        {"01-Jan-2026 00:00:00 +0000", 1'767'225'600, "a zero before the day"},
        {"01-Jan-2026 01:30:00 +0130", 1'767'225'600, "ahead of UTC"},
        {"31-Dec-2025 23:59:60 +0000", 1'767'225'600, "a leap second"},
        {"29-Feb-2024 00:00:00 +0000", 1'709'164'800, "a leap day"},
        {"29-Feb-2025 00:00:00 +0000", 0, "none"},
        {"00-Jan-2026 00:00:00 +0000", 0, "no day"},
        {"32-Jan-2026 00:00:00 +0000", 0, "no day"},
        {"01-Jux-2026 00:00:00 +0000", 0, "no month"},
        {"01-Jan-2026 24:00:00 +0000", 0, "no hour"},
        {"01-Jan-2026 00:60:00 +0000", 0, "no minute"},
        {"01-Jan-2026 00:00:61 +0000", 0, "no second"},
        {"01-Jan-2026 00:00:00 +0060", 0, "no zone"},
        {"01-Jan-2026 00:00:00  0000", 0, "no sign"},
        {"01-Jan-2026T00:00:00 +0000", 0, "no blank"},
        {"01-Jan-2026 00:00:0x +0000", 0, "no number"},
        {"01-Jan-1960 00:00:00 +0000", 0, "before the epoch"},
        {"1-Jan-2026 00:00:00 +0000", 0, "too short"},
        {"", 0, "nothing"},
    };
    for (const auto& row : rows) {
        INFO(row.text << ": " << row.why);
        CHECK(read_imap_date(row.text) == row.second * 1'000'000);
    }
    const std::string whole = "17-Jul-1996 02:44:25 -0700";
    for (std::size_t size = 0; size < whole.size(); ++size)
        CHECK(read_imap_date(std::string_view(whole).substr(0, size)) == 0);
}

TEST_CASE("imap_date: what is written is read back as the same") {
    CHECK(postal::proto::imap_date(837'596'665) == "17-Jul-1996 09:44:25 +0000");
    CHECK(postal::proto::imap_date(1'767'225'599) == "31-Dec-2025 23:59:59 +0000");
    for (std::int64_t second = 1; second < 4'000'000'000; second += 12'345'678)
        CHECK(read_imap_date(postal::proto::imap_date(second)) ==
              static_cast<std::uint64_t>(second) * 1'000'000);
}
