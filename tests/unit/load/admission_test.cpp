// SPDX-License-Identifier: GPL-3.0-or-later
// Who may begin and when, and who waits for whom.
#include <algorithm>
#include <memory>
#include <vector>

#include "admission_play.hpp"
#include "base/random.hpp"

using namespace admission_play;

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

TEST_CASE(
    "admission: who wants several gets those that are left, and due times go on behind them") {
    for (const pacing& how : {pacing{}, open_loop(constant(10))}) {
        workers of(12, how, 2);
        const ticket first = of[0].try_pass(start + 10s, 5);
        CHECK(first.messages == 5);
        const ticket second = of[1].try_pass(start + 10s, 5);
        CHECK(second.messages == 5);
        if (how.when) CHECK(after_start(second.due) == 0.9);
        CHECK(of[0].give_back(first));
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

TEST_CASE("admission: several pass when the last of them is due, and each has its own due time") {
    struct rule {
        pacing how;
        std::optional<std::uint64_t> most;
        std::uint64_t wanted;
        std::vector<double> due;
        const char* reason;
    };
    const pacing ends{load::schedule(rate_curve::ramp({10}, {{{0}, 1s}}), arrival::constant, 1)};
    for (const rule& each : {
             rule{open_loop(constant(10)), {}, 1, {0}, "one alone"},
             rule{open_loop(constant(10)), {}, 5, {0, 0.1, 0.2, 0.3, 0.4}, "an open loop"},
             rule{constant(10), {}, 5, {0, 0.1, 0.2, 0.3, 0.4}, "a cap"},
             rule{constant(10), 3, 5, {0, 0.1, 0.2}, "no more are left"},
             rule{ends,
                  {},
                  50,
                  {0, 0.105573, 0.225403, 0.367544, 0.552786, 1},
                  "no more will ever be due"},
         }) {
        INFO(each.reason);
        workers of(each.most, each.how);
        const std::chrono::nanoseconds last(std::llround(each.due.back() * 1e9));
        admission::place who;
        who.wanted = each.wanted;
        if (last.count() > 0) {
            const ticket early = of[0].try_pass(start + last - 1us, each.wanted);
            CHECK(early.what == pass::wait);
            CHECK(after_start(early.due) == each.due.back());
            of[0].wait(who);
            CHECK(of.served(0, last - 1us) == nullptr);
            CHECK(after_start(of[0].look_at(start + last - 1us)) == each.due.back());
            who.unlink();
        }
        const ticket got = of[0].try_pass(start + last + 1us, each.wanted);
        REQUIRE(got.what == pass::go);
        CHECK(got.messages == each.due.size());
        CHECK(after_start(got.due) == each.due.back());
        std::vector<double> due;
        for (std::size_t i = 0; i < got.each.size(); ++i)
            due.push_back(after_start(got.each[i]));
        CHECK(due == each.due);
    }
}

TEST_CASE("admission: whoever takes how many, nothing begins early and all due times are used") {
    for (const bool random_gaps : {false, true}) {
        for (const unsigned count : {1U, 3U}) {
            const pacing how = open_loop(random_gaps ? poisson(200) : constant(200));
            workers single(std::nullopt, how);
            workers of(std::nullopt, how, count);
            std::vector<steady_time> wanted, got;
            while (wanted.size() < 2'000)
                wanted.push_back(single.ask(0, 1h).due);
            base::random_source random(count);
            std::vector<ticket> held;
            for (steady_time now = start; got.size() < wanted.size(); now += 1ms) {
                for (ticket one;
                     (one = of[random.below(count)].try_pass(now, 1 + random.below(7))).what ==
                     pass::go;) {
                    REQUIRE(one.due <= now);
                    REQUIRE(one.each.size() == one.messages);
                    REQUIRE(one.each.last() == one.due);
                    if (random.below(10) == 0) {
                        of[random.below(count)].give_back(one);
                        continue;
                    }
                    for (std::size_t i = 0; i < one.each.size(); ++i)
                        got.push_back(one.each[i]);
                }
            }
            std::sort(got.begin(), got.end());
            got.resize(std::min(got.size(), wanted.size() - 20));  // some may be out
            wanted.resize(got.size());
            CHECK(got == wanted);
        }
    }
}

TEST_CASE("admission: a cap puts groups off by what the last of them is late") {
    workers of(std::nullopt, constant(10));
    // Each group of 20 spans 1.9 s; asked in time, none is late.
    for (double last : {1.9, 3.9, 5.9}) {
        const ticket got = of[0].try_pass(start + 1ms * std::llround(last * 1e3), 20);
        REQUIRE(got.what == pass::go);
        CHECK(after_start(got.due) == last);
    }
    // The next was due at 7.9 s and comes at 20 s: as if it had been due a second before.
    const ticket late = of[0].try_pass(start + 20s, 20);
    REQUIRE(late.what == pass::go);
    CHECK(after_start(late.due) == 19);
    CHECK(after_start(of[0].try_pass(start + 20s, 20).due) == 21);
}
