// SPDX-License-Identifier: GPL-3.0-or-later
// Runs that begin at a time to come, and what others may have a say in while they go on.
#include <boost/asio/use_awaitable.hpp>

#include <catch2/catch.hpp>

#include <atomic>
#include <csignal>
#include <vector>

#include "load/worker_pool.hpp"

using namespace postal;
using namespace std::chrono_literals;
using load::run_ending;
using load::stop_kind;

namespace {

struct recorder : load::run_watcher {
    void on_time_slice(const stats::time_slice& time_slice) override {
        messages += time_slice.counts.messages;
        ends.push_back(time_slice.end_s);
    }
    void on_live(const stats::live_state&) override {}
    void on_interrupt(const stats::live_state&, std::chrono::nanoseconds grace) override {
        waits.push_back(grace);
    }
    void on_cut_short() override { ++cut_short; }
    std::vector<std::chrono::nanoseconds> waits;
    int cut_short = 0;
    std::uint64_t messages = 0;
    std::vector<double> ends;
};

// Waits until it is stopped.
struct sleeper final : load::watched {
    explicit sleeper(load::worker& own) : timer(own.context()) { own.watch(*this); }
    void on_deadline() override {}
    void on_stop(stop_kind) override { timer.cancel(); }
    boost::asio::awaitable<void> run() {
        timer.expires_after(1h);
        try {
            co_await timer.async_wait(boost::asio::use_awaitable);
        } catch (const boost::system::system_error&) {
        }
    }
    boost::asio::steady_timer timer;
};

struct one_run {
    explicit one_run(load::worker_pool_plan plan) : pool(plan), sleepers(plan.workers) {}
    void go() {
        const auto ran = pool.run(
            [this](load::worker& own) {
                ++begun;
                ++own.tally().messages;
                sleepers[own.index()] = std::make_unique<sleeper>(own);
                own.spawn(sleepers[own.index()]->run());
            },
            seen);
        REQUIRE(ran.has_value());
    }
    load::worker_pool pool;
    std::vector<std::unique_ptr<sleeper>> sleepers;
    std::atomic<unsigned> begun{0};
    recorder seen;
};

double seconds(std::chrono::nanoseconds time) {
    return std::chrono::duration<double>(time).count();
}

}  // namespace

TEST_CASE("worker_pool: workers begin at the time given, and all counts from there") {
    load::worker_pool_plan plan{.workers = 2, .phases = 1};
    plan.interval = 50ms;
    plan.first_interval = 20ms;
    plan.duration = 100ms;
    plan.start_at = std::chrono::steady_clock::now() + 200ms;
    const auto wall = std::chrono::system_clock::now() + 200ms;
    one_run one(plan);
    CHECK_FALSE(one.pool.start_late());
    one.go();
    CHECK(std::chrono::steady_clock::now() >= *plan.start_at + plan.duration);
    CHECK(one.pool.times().start == *plan.start_at);
    CHECK(std::abs(seconds(one.pool.started() - wall)) < 0.1);
    REQUIRE(one.pool.start_late().has_value());
    CHECK(*one.pool.start_late() < 100ms);  // on a busy machine
    REQUIRE(one.seen.ends.size() >= 3);
    CHECK(one.seen.ends[0] == Approx(0.02));
    CHECK(one.seen.ends[1] == Approx(0.07));
    CHECK(one.seen.ends[2] == Approx(0.1));
    CHECK(one.seen.messages == 2);
    CHECK(one.pool.ended_by() == run_ending::duration);
}

TEST_CASE("worker_pool: a start that is over is late, and the timetable stays") {
    load::worker_pool_plan plan{.workers = 2, .phases = 1};
    plan.interval = 200ms;
    plan.duration = 400ms;
    plan.start_at = std::chrono::steady_clock::now() - 250ms;
    one_run one(plan);
    one.go();
    CHECK(one.pool.start_late() >= 250ms);
    CHECK(seconds(one.pool.lasted()) >= 0.4);
    REQUIRE(one.seen.ends.size() >= 2);
    CHECK(one.seen.ends[0] == Approx(0.2));
    CHECK(one.seen.ends[1] == Approx(0.4));
}

TEST_CASE("worker_pool: a stop before the start ends the run, and nothing was counted") {
    for (const bool finishes_due : {false, true}) {
        load::worker_pool_plan plan{.workers = 3, .phases = 1, .finishes_due = finishes_due};
        plan.start_at = std::chrono::steady_clock::now() + 1h;
        one_run one(plan);
        one.pool.every(20ms, [&] { ::raise(SIGTERM); });
        one.go();
        CHECK(one.begun == 0);
        CHECK(one.seen.ends.empty());
        CHECK(one.pool.lasted() == 0ns);
        CHECK_FALSE(one.pool.start_late());
        CHECK(one.pool.ended_by() == run_ending::signal);
        CHECK(one.seen.waits.empty());
    }
}

TEST_CASE("worker_pool: who interrupts is told what is waited for, and what was not") {
    struct row {
        load::worker_pool_plan plan;
        bool again;
        bool early;
        const char* why;
    };
    const row rows[]{
        {{.workers = 2, .phases = 1}, false, false, "without an end of its own"},
        {{.workers = 2, .phases = 1, .bounded = true}, false, true, "with one"},
        {{.workers = 2, .phases = 1, .duration = 1h}, false, true, "with a duration"},
        {{.workers = 2, .phases = 1}, true, false, "twice"},
    };
    for (auto [plan, again, early, why] : rows) {
        INFO(why);
        plan.grace = 1h;  // that no machine sleeps through
        one_run one(plan);
        one.pool.every(20ms, [left = again ? 2 : 1]() mutable {
            if (left-- > 0) ::raise(SIGINT);
        });
        one.go();
        const auto& interrupted = one.pool.interrupted();
        REQUIRE(interrupted);
        CHECK(interrupted->early == early);
        CHECK(interrupted->at > 0ns);
        CHECK(one.seen.waits == std::vector<std::chrono::nanoseconds>{plan.grace});
        CHECK(one.seen.cut_short == (interrupted->cut_short ? 1 : 0));
        CHECK(interrupted->signal == SIGINT);
        if (!again) CHECK_FALSE(interrupted->cut_short);
    }
}

TEST_CASE("worker_pool: another's stop is as of its time, but not of a time to come") {
    for (const auto when : {30ms, 3600'000ms}) {
        load::worker_pool_plan plan{.workers = 2, .phases = 1};
        one_run one(plan);
        one.pool.every(60ms, [&] { one.pool.stop(stop_kind::gently, run_ending::complete, when); });
        one.go();
        CHECK(one.pool.ended_by() == run_ending::complete);
        REQUIRE_FALSE(one.seen.ends.empty());
        if (when == 30ms) CHECK(one.seen.ends[0] == Approx(0.03));
        CHECK(one.seen.ends[0] <= seconds(one.pool.lasted()));
        CHECK(one.seen.messages == 2);
    }
}

TEST_CASE("worker_pool: a hook sees signals first, SIGUSR1 too, and decides") {
    one_run one({.workers = 1, .phases = 1});
    std::vector<int> heard;
    one.pool.on_signal([&](int signal) {
        heard.push_back(signal);
        return signal == SIGINT;
    });
    const std::vector<int> sent{SIGUSR1, SIGTERM, SIGINT};
    std::size_t next = 0;
    one.pool.every(10ms, [&] {
        if (next == heard.size() && next < sent.size()) ::raise(sent[next++]);
    });
    one.go();
    CHECK(heard == sent);
    CHECK(one.pool.ended_by() == run_ending::signal);
}
