// Who may begin and when, under a clock that the tests set.
#include "load/admission.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <deque>
#include <memory>
#include <vector>

using namespace postal;
using namespace std::chrono_literals;
using load::admission;
using load::arrival;
using load::pacing;
using load::pass;
using load::rate_curve;
using load::run_tickets;
using load::steady_time;
using load::ticket;

namespace {

const steady_time start = steady_time(1h);

pacing constant(double a_second) {
    return {load::schedule(rate_curve::constant({a_second}), arrival::constant, 1)};
}

pacing poisson(double a_second) {
    return {load::schedule(rate_curve::constant({a_second}), arrival::poisson, 1)};
}

pacing open_loop(pacing how) {
    how.open_loop = true;
    return how;
}

// The rules of some workers that share a stock.
struct workers {
    workers(std::optional<std::uint64_t> most, const pacing& how, std::size_t count = 1)
        : stock(most) {
        for (std::size_t i = 0; i < count; ++i)
            each.emplace_back(stock, start, how);
    }
    admission& operator[](std::size_t index) { return each[index]; }

    // What one asks at that time after the start.
    ticket ask(std::size_t index, std::chrono::nanoseconds after) {
        return each[index].try_pass(start + after);
    }
    bool goes(std::size_t index, std::chrono::nanoseconds after) {
        return ask(index, after).what == pass::go;
    }
    // Who is let through then.
    admission::place* served(std::size_t index, std::chrono::nanoseconds after) {
        return each[index].let_through(start + after);
    }

    run_tickets stock;
    std::deque<admission> each;
};

// Seconds, to the microsecond.
double after_start(steady_time time) {
    return std::round(std::chrono::duration<double>(time - start).count() * 1e6) / 1e6;
}

}  // namespace

TEST_CASE("admission: without a schedule and a limit everybody passes at once") {
    workers of(std::nullopt, {});
    for (int i = 0; i < 1000; ++i) {
        const ticket got = of.ask(0, 5ms);
        REQUIRE(got.what == pass::go);
        REQUIRE(got.due == start + 5ms);
        of[0].use();
    }
    CHECK_FALSE(of[0].over());
}

TEST_CASE("admission: a rate admits each when it is due, and what has piled up at once") {
    workers of(std::nullopt, constant(10));
    CHECK(of.goes(0, 0ms));
    const ticket early = of.ask(0, 60ms);
    CHECK(early.what == pass::wait);
    CHECK(after_start(early.due) == 0.1);
    CHECK(of.goes(0, 100ms));
    // nobody asks until 0.75 s
    for (double due : {0.2, 0.3, 0.4, 0.5, 0.6, 0.7}) {
        const ticket got = of.ask(0, 750ms);
        REQUIRE(got.what == pass::go);
        CHECK(after_start(got.due) == due);
        CHECK(got.from_schedule);
    }
    CHECK(of.ask(0, 750ms).what == pass::wait);
}

TEST_CASE("admission: random gaps are the same whichever worker takes which ticket") {
    workers one(std::nullopt, open_loop(poisson(100)));
    workers three(std::nullopt, open_loop(poisson(100)), 3);
    for (std::size_t i = 0; i < 500; ++i) {
        const ticket wanted = one.ask(0, 1h);
        const ticket got = three.ask(i * i % 3, 1h);
        REQUIRE(got.what == pass::go);
        REQUIRE(got.due == wanted.due);
    }
}

TEST_CASE("admission: after a ramp to nothing all wait") {
    workers of(
        std::nullopt,
        open_loop({load::schedule(rate_curve::ramp({10}, {{{0}, 1s}}), arrival::constant, 1)}));
    int passed = 0;
    while (of.goes(0, 1h))
        ++passed;
    CHECK(passed == 6);
    CHECK(of.ask(0, 1h).what == pass::wait);
    CHECK_FALSE(of[0].over());
}

TEST_CASE("admission: a cap makes up for its last second alone, an open loop for all") {
    for (const bool poisson_gaps : {false, true}) {
        const pacing how = poisson_gaps ? poisson(10) : constant(10);
        workers cap(std::nullopt, how, 2);
        workers open(std::nullopt, open_loop(how), 2);
        const auto passes = [](workers& of, std::chrono::nanoseconds after) {
            int passed = 0;
            while (of.goes(static_cast<std::size_t>(passed % 2), after))
                ++passed;
            return passed;
        };
        const int at_once = passes(cap, 0ms);
        CHECK(passes(open, 0ms) == at_once);
        // nobody is free for 20 s
        CHECK(passes(cap, 20s) <= (poisson_gaps ? 25 : 11));
        CHECK(passes(open, 20s) >= (poisson_gaps ? 140 : 200));
        // the rate goes on from there
        const int later = passes(cap, 21s);
        CHECK(later >= (poisson_gaps ? 1 : 9));
        CHECK(later <= (poisson_gaps ? 25 : 11));
    }
}

