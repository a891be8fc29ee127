// SPDX-License-Identifier: GPL-3.0-or-later
// The worker pool with sessions that only wait: time slices, stop rules, tickets, turnstiles.
#include "load/worker_pool.hpp"

#include <boost/asio/use_awaitable.hpp>

#include <catch2/catch.hpp>

#include <algorithm>
#include <exception>
#include <memory>
#include <new>
#include <string>
#include <vector>

#include <sys/wait.h>
#include <unistd.h>

#include "load/turnstile.hpp"

using namespace postal;
using namespace std::chrono_literals;

namespace {

struct recorder : load::run_watcher {
    void on_time_slice(const stats::time_slice& time_slice) override {
        messages.push_back(time_slice.counts.messages);
        ends.push_back(time_slice.end_s);
        closes.push_back(time_slice.closes_interval);
        draining.push_back(time_slice.draining);
        partial.push_back(time_slice.partial);
    }
    void on_live(const stats::live_state&) override {}
    std::vector<std::uint64_t> messages;
    std::vector<double> ends;
    std::vector<bool> closes, draining, partial;
};

// Passes the turnstile until it is closed, counting a message each time.
boost::asio::awaitable<void> pass_all(load::worker& own, load::turnstile& gate) {
    load::turnstile::waiter place(own);
    for (;;) {
        load::ticket got = gate.try_pass(std::chrono::steady_clock::now());
        if (got.what == load::pass::wait) got = co_await gate.wait(place);
        if (got.what == load::pass::over) co_return;
        gate.use();
        ++own.tally().messages;
    }
}

// The same with connections of which two in three are gone when they are to be used.
boost::asio::awaitable<void> pass_with_failures(load::worker& own, load::turnstile& gate) {
    load::turnstile::waiter place(own);
    for (int turn = 0;; ++turn) {
        load::ticket got = gate.try_pass(std::chrono::steady_clock::now());
        if (got.what == load::pass::wait) got = co_await gate.wait(place);
        if (got.what == load::pass::over) co_return;
        co_await gate.pause(place, 100us);  // a connection is made
        if (turn % 3 == 2) {
            gate.use();
            ++own.tally().messages;
        } else {
            gate.give_back(got);
            co_await gate.rest(place, 1ms);
        }
    }
}

// Has a message in flight when the run stops, and finishes it 20 ms later.
boost::asio::awaitable<void> finish_late(load::worker& own, load::turnstile& gate) {
    load::turnstile::waiter place(own);
    co_await gate.pause(place, 1h);
    boost::asio::steady_timer reply(own.context(), 20ms);
    co_await reply.async_wait(boost::asio::use_awaitable);
    ++own.tally().messages;
}

std::optional<load::schedule> thousand_a_second() {
    return load::schedule(load::rate_curve::constant({1000}), load::arrival::constant, 1);
}

struct stopper final : load::watched {
    explicit stopper(load::turnstile& of) : gate(of) {}
    void on_deadline() override {}
    void on_stop(load::stop_kind) override { gate.stop(); }
    load::turnstile& gate;
};

// A worker's turnstile with two sessions.
struct worker_sessions {
    using session = boost::asio::awaitable<void> (*)(load::worker&, load::turnstile&);
    worker_sessions(load::worker& own, load::run_tickets& stock, load::pacing how,
                    session run = pass_all)
        : gate(own, stock, std::move(how)), stop(gate) {
        own.watch(stop);
        own.spawn(run(own, gate));
        own.spawn(run(own, gate));
    }
    load::turnstile gate;
    stopper stop;
};

}  // namespace

