// SPDX-License-Identifier: GPL-3.0-or-later
// What a worker notes of its own time.
#include "load/worker.hpp"

#include <boost/asio/use_awaitable.hpp>

#include <catch2/catch.hpp>

#include "os/usage.hpp"

using namespace postal;
using namespace std::chrono_literals;

namespace {

// Keeps the worker from its loop, and lives until the tick has come that was due meanwhile.
boost::asio::awaitable<void> hold_up(load::worker& own) {
    const auto until = std::chrono::steady_clock::now() + 420ms;
    while (std::chrono::steady_clock::now() < until)
        continue;
    boost::asio::steady_timer pause(own.context());
    while (own.tally().loop_late.max() < 300ms) {
        pause.expires_after(1ms);
        co_await pause.async_wait(boost::asio::use_awaitable);
    }
}

// The same, and ends then.
boost::asio::awaitable<void> busy_for(load::worker& own, std::chrono::milliseconds time) {
    const auto until = std::chrono::steady_clock::now() + time;
    while (std::chrono::steady_clock::now() < until)
        continue;
    boost::asio::steady_timer pause(own.context(), 1ms);
    co_await pause.async_wait(boost::asio::use_awaitable);
}

}  // namespace

TEST_CASE("worker: a loop that was held up is as late as the ticks that it missed") {
    stats::tally seen(1);
    load::worker one({.phases = 1},
                     [&](load::worker&, std::chrono::nanoseconds, const stats::tally& counted,
                         bool) { seen.merge(counted); });
    const load::timetable times{
        .start = std::chrono::steady_clock::now(), .first_interval = 1h, .interval = 1h};
    one.run(times, [&](load::worker& own) {
        own.connection_opened();
        own.connection_opened();
        own.spawn(hold_up(own));
    });
    const std::chrono::duration<double> since_start =
        std::chrono::steady_clock::now() - times.start;
    // Due after 100 ms at most, and so 320 ms late at least; then three that were missed.
    CHECK(seen.loop_late.count() >= 4);
    CHECK(seen.loop_late.max() >= 300ms);
    CHECK(seen.loop_late.min() < 100ms);
    CHECK(seen.busy > 0ns);
    CHECK(seen.connected_s > 2 * 0.3);  // both for as long as it was held up, at least
    CHECK(seen.connected_s <= 2 * since_start.count() + 1e-6);
    const bool known = os::run_delay_meter::of_this_thread().read().has_value();
    CHECK(seen.run_delay.has_value() == known);
}

// A worker that comes late to the end of an interval ran, and waited, for longer than that.
TEST_CASE("worker: it did in no time slice more than that was long") {
    bool more = false;
    std::chrono::nanoseconds all{0};
    load::worker one({.phases = 1}, [&](load::worker&, std::chrono::nanoseconds,
                                        const stats::tally& counted, bool) {
        all += counted.wall;
        const auto spent = counted.busy + counted.run_delay.value_or(0ns);
        more = more || spent > counted.wall + 20ms;  // the kernel's accounting
    });
    const load::timetable times{
        .start = std::chrono::steady_clock::now(), .first_interval = 100ms, .interval = 100ms};
    one.run(times, [&](load::worker& own) { own.spawn(busy_for(own, 420ms)); });
    CHECK_FALSE(more);
    CHECK(all >= 420ms);
    CHECK(all <= std::chrono::steady_clock::now() - times.start);
}
