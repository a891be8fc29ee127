// SPDX-License-Identifier: GPL-3.0-or-later
// When a log had become how long: notes by themselves, and a file that grows.
#include "postal-audit/log_watch.hpp"

#include "../temporary_file.hpp"

#include <filesystem>
#include <fstream>

#include <catch2/catch.hpp>

using namespace postal;
using namespace std::chrono_literals;

namespace {

std::int64_t now_us() {
    const auto since_epoch = std::chrono::system_clock::now().time_since_epoch();
    return std::chrono::duration_cast<std::chrono::microseconds>(since_epoch).count();
}

}  // namespace

TEST_CASE("length notes: the last time of each length") {
    audit::length_notes notes;
    CHECK_FALSE(notes.last_time_at_most(1000).has_value());
    notes.add(1, 100);
    notes.add(2, 100);
    notes.add(3, 250);
    notes.add(4, 250);
    notes.add(5, 300);
    CHECK(notes.size() == 3);
    CHECK_FALSE(notes.last_time_at_most(99).has_value());
    CHECK(notes.last_time_at_most(100) == 2);
    CHECK(notes.last_time_at_most(249) == 2);
    CHECK(notes.last_time_at_most(250) == 4);
    CHECK(notes.last_time_at_most(300) == 5);
    CHECK(notes.last_time_at_most(~std::uint64_t{0}) == 5);
    notes.add(6, 200);  // shorter: as if it were not
    CHECK(notes.last_time_at_most(299) == 4);
    CHECK(notes.last_time_at_most(300) == 6);
}

TEST_CASE("length notes: a clock that is set back dates nothing later than it was") {
    audit::length_notes notes;
    notes.add(100, 10);
    notes.add(200, 20);
    notes.add(300, 30);
    notes.add(150, 40);  // what is acknowledged from here on has times from 150
    CHECK(notes.last_time_at_most(10) == 100);
    CHECK(notes.last_time_at_most(20) == 150);
    CHECK(notes.last_time_at_most(30) == 150);
    CHECK(notes.last_time_at_most(40) == 150);
    notes.add(160, 50);
    CHECK(notes.last_time_at_most(30) == 150);
    CHECK(notes.last_time_at_most(50) == 160);
}

TEST_CASE("length notes: bounded; what is forgotten makes times earlier, never later") {
    audit::length_notes all;
    audit::length_notes few(16);
    for (std::int64_t i = 1; i <= 1000; ++i) {
        all.add(i, static_cast<std::uint64_t>(10 * i));
        few.add(i, static_cast<std::uint64_t>(10 * i));
        REQUIRE(few.size() <= 16);
    }
    for (std::uint64_t octets = 10; octets <= 10'000; octets += 7) {
        const auto exact = all.last_time_at_most(octets);
        const auto rough = few.last_time_at_most(octets);
        REQUIRE(rough.has_value());
        REQUIRE(*rough <= *exact);
        REQUIRE(*rough >= *exact - 300);
    }
}

TEST_CASE("log watch: a file that grows, and how late a look was") {
    const test::temporary_file file("0123456789");
    const std::int64_t before = now_us();
    audit::log_watch watch;
    REQUIRE(watch.start(file.path()).has_value());
    CHECK_FALSE(watch.last_time_at_most(9).has_value());
    // Waits until a look has been taken after this moment, then writes.
    const auto seen_again = [&](std::uint64_t octets) {
        const std::int64_t since = now_us();
        while (watch.last_time_at_most(octets).value_or(0) < since)
            std::this_thread::sleep_for(1ms);
    };
    seen_again(10);
    const std::int64_t grows = now_us();
    std::ofstream(file.path(), std::ios::app) << "0123456789";
    const std::int64_t has_grown = now_us();
    seen_again(20);
    watch.stop();
    watch.stop();
    const auto at_ten = watch.last_time_at_most(19);
    REQUIRE(at_ten.has_value());
    CHECK(*at_ten >= before);
    CHECK(*at_ten <= has_grown);  // never dated after it was over
    CHECK(watch.last_time_at_most(20) >= grows);
    CHECK(watch.last_time_at_most(20) <= now_us());
    CHECK(watch.longest_gap() >= 500us);
    CHECK(watch.error() == 0);
}

TEST_CASE("log watch: what cannot be watched") {
    audit::log_watch watch;
    const auto missing = watch.start("/nonexistent/log");
    REQUIRE_FALSE(missing.has_value());
    CHECK(missing.error().message == "/nonexistent/log: No such file or directory");
    CHECK_FALSE(watch.start("/dev/null").has_value());
    watch.stop();
}
