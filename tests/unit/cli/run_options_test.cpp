// SPDX-License-Identifier: GPL-3.0-or-later
#include <catch2/catch.hpp>

#include <chrono>

#include "cli/run_options.hpp"

using namespace postal;
using namespace std::chrono_literals;

TEST_CASE("interval: a minute, or what gives a short run about ten lines") {
    struct row {
        std::chrono::nanoseconds duration, warmup, interval;
    };
    const row rows[] = {
        {0s, 0s, 60s},   {24h, 0s, 60s},    {10min, 0s, 60s},   {10min - 1s, 0s, 30s},
        {5min, 0s, 30s}, {2min, 0s, 10s},   {1min, 0s, 5s},     {20s, 0s, 2s},
        {19s, 0s, 1s},   {300ms, 0s, 1s},   {1min, 10s, 5s},    {1min, 4s, 2s},
        {2min, 7s, 1s},  {20min, 90s, 30s}, {5min, 1500ms, 1s},
    };
    for (const row& one : rows) {
        CAPTURE(one.duration.count(), one.warmup.count());
        cli::run_options options;
        options.duration = one.duration;
        options.warmup = one.warmup;
        CHECK(cli::interval_of(options) == one.interval);
        options.interval = 7s;
        CHECK(cli::interval_of(options) == 7s);
    }
}

TEST_CASE("interval: whole minutes where they end at the clock's") {
    cli::run_options options;
    options.duration = 2min;
    options.align_minutes = true;
    CHECK(cli::interval_of(options) == 60s);
    CHECK(bool(cli::check(options)));
    options.interval = 10s;
    CHECK_FALSE(bool(cli::check(options)));
}
