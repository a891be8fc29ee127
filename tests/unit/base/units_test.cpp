// SPDX-License-Identifier: GPL-3.0-or-later
// Tables of texts and what they must be read as, with the reason; and every value written is read
// back.
#include "base/units.hpp"

#include "base/random.hpp"

#include <catch2/catch.hpp>

#include <optional>
#include <vector>

using namespace postal::base;
using namespace std::chrono_literals;

TEST_CASE("units: durations") {
    struct row {
        std::string_view text;
        std::optional<std::chrono::nanoseconds> wanted;
        std::string_view reason;
    };
    const std::vector<row> table{
        {"500ms", 500ms, "milliseconds"},
        {"30s", 30s, "seconds"},
        {"20m", 20min, "minutes"},
        {"20min", 20min, "minutes in full"},
        {"35d", 35 * 24h, "days"},
        {"1h30m", 90min, "two units"},
        {"1h30m5s", 90min + 5s, "three units"},
        {"50us", 50us, "microseconds"},
        {"7ns", 7ns, "nanoseconds"},
        {"1.5s", 1500ms, "a fraction"},
        {"0.1s", 100ms, "a fraction that binary cannot hold"},
        {"0", 0ns, "zero needs no unit"},
        {"0s", 0ns, "zero with a unit"},
        {"2562047h", 2562047h, "nearly the largest"},
        {"", std::nullopt, "nothing"},
        {"30", std::nullopt, "no unit: 30 of what?"},
        {"s", std::nullopt, "no number"},
        {"-5s", std::nullopt, "negative"},
        {"+5s", std::nullopt, "a sign"},
        {"5 s", std::nullopt, "a blank"},
        {"5s ", std::nullopt, "a blank behind"},
        {"5S", std::nullopt, "case"},
        {"5x", std::nullopt, "an unknown unit"},
        {"30m1h", std::nullopt, "the wrong order"},
        {"1m1min", std::nullopt, "the same unit twice"},
        {"1.s", std::nullopt, "a point without a fraction"},
        {".5s", std::nullopt, "a fraction without a number"},
        {"1..5s", std::nullopt, "two points"},
        {"1e3s", std::nullopt, "an exponent"},
        {"nans", std::nullopt, "not a number"},
        {"2562048h", std::nullopt, "more than 64 bits of nanoseconds"},
        {"99999999999999999999s", std::nullopt, "much more"},
        {"2562047h60m", std::nullopt, "the sum is too long"},
    };
    for (const auto& [text, wanted, reason] : table) {
        INFO(text << ": " << reason);
        const auto got = parse_duration(text);
        REQUIRE(got.has_value() == wanted.has_value());
        if (wanted) CHECK(*got == *wanted);
        if (!wanted) CHECK(got.error().message.find('\n') == std::string::npos);
    }
}

TEST_CASE("units: sizes") {
    struct row {
        std::string_view text;
        std::uint64_t bare_unit;
        std::optional<std::uint64_t> wanted;
        std::string_view reason;
    };
    const std::vector<row> table{
        {"512", 1, 512, "octets"},
        {"10", 1024, 10240, "a bare number in kilobytes, as -m has it"},
        {"5K", 1, 5120, "kilobytes"},
        {"5k", 1024, 5120, "a letter overrides the bare unit"},
        {"10M", 1, 10U << 20U, "megabytes"},
        {"1G", 1, 1U << 30U, "gigabytes"},
        {"1T", 1, std::uint64_t{1} << 40U, "terabytes"},
        {"5KB", 1, 5120, "with B"},
        {"5KiB", 1, 5120, "with iB"},
        {"100B", 1024, 100, "octets although the bare unit is another"},
        {"0", 1, 0, "zero"},
        {"16777215T", 1, std::uint64_t{16777215} << 40U, "the largest"},
        {"16777216T", 1, std::nullopt, "overflow"},
        {"99999999999999999999", 1, std::nullopt, "overflow before the unit"},
        {"", 1, std::nullopt, "nothing"},
        {"K", 1, std::nullopt, "no number"},
        {"-1", 1, std::nullopt, "negative"},
        {"5 K", 1, std::nullopt, "a blank"},
        {"5KX", 1, std::nullopt, "rubbish behind"},
        {"5iB", 1, std::nullopt, "no letter before iB"},
        {"1.5K", 1, std::nullopt, "a fraction"},
    };
    for (const auto& [text, bare_unit, wanted, reason] : table) {
        INFO(text << ": " << reason);
        const auto got = parse_size(text, bare_unit);
        REQUIRE(got.has_value() == wanted.has_value());
        if (wanted) CHECK(*got == *wanted);
    }
}