TEST_CASE("admission: the time in which no session was free for a cap is counted once") {
    workers of(std::nullopt, constant(10), 2);
    REQUIRE(of.goes(0, 0ms));
    CHECK(of[0].take_busy_time() == 0ns);
    // Due at 0.1 and 0.2 s; both are begun by sessions that were busy before.
    REQUIRE(of.goes(0, 250ms));
    REQUIRE(of.goes(1, 300ms));
    CHECK(of[0].take_busy_time() == 150ms);
    CHECK(of[1].take_busy_time() == 50ms);
    CHECK(of[1].take_busy_time() == 0ns);
    // Who waits in the queue was free.
    admission::place waiting;
    REQUIRE(of.goes(0, 300ms));
    CHECK(of[0].take_busy_time() == 0ns);
    of[0].wait(waiting);
    CHECK(of.served(0, 430ms) == &waiting);
    CHECK(of[0].take_busy_time() == 0ns);
    // Due at 0.5 s, and never begun.
    stats::histogram waited;
    CHECK(of[1].stop(start + 700ms, waited) == 0);
    CHECK(of[1].take_busy_time() == 200ms);
    CHECK(of[0].stop(start + 800ms, waited) == 0);
    CHECK(of[0].take_busy_time() == 0ns);
}

TEST_CASE(
    "admission: who wants several gets those that are left, and due times go on behind them") {
    for (const pacing& how : {pacing{}, open_loop(constant(10))}) {
        workers of(12, how, 2);
        const ticket first = of[0].try_pass(start + 10s, 5);
        CHECK(first.messages == 5);
        const ticket second = of[1].try_pass(start + 10s, 5);
        CHECK(second.messages == 5);
        if (how.when) CHECK(after_start(second.due) == 0.5);
        CHECK(of[0].give_back(first) == 0);
        const ticket part = of[1].try_pass(start + 10s, 3);
        CHECK(part.messages == 3);
        std::uint64_t rest = 0;
        for (ticket got; (got = of[0].try_pass(start + 10s, 5)).what == pass::go;)
            rest += got.messages;
        CHECK(rest == 4);
        CHECK(of.ask(0, 10s).what != pass::go);
        CHECK_FALSE(of[0].over());
        of[0].use(rest);
        of[1].use(3);
        of[1].use(5);
        CHECK(of[0].over());
    }
}

TEST_CASE("admission: it is over when the last ticket is used, not when it is taken") {
    for (const pacing& how : {pacing{}, constant(10)}) {
        workers of(3, how, 2);
        for (int i = 0; i < 3; ++i)
            REQUIRE(of.goes(0, 10s));
        of[0].use();
        of[0].use();
        for (std::size_t worker : {0U, 1U}) {
            CHECK_FALSE(of[worker].over());
            CHECK(of.ask(worker, 10s).what == pass::wait);
        }
        of[0].use();
        for (std::size_t worker : {0U, 1U}) {
            CHECK(of[worker].over());
            CHECK(of.ask(worker, 10s).what == pass::over);
        }
    }
}

TEST_CASE(
    "admission: a ticket that comes back goes to any worker, with its due time, the earliest "
    "first") {
    workers of(4, constant(10), 2);
    std::vector<ticket> got;
    for (int i = 0; i < 4; ++i)
        got.push_back(of.ask(0, 1s));
    of[0].give_back(got[2]);
    of[0].give_back(got[1]);
    const ticket again = of.ask(1, 2s);
    CHECK(again.what == pass::go);
    CHECK(after_start(again.due) == 0.1);
    CHECK_FALSE(again.from_schedule);
    CHECK(after_start(of.ask(0, 2s).due) == 0.2);
    CHECK(of.ask(1, 2s).what == pass::wait);
}