TEST_CASE("worker_pool: exactly as many tickets are used, whatever the number of workers") {
    for (unsigned workers : {1U, 2U, 3U}) {
        for (std::uint64_t messages : {1ULL, 7ULL, 1000ULL, 12'345ULL}) {
            load::worker_pool_plan plan;
            plan.workers = workers;
            load::run_tickets stock(messages);
            load::worker_pool pool(plan);
            std::vector<std::unique_ptr<worker_sessions>> sessions_by_worker(workers);
            recorder seen;
            const auto ran = pool.run(
                [&](load::worker& own) {
                    sessions_by_worker[own.index()] =
                        std::make_unique<worker_sessions>(own, stock, load::pacing{});
                },
                seen);
            REQUIRE(ran.has_value());
            REQUIRE(seen.messages.size() == 1);
            CHECK(seen.messages[0] == messages);
        }
    }
}

TEST_CASE("worker_pool: exactly as many are used when most tickets come back") {
    for (unsigned workers : {1U, 2U, 3U}) {
        for (const load::pacing& how : {load::pacing{}, load::pacing{thousand_a_second()}}) {
            load::worker_pool_plan plan;
            plan.workers = workers;
            load::run_tickets stock(50);
            load::worker_pool pool(plan);
            std::vector<std::unique_ptr<worker_sessions>> sessions_by_worker(workers);
            recorder seen;
            const auto ran = pool.run(
                [&](load::worker& own) {
                    sessions_by_worker[own.index()] =
                        std::make_unique<worker_sessions>(own, stock, how, pass_with_failures);
                },
                seen);
            REQUIRE(ran.has_value());
            REQUIRE(seen.messages.size() == 1);
            CHECK(seen.messages[0] == 50);
        }
    }
}

TEST_CASE("worker_pool: time slices end at intervals and at the end of the warm-up") {
    load::worker_pool_plan plan;
    plan.workers = 2;
    plan.interval = 100ms;
    plan.warmup = 150ms;
    plan.duration = 400ms;
    load::run_tickets stock(std::nullopt);
    load::worker_pool pool(plan);
    std::vector<std::unique_ptr<worker_sessions>> sessions_by_worker(2);
    recorder seen;
    const auto ran = pool.run(
        [&](load::worker& own) {
            sessions_by_worker[own.index()] =
                std::make_unique<worker_sessions>(own, stock, load::pacing{thousand_a_second()});
        },
        seen);
    REQUIRE(ran.has_value());
    REQUIRE(seen.ends.size() >= 5);  // on a busy machine the end takes a while
    const std::vector<double> wanted{0.1, 0.15, 0.2, 0.3, 0.4};
    for (std::size_t i = 0; i < wanted.size(); ++i) {
        CHECK(seen.ends[i] == Approx(wanted[i]).margin(1e-9));
    }
    seen.closes.resize(5);
    CHECK(seen.closes == std::vector<bool>{true, false, true, true, true});
    CHECK(std::find(seen.draining.begin(), seen.draining.begin() + 5, true) ==
          seen.draining.begin() + 5);
    std::uint64_t all = 0;
    for (std::uint64_t one : seen.messages) {
        all += one;
    }
    CHECK(all > 0);
    const double lasted_s = std::chrono::duration<double>(pool.lasted()).count();
    CHECK(static_cast<double>(all) <= 1000 * lasted_s + 1);  // what was due
}

TEST_CASE("worker_pool: time slices within an interval close none") {
    load::worker_pool_plan plan;
    plan.workers = 2;
    plan.interval = 200ms;
    plan.slice = 80ms;
    plan.duration = 300ms;
    load::run_tickets stock(std::nullopt);
    load::worker_pool pool(plan);
    std::vector<std::unique_ptr<worker_sessions>> sessions_by_worker(2);
    recorder seen;
    const auto ran = pool.run(
        [&](load::worker& own) {
            sessions_by_worker[own.index()] =
                std::make_unique<worker_sessions>(own, stock, load::pacing{thousand_a_second()});
        },
        seen);
    REQUIRE(ran.has_value());
    const std::vector<double> wanted{0.08, 0.16, 0.2, 0.28, 0.3};
    REQUIRE(seen.ends.size() >= wanted.size());
    for (std::size_t i = 0; i < wanted.size(); ++i)
        CHECK(seen.ends[i] == Approx(wanted[i]).margin(1e-9));
    seen.closes.resize(wanted.size());
    CHECK(seen.closes == std::vector<bool>{false, false, true, false, true});
}

TEST_CASE("worker_pool: a worker tells the first error of each kind once, and none of the stop") {
    struct listener : recorder {
        void on_first_error(const stats::first_error& what) override {
            heard.push_back(stats::describe_first(what));
            heard_before_slices = heard_before_slices && ends.empty();
        }
        std::vector<std::string> heard;
        bool heard_before_slices = true;
    };
    load::worker_pool_plan plan;
    plan.workers = 2;
    plan.interval = 10s;
    load::worker_pool pool(plan);
    listener seen;
    const auto ran = pool.run(
        [](load::worker& own) {
            for (int i = 0; i < 5; ++i) {
                own.tally().errors.add("rcpt", 550, "5.1.1", "no such user", "mx:25");
                own.tally().errors.add("data", 0, stats::stopped_reason, "", "mx:25");
                own.tally().errors.add("connect", 0, "refused", "mx:26", "mx:26");
            }
        },
        seen);
    REQUIRE(ran.has_value());
    std::sort(seen.heard.begin(), seen.heard.end());
    const std::string refused = "connect refused at mx:26";
    const std::string no_user = "rcpt 550 5.1.1 at mx:25: no such user";
    CHECK(seen.heard == std::vector<std::string>{refused, refused, no_user, no_user});
    CHECK(seen.heard_before_slices);
}

TEST_CASE("worker_pool: the interval ends at the stop, and what is finished later is apart") {
    for (unsigned workers : {1U, 3U}) {
        for (const auto duration : {50ms, 100ms}) {  // inside an interval, and at its end
            load::worker_pool_plan plan;
            plan.workers = workers;
            plan.interval = 100ms;
            plan.duration = duration;
            load::run_tickets stock(std::nullopt);
            load::worker_pool pool(plan);
            std::vector<std::unique_ptr<worker_sessions>> sessions_by_worker(workers);
            recorder seen;
            const auto ran = pool.run(
                [&](load::worker& own) {
                    sessions_by_worker[own.index()] =
                        std::make_unique<worker_sessions>(own, stock, load::pacing{}, finish_late);
                },
                seen);
            REQUIRE(ran.has_value());
            REQUIRE(seen.ends.size() == 2);
            CHECK(seen.ends[0] == Approx(std::chrono::duration<double>(duration).count()));
            CHECK(seen.ends[1] >= seen.ends[0] + 0.02);
            CHECK(seen.messages == std::vector<std::uint64_t>{0, 2 * workers});
            CHECK(seen.closes == std::vector<bool>{true, true});
            CHECK(seen.draining == std::vector<bool>{false, true});
            CHECK(seen.partial == std::vector<bool>{duration < 100ms, true});
        }
    }
}

TEST_CASE("timetable: cuts at intervals, at the warm-up, and not at the end of the run") {
    load::timetable times;
    times.first_interval = 40s;  // as with --align-minutes
    times.interval = 60s;
    times.warmup = 70s;
    times.duration = 160s;
    CHECK(times.next_cut(0s) == 40s);
    CHECK(times.next_cut(40s) == 70s);
    CHECK(times.next_cut(70s) == 100s);
    CHECK(times.next_cut(100s) == std::chrono::nanoseconds::max());
    CHECK(times.last_cut(0s) == 0s);
    CHECK(times.last_cut(39s) == 0s);
    CHECK(times.last_cut(40s) == 40s);
    CHECK(times.last_cut(99s) == 70s);
    CHECK(times.ends_interval(40s));
    CHECK_FALSE(times.ends_interval(70s));
    CHECK(times.ends_interval(100s));
}

TEST_CASE("worker_pool: a session that ends with an exception ends the run, which has failed") {
    for (const bool serves : {false, true}) {
        load::worker_pool workers({.workers = 2, .phases = 1, .serves = serves});
        const auto fails = []() -> boost::asio::awaitable<void> {
            throw std::bad_alloc();
            co_return;
        };
        recorder seen;
        const auto ran = workers.run(
            [&](load::worker& own) {
                if (own.index() == 0) own.spawn(fails());
            },
            seen);
        REQUIRE_FALSE(ran.has_value());
        CHECK(ran.error().message == "a session ended with: out of memory");
    }
}

// Else its threads would work on with what an exception has destroyed below them.
TEST_CASE("worker_pool: an exception in the main thread ends the process") {
    constexpr int terminated = 77;
    const pid_t runner = ::fork();
    REQUIRE(runner >= 0);
    if (runner == 0) {
        std::set_terminate([] { ::_exit(terminated); });
        struct : recorder {
            void on_time_slice(const stats::time_slice&) override { throw std::bad_alloc(); }
        } without_memory;
        load::worker_pool workers(
            {.workers = 2, .serves = true, .interval = 10ms, .duration = 10s});
        try {
            (void)workers.run([](load::worker&) {}, without_memory);
        } catch (const std::bad_alloc&) {
        }
        ::_exit(0);
    }
    int status = -1;
    REQUIRE(::waitpid(runner, &status, 0) == runner);
    REQUIRE(WIFEXITED(status));
    CHECK(WEXITSTATUS(status) == terminated);
}
