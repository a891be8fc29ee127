// SPDX-License-Identifier: GPL-3.0-or-later
// Made-up runs for the tests of what is printed from them.
//
// add_seconds() counts one interval the way a program with two workers does. Header-only; nothing
// here is timed and nothing fails.
#pragma once

#include "stats/run_report.hpp"

namespace postal::stats::test {

inline run_description description() {
    run_description run;
    run.program = "postal";
    run.version = "1.0.0";
    run.argv = {"postal", "-t", "12", "127.0.0.1", "users"};
    run.seed = 42;
    // 2026-01-01 00:00:00 UTC
    run.started = std::chrono::system_clock::time_point{std::chrono::seconds{1767225600}};
    run.phases = {"connect", "message"};
    run.message_phase = 1;
    run.interval = std::chrono::seconds{60};
    run.host = {"host", "Linux 6.1", 2, 1U << 30U};
    return run;
}

// From start to end with `messages` accepted after 1 ms each, by two workers, 50 % and 25 % busy.
inline time_slice counted(double start_s, double end_s, std::uint64_t messages) {
    time_slice made(2);
    made.start_s = start_s;
    made.end_s = end_s;
    made.closes_interval = true;
    const std::chrono::nanoseconds wall{static_cast<std::int64_t>((end_s - start_s) * 1e9)};
    for (std::size_t worker = 0; worker < 2; ++worker) {
        tally one(2);
        one.started = one.messages = one.recipients = worker == 0 ? messages : 0;
        one.bytes = one.messages * 5120;
        one.connections = 1;
        one.busy = worker == 0 ? wall / 2 : wall / 4;
        one.wall = wall;
        one.latency[0].record(std::chrono::microseconds{100});
        for (std::uint64_t i = 0; i < one.messages; ++i) {
            one.latency[1].record(std::chrono::milliseconds{1});
        }
        made.add_worker(worker, one);
    }
    return made;
}

}  // namespace postal::stats::test
