// SPDX-License-Identifier: GPL-3.0-or-later
// Delays, ranges and replies as they are written in a behaviour's file.
#include "behaviour/behaviour_file.hpp"

#include <catch2/catch.hpp>

#include <set>
#include <string>
#include <string_view>

using namespace postal::behaviour;
using namespace std::chrono_literals;

TEST_CASE("behaviour values: delays") {
    CHECK(parse_delay("200ms").value() == delay{.from = 200ms});
    CHECK(parse_delay("0s").value().none());
    CHECK(parse_delay("100ms..2s").value() ==
          delay{.kind = distribution::uniform, .from = 100ms, .to = 2s});
    CHECK(parse_delay("lognormal  200ms 0.8").value() ==
          delay{.kind = distribution::lognormal, .from = 200ms, .sigma = 0.8});
    for (const char* const wrong :
         {"", "..", "1s..", "..1s", "1s..2s..3s", "-1s", "lognormal", "lognormal 0s 1",
          "lognormal 1s 11", "lognormal 1s 1 1", "lognormal 25h 1", "1s..25h"})
        CHECK_FALSE(parse_delay(wrong).has_value());
}

TEST_CASE("behaviour values: ranges of numbers and times") {
    constexpr std::uint64_t most = number_range{}.most;
    CHECK(parse_number_range("10K").value() == number_range{10240, 10240});
    CHECK(parse_number_range("10K..1M").value() == number_range{10240, 1048576});
    CHECK(parse_number_range("10K..").value() == number_range{10240, most});
    CHECK(parse_number_range("..1M").value() == number_range{0, 1048576});
    CHECK(parse_number_range("3../10").value() == number_range{3, most, 10});
    CHECK(parse_number_range("3/10").value() == number_range{3, most, 10});
    CHECK(parse_number_range("3..50/10").value() == number_range{3, 50, 10});
    CHECK(contains(number_range{3, most, 10}, 23));
    CHECK_FALSE(contains(number_range{3, most, 10}, 10));
    for (const char* const wrong :
         {"", "..", "/", "/2", "2..1", "1..2..3", "1/0", "1/x", "-1", "1.5", "x..2"})
        CHECK_FALSE(parse_number_range(wrong).has_value());

    const auto from = std::chrono::nanoseconds(10s).count();
    const auto to = std::chrono::nanoseconds(40s).count();
    CHECK(parse_time_range("10s..40s").value() == time_range{from, to});
    CHECK(parse_time_range("10s..").value() == time_range{from, time_range{}.most});
    CHECK(parse_time_range("..40s").value() == time_range{0, to});
    for (const char* const wrong : {"", "..", "10s", "40s..10s", "10..40", "10s..40s/2"})
        CHECK_FALSE(parse_time_range(wrong).has_value());
}

TEST_CASE("behaviour values: replies, and presets by name") {
    CHECK(parse_reply("450 4.2.1 Too many").value() == reply_text{450, "4.2.1", "Too many"});
    CHECK(parse_reply("450 Too many").value() == reply_text{450, "", "Too many"});
    CHECK(parse_reply("450 4.2.1").value() == reply_text{450, "4.2.1", ""});
    CHECK(parse_reply("450").value() == reply_text{450, "", ""});
    CHECK(parse_reply("550 192.0.2.1 is blocked").value() ==
          reply_text{550, "", "192.0.2.1 is blocked"});
    CHECK(parse_reply("gmail-rate").value().enhanced == "4.7.28");

    std::set<std::string_view> names;
    for (const preset& one : presets()) {
        INFO(one.name);
        CHECK(names.insert(one.name).second);
        std::string written;
        postal::proto::append_reply(written, {one.code, one.enhanced, one.text});
        written.resize(written.size() - 2);
        CHECK(parse_reply(written).value() == parse_reply(one.name).value());
        const std::string text =
            "[[rule]]\n[rule.rcpt]\nreply = \"" + std::string(one.name) + "\"\n";
        CHECK(parse_behaviour(text, "b.toml").has_value());
    }
}
