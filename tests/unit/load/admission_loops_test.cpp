// SPDX-License-Identifier: GPL-3.0-or-later
// Open loops, whose schedule waits for nobody, and closed ones, whose rate is a cap.
#include <algorithm>
#include <vector>

#include "admission_play.hpp"

using namespace admission_play;

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
    CHECK_FALSE(of[2].give_back(got[1]));
    CHECK(of[2].stop(start + 3s, waited) == 0);
    CHECK(waited.count() == 17);
}

TEST_CASE("admission: at the end of an open loop what is due is begun, and nothing else") {
    for (const pacing& how : {constant(10), poisson(10)}) {
        workers of(std::nullopt, open_loop(how), 2);
        workers whole(std::nullopt, open_loop(how));
        std::vector<steady_time> wanted;
        for (ticket got; (got = whole.ask(0, 1s - 1ns)).what == pass::go;)
            wanted.push_back(got.due);
        const ticket unused = of.ask(1, 600ms);
        REQUIRE(unused.what == pass::go);
        of[0].finish_due(start + 1s);
        of[1].finish_due(start + 1s + 1ms);
        CHECK(of[1].give_back(unused));
        std::vector<steady_time> begun;
        for (ticket got; (got = of.ask(begun.size() % 2, 20s)).what == pass::go; of[1].use())
            begun.push_back(got.due);
        CHECK(begun == wanted);
        CHECK(of[0].over());
        CHECK(of[1].over());
    }
}

TEST_CASE("admission: a search's last trial leaves nothing that is still to come") {
    // Its schedule is put off by half a message; who waits for one more would wait for the grace.
    workers of(std::nullopt, open_loop(constant(0)));
    of.stock.put_off(0.5);
    of[0].extend(1s, 1s, 10);
    int begun = 0;
    for (; of.goes(0, 3s); ++begun)
        of[0].use();
    CHECK(begun == 10);
    CHECK_FALSE(of[0].over());
    of[0].finish_due(start + 3s);
    CHECK(of[0].over());
}

TEST_CASE("admission: what is due when the run ends, or later, is none of it") {
    for (const bool open : {false, true}) {
        pacing how = constant(10);
        how.open_loop = open;
        how.until = start + 1s;
        workers of(std::nullopt, how);
        int begun = 0;
        for (; of.goes(0, 1s); ++begun)
            CHECK(begun < 11);
        CHECK(begun == 10);  // due at 0, 0.1 and so on up to 0.9 s
        CHECK(of.ask(0, 1s).what == pass::wait);
        of[0].finish_due(start + 1s);
        CHECK(of.ask(0, 1s).what != pass::go);
        stats::histogram waited;
        CHECK(of[0].stop(start + 1s + 200ms, waited) == 0);
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
    CHECK(closed[0].give_back(got));
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

TEST_CASE("admission: what is due and taken late is nobody's any more, once in the run") {
    workers of(std::nullopt, open_loop(constant(10)), 2);  // at 0 s, 0.1 s, ...
    const ticket first = of.ask(0, 0s), second = of.ask(0, 100ms);
    CHECK(of[0].give_back(first));  // by a session that could not begin it
    std::size_t dropped = 0;
    for (std::size_t i = 0; of[i % 2].take_late(start + 1s).what == pass::go; ++i)
        ++dropped;
    CHECK(dropped == 10);
    CHECK_FALSE(of[0].give_back(second));  // that was under way to one
    CHECK(of[1].take_late(start + 1s).what == pass::wait);
    CHECK_FALSE(of.goes(0, 1050ms));
    const ticket fresh = of.ask(1, 1100ms);
    CHECK(fresh.what == pass::go);
    CHECK(of[1].give_back(fresh));
    CHECK(of.goes(1, 1100ms));
    SECTION("though nobody is let through meanwhile") {
        of[0].hold_shut(true);
        CHECK_FALSE(of.goes(0, 1200ms));
        CHECK(of[0].take_late(start + 1200ms).what == pass::go);
    }
    SECTION("without a schedule there is nothing that is late") {
        workers free(5, {});
        CHECK(free[0].take_late(start + 1s).what == pass::over);
        CHECK(free.goes(0, 1s));
    }
}