TEST_CASE("units: rates") {
    struct row {
        std::string_view text;
        rate_unit bare;
        std::optional<double> per_second;
        std::string_view reason;
    };
    const std::vector<row> table{
        {"600/min", rate_unit::per_second, 10, "a minute"},
        {"600/m", rate_unit::per_second, 10, "a minute in short"},
        {"10/s", rate_unit::per_minute, 10, "a second"},
        {"36000/h", rate_unit::per_second, 10, "an hour"},
        {"600", rate_unit::per_minute, 10, "bare, as -r has it"},
        {"10", rate_unit::per_second, 10, "bare per second"},
        {"0.5/s", rate_unit::per_second, 0.5, "a fraction"},
        {"0/s", rate_unit::per_second, 0, "zero, which only the caller may refuse"},
        {"", rate_unit::per_second, std::nullopt, "nothing"},
        {"/s", rate_unit::per_second, std::nullopt, "no number"},
        {"10/", rate_unit::per_second, std::nullopt, "no unit behind the stroke"},
        {"10/d", rate_unit::per_second, std::nullopt, "an unknown unit"},
        {"10/s/s", rate_unit::per_second, std::nullopt, "two strokes"},
        {"-10/s", rate_unit::per_second, std::nullopt, "negative"},
        {"inf/s", rate_unit::per_second, std::nullopt, "infinite"},
        {"99999999999999999/s", rate_unit::per_second, std::nullopt, "absurd"},
        {"1000000/s", rate_unit::per_second, 1e6, "the highest"},
        {"60000001/min", rate_unit::per_second, std::nullopt, "a little higher"},
    };
    for (const auto& [text, bare, per_second, reason] : table) {
        INFO(text << ": " << reason);
        const auto got = parse_rate(text, bare);
        REQUIRE(got.has_value() == per_second.has_value());
        if (per_second) CHECK(got->per_second == Approx(*per_second));
    }
}

TEST_CASE("units: shares") {
    CHECK(parse_share("0%").value() == 0);
    CHECK(parse_share("2.5%").value() == 0.025);
    CHECK(parse_share("100%").value() == 1);
    for (const char* wrong : {"", "%", "2", "-1%", "100.1%", "2 %", "two%", "2%%"}) {
        INFO(wrong);
        CHECK_FALSE(parse_share(wrong).has_value());
    }
}

TEST_CASE("units: a clock shows whole seconds") {
    using namespace std::chrono_literals;
    CHECK(format_clock(-5s) == "0:00");
    CHECK(format_clock(42s + 999ms) == "0:42");
    CHECK(format_clock(12min + 5s) == "12:05");
    CHECK(format_clock(1h + 2min + 3s) == "1:02:03");
}

TEST_CASE("units: durations that are written are read back as the same") {
    CHECK(format_duration(0ns) == "0s");
    CHECK(format_duration(90s) == "1m30s");
    CHECK(format_duration(90min) == "1h30m");
    CHECK(format_duration(1500ms) == "1.5s");
    CHECK(format_duration(500ms) == "500ms");
    CHECK(format_duration(1500us) == "1.5ms");
    CHECK(format_duration(42ns) == "42ns");
    CHECK(format_duration(-5s) == "-5s");
    random_source random(1);
    for (int i = 0; i < 2000; ++i) {
        const std::chrono::nanoseconds value{
            static_cast<std::int64_t>(random.next() >> (random.below(43) + 20))};
        INFO(format_duration(value));
        REQUIRE(parse_duration(format_duration(value)).value() == value);
    }
}

TEST_CASE("units: what people read") {
    CHECK(format_latency(812ns) == "812 ns");
    CHECK(format_latency(1234ns) == "1.23 µs");
    CHECK(format_latency(12345us) == "12.3 ms");
    CHECK(format_latency(999'700us) == "1.00 s");
    CHECK(format_latency(123s) == "123 s");
    CHECK(format_latency(0ns) == "0 ns");
    CHECK(format_size(0) == "0 B");
    CHECK(format_size(1023) == "1023 B");
    CHECK(format_size(5120) == "5.0 KiB");
    CHECK(format_size(1048575) == "1.0 MiB");
    CHECK(format_size(UINT64_MAX) == "16777216.0 TiB");
    CHECK(format_rate(rate{10}) == "10/s");
    CHECK(format_rate(rate{10}, rate_unit::per_minute) == "600/min");
    CHECK(format_rate(rate{100.0 / 60}, rate_unit::per_minute) == "100/min");
    CHECK(format_count(0) == "0");
    CHECK(format_count(999) == "999");
    CHECK(format_count(1000) == "1,000");
    CHECK(format_count(1234567) == "1,234,567");
}

TEST_CASE("units: a failure says what would be right") {
    CHECK(parse_duration("30").error().message ==
          "'30' is not a duration; give one such as 500ms, 30s, 20m, 1h30m");
    CHECK(parse_rate("x\n", rate_unit::per_second).error().message ==
          "'x\\n' is not a rate; give one such as 10/s, 600/min, 36000/h");
    CHECK_THROWS_AS(parse_size("x").value(), failure_exception);
}
