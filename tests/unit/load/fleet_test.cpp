// The fleet with sessions that only wait: pieces of time, stop rules, budgets, turnstiles.
#include "load/fleet.hpp"

#include <catch2/catch.hpp>

#include <memory>
#include <vector>

#include "load/budget.hpp"
#include "load/turnstile.hpp"

using namespace postal;
using namespace std::chrono_literals;

namespace {

struct recorder : load::run_watcher {
    void on_piece(const stats::piece& piece) override {
        messages.push_back(piece.counts.messages);
        ends.push_back(piece.end_s);
        closes.push_back(piece.closes_interval);
    }
    void on_live(const stats::live_state&) override {}
    std::vector<std::uint64_t> messages;
    std::vector<double> ends;
    std::vector<bool> closes;
};

// Passes the turnstile until it is closed, counting a message each time.
boost::asio::awaitable<void> pass_all(load::worker& own, load::turnstile& gate) {
    load::turnstile::waiter place(own);
    for (;;) {
        load::ticket got = gate.try_pass(std::chrono::steady_clock::now());
        if (got.what == load::pass::wait) got = co_await gate.wait(place);
        if (got.what == load::pass::over) co_return;
        ++own.tally().messages;
    }
}

struct stopper final : load::watched {
    explicit stopper(load::turnstile& of) : gate(of) {}
    void on_deadline() override {}
    void on_stop(load::stop_kind) override { gate.stop(); }
    load::turnstile& gate;
};

// A worker's turnstile with two sessions.
struct crew {
    crew(load::worker& own, std::optional<load::schedule> pace, load::budget& pot)
        : gate(own, std::move(pace), pot), stop(gate) {
        own.watch(stop);
        own.spawn(pass_all(own, gate));
        own.spawn(pass_all(own, gate));
    }
    load::turnstile gate;
    stopper stop;
};

}  // namespace

TEST_CASE("fleet: exactly the budget is spent, whatever the number of workers") {
    for (unsigned workers : {1U, 2U, 3U}) {
        for (std::uint64_t messages : {1ULL, 7ULL, 1000ULL, 12'345ULL}) {
            load::fleet_plan plan;
            plan.workers = workers;
            load::budget pot(messages);
            load::fleet fleet(plan);
            std::vector<std::unique_ptr<crew>> crews(workers);
            recorder seen;
            const auto ran = fleet.run(
                [&](load::worker& own) {
                    crews[own.index()] = std::make_unique<crew>(own, std::nullopt, pot);
                },
                seen);
            REQUIRE(ran.has_value());
            REQUIRE(seen.messages.size() == 1);
            CHECK(seen.messages[0] == messages);
        }
    }
}

TEST_CASE("turnstile: a ticket that was given back goes to the next who asks") {
    load::worker own({0, 1, 0, false}, [](auto&&...) {});
    load::budget pot(2);
    load::turnstile gate(own, std::nullopt, pot);
    const auto now = std::chrono::steady_clock::now();
    const load::ticket first = gate.try_pass(now);
    REQUIRE(first.what == load::pass::go);
    REQUIRE(gate.try_pass(now + 1s).what == load::pass::go);
    CHECK(gate.over());
    gate.give_back(first);
    CHECK_FALSE(gate.over());
    const load::ticket again = gate.try_pass(now + 2s);
    CHECK(again.what == load::pass::go);
    CHECK(gate.try_pass(now + 3s).what == load::pass::over);
}

TEST_CASE("fleet: pieces end at intervals and at the end of the warm-up") {
    load::fleet_plan plan;
    plan.workers = 2;
    plan.interval = 100ms;
    plan.warmup = 150ms;
    plan.duration = 400ms;
    load::budget pot(std::nullopt);
    load::fleet fleet(plan);
    std::vector<std::unique_ptr<crew>> crews(2);
    recorder seen;
    const auto ran = fleet.run(
        [&](load::worker& own) {
            load::schedule pace(load::rate_curve::constant({1000}), load::arrival::constant, 1,
                                {own.index(), own.of()});
            crews[own.index()] = std::make_unique<crew>(own, pace, pot);
        },
        seen);
    REQUIRE(ran.has_value());
    REQUIRE(seen.ends.size() == 5);
    const std::vector<double> wanted{0.1, 0.15, 0.2, 0.3};
    for (std::size_t i = 0; i < wanted.size(); ++i) {
        CHECK(seen.ends[i] == Approx(wanted[i]).margin(1e-9));
    }
    CHECK(seen.closes == std::vector<bool>{true, false, true, true, true});
    std::uint64_t all = 0;
    for (std::uint64_t one : seen.messages) {
        all += one;
    }
    CHECK(all > 0);
    CHECK(all <= 401);  // what was due
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
    CHECK(times.ends_interval(40s));
    CHECK_FALSE(times.ends_interval(70s));
    CHECK(times.ends_interval(100s));
}