TEST_CASE("admission: a worker whose servers hang strands nothing, neither taken nor in its hand") {
    workers of(10'000, {}, 2);
    const ticket held = of.ask(0, 0ms);
    for (int i = 0; i < 9'999; ++i) {
        REQUIRE(of.goes(1, 0ms));
        of[1].use();
    }
    CHECK(of.ask(1, 0ms).what == pass::wait);
    of[0].give_back(held);
    CHECK(of.goes(1, 0ms));
    of[1].use();
    CHECK(of[0].over());
}

TEST_CASE("admission: a ticket on its way to one that waits keeps the others") {
    workers of(2, constant(10));
    admission::place first;
    admission::place second;
    admission::place third;
    for (admission::place* each : {&third, &second, &first})
        of[0].wait(*each);
    REQUIRE(of.served(0, 100ms) == &first);
    REQUIRE(of.served(0, 100ms) == &second);
    CHECK(of.served(0, 100ms) == nullptr);  // not over: neither has begun
    of[0].use();
    CHECK(of.served(0, 100ms) == nullptr);
    of[0].give_back(second.got);  // its connection was gone
    REQUIRE(of.served(0, 200ms) == &third);
    CHECK(third.got.what == pass::go);
    CHECK(after_start(third.got.due) == 0.1);
    of[0].wait(second);
    of[0].use();
    REQUIRE(of.served(0, 200ms) == &second);
    CHECK(second.got.what == pass::over);
}

TEST_CASE("admission: connections first, and of those the one that waited last") {
    workers of(std::nullopt, constant(1000));
    admission::place a;
    admission::place b;
    admission::place c;
    b.connected = c.connected = true;
    for (admission::place* each : {&c, &b, &a})
        of[0].wait(*each);
    CHECK(of.served(0, 1s) == &b);
    CHECK(of.served(0, 1s) == &c);
    CHECK(of.served(0, 1s) == &a);
    CHECK(of.served(0, 1s) == nullptr);
}

TEST_CASE("admission: who goes away while waiting takes no ticket along") {
    workers of(1, constant(10));
    admission::place stays;
    of[0].wait(stays);
    {
        admission::place goes;
        of[0].wait(goes);
    }
    CHECK(of.served(0, 1s) == &stays);
    CHECK(stays.got.what == pass::go);
}

TEST_CASE("admission: rests end with the tickets, pauses only with the run") {
    workers of(1, {});
    admission::place resting;
    admission::place pausing;
    of[0].rest(resting);
    of[0].pause(pausing);
    REQUIRE(of.goes(0, 0ms));
    CHECK(of.served(0, 0ms) == nullptr);
    of[0].use();
    CHECK(of.served(0, 0ms) == &resting);
    CHECK(of.served(0, 0ms) == nullptr);
    stats::histogram waited;
    of[0].stop(start, waited);
    CHECK(of.served(0, 0ms) == &pausing);
}

TEST_CASE("admission: a stop sends all home, each once") {
    workers of(std::nullopt, constant(10));
    std::vector<std::unique_ptr<admission::place>> all;
    for (int i = 0; i < 4; ++i)
        all.push_back(std::make_unique<admission::place>());
    all[0]->connected = true;
    of[0].wait(*all[0]);
    of[0].wait(*all[1]);
    of[0].rest(*all[2]);
    of[0].pause(*all[3]);
    stats::histogram waited;
    of[0].stop(start + 1s, waited);
    for (int i = 0; i < 4; ++i) {
        admission::place* one = of.served(0, 1s);
        REQUIRE(one != nullptr);
        CHECK(one->got.what == pass::over);
    }
    CHECK(of.served(0, 1s) == nullptr);
    CHECK(of.ask(0, 1s).what == pass::over);
}

TEST_CASE("admission: an open loop's backlog is counted once for the run when it stops") {
    workers of(std::nullopt, open_loop(constant(10)), 3);
    std::vector<ticket> got;
    for (std::size_t i = 0; i < 5; ++i)
        got.push_back(of.ask(i % 3, 1s));
    of[0].give_back(got[0]);
    stats::histogram waited;
    CHECK(of[1].stop(start + 2s, waited) == 17);  // 21 were due at 2 s, 4 are under way
    CHECK(of[1].stop(start + 2s, waited) == 0);
    // The first came back and was due at 0 s; of the others the fifth is the first.
    CHECK(waited.count() == 17);
    CHECK(waited.max() == 2s);
    CHECK(std::abs(waited.mean_us() - 14e6 / 17) < 0.01);
    // Another worker, which has not stopped yet, cannot take what was counted.
    CHECK(of.ask(2, 3s).what == pass::wait);
    CHECK(of[2].give_back(got[1]) == 1);
    CHECK(of[2].stop(start + 3s, waited) == 0);
    CHECK(waited.count() == 17);
}

TEST_CASE("admission: at the end of an open loop what is due is begun, and nothing else") {
    for (const pacing& how : {constant(10), poisson(10)}) {
        workers of(std::nullopt, open_loop(how), 2);
        workers whole(std::nullopt, open_loop(how));
        std::vector<steady_time> wanted;
        for (ticket got; (got = whole.ask(0, 1s)).what == pass::go;)
            wanted.push_back(got.due);
        const ticket unused = of.ask(1, 600ms);
        REQUIRE(unused.what == pass::go);
        of[0].finish_due(start + 1s);
        of[1].finish_due(start + 1s + 1ms);
        CHECK(of[1].give_back(unused) == 0);
        std::vector<steady_time> begun;
        for (ticket got; (got = of.ask(begun.size() % 2, 20s)).what == pass::go; of[1].use())
            begun.push_back(got.due);
        CHECK(begun == wanted);
        CHECK(of[0].over());
        CHECK(of[1].over());
    }
}

TEST_CASE("admission: a backlog ends with the messages, and a closed loop has none") {
    workers few(7, open_loop(constant(10)));
    CHECK(few.goes(0, 1s));
    stats::histogram waited;
    CHECK(few[0].stop(start + 10s, waited) == 6);
    CHECK(waited.count() == 6);
    workers closed(std::nullopt, constant(10));
    const ticket got = closed.ask(0, 1s);
    CHECK(closed[0].stop(start + 10s, waited) == 0);
    CHECK(waited.count() == 6);
    CHECK(closed[0].give_back(got) == 0);
}

TEST_CASE("admission: held shut nobody passes, and the schedule goes on") {
    for (const pacing& how : {pacing{}, constant(10)}) {
        workers of(std::nullopt, how);
        of[0].hold_shut(true);
        admission::place who;
        of[0].wait(who);
        CHECK(of.ask(0, 1s).what == pass::wait);
        CHECK(of.served(0, 1s) == nullptr);
        of[0].hold_shut(false);
        CHECK(of.served(0, 1s) == &who);
    }
}

TEST_CASE("admission: one that waits is looked at when the next is due, and now and then") {
    workers of(std::nullopt, constant(10));
    CHECK(of[0].look_at(start) == steady_time::max());
    REQUIRE(of.goes(0, 0ms));
    admission::place who;
    of[0].wait(who);
    CHECK(of[0].look_at(start) == start + admission::look_again);
    CHECK(after_start(of[0].look_at(start + 80ms)) == 0.1);
    of[0].hold_shut(true);
    CHECK(of[0].look_at(start + 80ms) == start + 80ms + admission::look_again);
}

namespace {

// Sessions that take `service` for each message: what they report of an open loop at a rate. Time
// goes on in steps that divide every gap and the service.
struct simulation {
    simulation(unsigned worker_count, unsigned session_count, double a_second)
        : of(std::nullopt, open_loop(constant(a_second)), worker_count), sessions(session_count) {
        for (std::size_t i = 0; i < sessions.size(); ++i) {
            sessions[i].worker = i % worker_count;
            of[sessions[i].worker].wait(sessions[i]);
        }
    }

    struct session : admission::place {
        std::size_t worker = 0;
        steady_time done{};  // while it is busy
    };

    double mean_response_ms(std::chrono::nanoseconds until, std::chrono::nanoseconds service) {
        for (steady_time now = start; now < start + until; now += 1ms) {
            for (session& each : sessions) {
                if (each.is_linked() || each.done > now) continue;
                finish(each, now);
                of[each.worker].wait(each);
            }
            for (admission& worker : of.each) {
                while (admission::place* next = worker.let_through(now))
                    static_cast<session*>(next)->done = now + service;
            }
        }
        return sum_ms / count;
    }

    void finish(session& one, steady_time now) {
        sum_ms += std::chrono::duration<double, std::milli>(now - one.got.due).count();
        ++count;
    }

    workers of;
    std::vector<session> sessions;
    double sum_ms = 0;
    double count = 0;
};

}  // namespace

TEST_CASE("admission: the response to an open loop does not depend on the number of workers") {
    struct load {
        unsigned sessions;
        double a_second;
        const char* reason;
    };
    for (const load& each :
         {load{3, 62.5, "busy to 83 %"}, load{3, 100, "more than the server takes"},
          load{7, 125, "at 71 %"}, load{50, 1000, "at 80 %"}}) {
        INFO(each.sessions << " sessions, " << each.reason);
        const double one = simulation(1, each.sessions, each.a_second).mean_response_ms(20s, 40ms);
        for (unsigned count = 2; count <= 4; ++count) {
            simulation several(std::min(count, each.sessions), each.sessions, each.a_second);
            CHECK(several.mean_response_ms(20s, 40ms) == Approx(one).epsilon(0.001));
        }
    }
}
