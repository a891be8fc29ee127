// SPDX-License-Identifier: GPL-3.0-or-later
// Who was the limit, over made-up spans of time.
#include <catch2/catch.hpp>

#include "base/words.hpp"
#include "stats/run_report.hpp"
#include "support.hpp"

using namespace postal;
using namespace postal::stats;
using namespace std::chrono_literals;

namespace {

// A span in which nothing was wrong, and one change to it.
struct span : generator_load {
    span() {
        end_s = 60;
        worker_busy = 0.5;
        run_delay = 0.01;
        slip_p99 = 100us;
        slips = 1000;
        loop_late_p99 = 200us;
        loop_late_max = 4ms;
        machine_idle = 0.4;
        machine_steal = 0;
        cpu_pressure = 0.05;
    }
};

template <class Change>
generator_verdict after(Change change) {
    span made;
    change(made);
    return judge(made);
}

constexpr auto none = generator_verdict::none;
constexpr auto limit = generator_verdict::limit;
constexpr auto machine_full = generator_verdict::machine_full;
constexpr auto held_back = generator_verdict::held_back;

// Both workers of a slice wait for so long a share of it.
time_slice waiting(time_slice made, double share) {
    for (worker_time& one : made.workers)
        one.run_delay = std::chrono::nanoseconds(
            static_cast<std::int64_t>(static_cast<double>(one.wall.count()) * share));
    return made;
}

time_slice on(const base::machine_time& machine, time_slice made) {
    made.machine = machine;
    return made;
}

}  // namespace

TEST_CASE("generator: each symptom has its verdict") {
    CHECK(after([](span&) {}) == none);
    CHECK(after([](span& one) { one.worker_busy = 0.91; }) == limit);
    // Starving lowers CPU time: the wait tells.
    CHECK(after([](span& one) { one.run_delay = 0.45, one.machine_idle = 0.0; }) == machine_full);
    CHECK(after([](span& one) { one.run_delay = 0.11, one.machine_idle = 0.0; }) == machine_full);
    CHECK(after([](span& one) { one.run_delay = 0.09, one.machine_idle = 0.0; }) == none);
    CHECK(after([](span& one) { one.run_delay = 0.11, one.machine_idle = 0.5; }) == none);
    CHECK(after([](span& one) { one.run_delay = 0.11, one.machine_steal = 0.3; }) == machine_full);
    // A slow load that waits longer than it runs.
    const auto slow = [](double busy, double waited, double idle) {
        return after([&](span& one) {
            one.worker_busy = busy, one.run_delay = waited, one.machine_idle = idle;
        });
    };
    CHECK(slow(0.01, 0.08, 0.0) == machine_full);
    CHECK(slow(0.01, 0.08, 0.5) == none);
    CHECK(slow(0.09, 0.08, 0.0) == none);
    CHECK(slow(0.001, 0.009, 0.0) == none);
    // Half of the time is too much whatever the processors seem to have done.
    CHECK(after([](span& one) { one.run_delay = 0.5, one.machine_idle = std::nullopt; }) ==
          machine_full);
    CHECK(after([](span& one) { one.slip_p99 = 20ms; }) == limit);
    CHECK(after([](span& one) { one.slip_p99 = 20ms, one.slips = 900; }) == none);
    CHECK(after([](span& one) { one.slip_p99 = 20ms, one.machine_idle = 0.1; }) == machine_full);
    CHECK(after([](span& one) { one.loop_late_p99 = 20ms; }) == limit);
    CHECK(after([](span& one) { one.loop_late_p99 = 20ms, one.machine_steal = 0.2; }) ==
          machine_full);
    CHECK(after([](span& one) { one.loop_late_max = 1s; }) == none);
    // A full machine that keeps nobody waiting is well used.
    CHECK(after([](span& one) { one.machine_idle = 0.0, one.cpu_pressure = 1.0; }) == none);
}

TEST_CASE("generator: a thread that never sleeps is full, whatever takes its time") {
    using cause = generator_cause;
    struct row {
        const char* why;
        double busy, waited, idle, steal;
        generator_verdict verdict;
        cause of;
    };
    const row all[] = {
        {"it ran nearly always", 0.91, 0, 0.4, 0, limit, cause::generator},
        {"the hypervisor took the rest", 0.6, 0, 0.375, 0.25, machine_full, cause::steal},
        {"it waited for the rest, and processors are idle", 0.75, 0.25, 0.4, 0, limit,
         cause::generator},
        {"it waited for the rest, and none is idle", 0.75, 0.25, 0, 0, machine_full,
         cause::machine},
        {"what is withheld is little", 0.88, 0.09, 0, 0, limit, cause::generator},
        {"the same with processors idle", 0.88, 0.09, 0.5, 0, limit, cause::generator},
        {"it slept for a third", 0.5, 0.16, 0.4, 0, none, cause::none},
        {"it slept for a fifth, and little was stolen", 0.75, 0.01, 0.3, 0.03, none, cause::none},
        {"steal that it hardly met", 0.3, 0.005, 0.5, 0.05, none, cause::none},
        {"more waits than runs", 0.4, 0.55, 0.02, 0, machine_full, cause::machine},
    };
    for (const row& one : all) {
        INFO(one.why);
        span made;
        made.worker_busy = one.busy, made.run_delay = one.waited;
        made.machine_idle = one.idle, made.machine_steal = one.steal;
        const auto found = find_limit(made);
        CHECK(found.verdict == one.verdict);
        CHECK(found.cause == one.of);
    }
}

TEST_CASE("generator: 88 % busy, 9 % waiting and a loop 8 ms late is full") {
    span one;
    one.worker_busy = 0.88, one.run_delay = 0.09, one.loop_late_p99 = 8ms;
    CHECK(
        judge_all({one}, "postal").reason ==
        "a worker hardly slept: it ran 88 % of the time and waited 9 % for a processor from 0 s to "
        "60 s, with 40 % of the processors idle: postal itself was the limit");
    one.worker_busy = 0.6, one.run_delay = 0.01, one.machine_idle = 0.375, one.machine_steal = 0.25;
    CHECK(
        judge_all({one}, "postal").reason ==
        "a worker hardly slept: it ran 60 % of the time, waited 1 % for a processor and had 39 % "
        "stolen from 0 s to 60 s, with 38 % of the processors idle and 25 % stolen: the hypervisor "
        "gave the processors to others, and the figures are about that");
}

TEST_CASE("generator: of one worker that runs and another that waits none is full") {
    span_times times;
    times.workers.resize(2);
    for (worker_time& one : times.workers)
        one.wall = 60s, one.connected_s = 1;
    times.workers[0].busy = 45s;
    times.workers[1].run_delay = 15s;
    generator_load load;
    load.end_s = 60;
    load.measure(times, tally(1));
    CHECK(load.worker_busy == Approx(0.75));
    CHECK(load.run_delay == Approx(0.25));
    CHECK(judge(load) == none);
    times.workers[0].run_delay = 15s;
    load.measure(times, tally(1));
    CHECK(judge(load) == limit);
}

TEST_CASE("generator: a cgroup's quota is said as that") {
    span held;
    held.worker_busy = 0.4, held.run_delay = 0.5, held.throttled = 0.45, held.loop_late_p99 = 60ms;
    CHECK(find_limit(held).cause == generator_cause::quota);
    CHECK(judge(held) == held_back);
    CHECK(judge_all({held}, "postal").reason ==
          "a worker waited 50 % of the time for a processor and ran 40 % and a worker's loop was "
          "60.0 "
          "ms late at the 99th percentile and its cgroup had used up its CPU quota for 45 % of the "
          "time "
          "from 0 s to 60 s: postal was held back by its CPU quota (cgroup), and the figures are "
          "about "
          "that");
    held.machine_idle = 0;
    CHECK(judge(held) == held_back);
    held.throttled = 0.05;  // others took the processor
    CHECK(judge(held) == machine_full);
    span other;  // somebody else in the group, beside us
    other.throttled = 0.5;
    CHECK(judge(other) == none);
    other.run_delay = std::nullopt;  // the kernel does not say how long we waited
    CHECK(judge(other) == held_back);
    held.throttled = 0.45, held.worker_busy = 0.95;
    CHECK(judge(held) == limit);
}

TEST_CASE("generator: the ledger's writer and the main thread are judged by their names") {
    span one;
    one.ledger = thread_share{0.97, 0};
    CHECK(
        judge_all({one}, "postal").reason ==
        "the ledger's writer was 97 % busy from 0 s to 60 s, with 40 % of the processors idle: the "
        "ledger of postal was the limit");
    one.ledger = thread_share{0.7, 0.25};
    CHECK(find_limit(one).thread == run_thread::ledger);
    CHECK(judge(one) == limit);
    one.machine_idle = 0;
    CHECK(judge(one) == machine_full);
    one.ledger = thread_share{0.5, 0.1};
    one.machine_idle = 0.4;
    CHECK(judge(one) == none);
    one.main = thread_share{0.92, 0.05};
    CHECK(
        judge_all({one}, "postal").reason ==
        "the main thread was 92 % busy from 0 s to 60 s, with 40 % of the processors idle: postal "
        "itself was the limit");
}

TEST_CASE("generator: without traffic there is no verdict") {
    span quiet;
    quiet.machine_idle = 0, quiet.run_delay = 0.5, quiet.traffic = false;
    CHECK(judge(quiet) == none);
    const auto said = judge_all({quiet}, "postal");
    CHECK_FALSE(said.judged);
    CHECK_FALSE(said.traffic);
    CHECK(judge_all({quiet, span()}, "postal").traffic);
    span_times times;
    times.workers.resize(1);
    generator_load load;
    load.measure(times, tally(1));
    CHECK_FALSE(load.traffic);
    times.workers[0].connected_s = 0.1;
    load.measure(times, tally(1));
    CHECK(load.traffic);
    tally connected(1);
    connected.connections = 1;
    load.measure({}, connected);
    CHECK(load.traffic);
}

TEST_CASE("generator: a stop is said as that, and what was late by it says nothing else") {
    span stopped;
    stopped.stopped_s = 2, stopped.loop_late_p99 = 1500ms, stopped.slip_p99 = 1500ms;
    CHECK(judge(stopped) == held_back);
    CHECK(
        judge_all({stopped}, "postal").reason ==
        "postal was stopped for 2.0 s from 0 s to 60 s: it neither ran nor waited for a processor, "
        "and the figures are about that, too");
    stopped.stopped_s = 0.3;  // which is not what one tick of a hundred was late by
    CHECK(judge(stopped) == limit);
    stopped.stopped_s = 2, stopped.worker_busy = 0.95;
    CHECK(judge(stopped) == limit);
}

TEST_CASE("generator: a worker that came late to the end of a span is judged in the one before") {
    span_times times;
    times.workers.resize(1);
    times.workers[0].wall = 20us, times.workers[0].busy = 19us;
    generator_load load;
    load.end_s = 1;
    load.measure(times, tally(1));
    CHECK(load.worker_busy == 0);
    times.workers[0].wall = 3s, times.workers[0].busy = 2900ms;
    load.measure(times, tally(1));
    CHECK(load.worker_busy == Approx(2.9 / 3));
}

TEST_CASE("generator: verdicts and causes have words") {
    for (const auto one : {none, limit, machine_full, held_back})
        CHECK(base::named<generator_verdict>(base::name_of(one)) == one);
    CHECK(base::name_of(generator_cause::none).empty());
    CHECK(base::name_of(generator_cause::stopped) == "stopped");
}

TEST_CASE("generator: what is not known accuses nobody") {
    generator_load bare;
    bare.end_s = 60;
    bare.worker_busy = 0.5;
    CHECK(judge(bare) == none);
    bare.measure({}, tally(1));
    CHECK_FALSE(bare.run_delay);
    CHECK_FALSE(bare.machine_idle);
    CHECK_FALSE(bare.cpu_pressure);
    CHECK_FALSE(bare.loop_late_max);
    CHECK(judge_all({bare}, "postal").reason.empty());
}

TEST_CASE("generator: a span that is too short accuses nobody") {
    span brief;
    brief.end_s = 0.05;
    brief.worker_busy = 1;
    brief.run_delay = 1;
    brief.machine_idle = 0;
    CHECK(judge(brief) == none);
    CHECK_FALSE(judge_all({brief}, "postal").judged);
}

TEST_CASE("generator: the worst span decides, and its reason says when") {
    span calm, full, busy;
    full.start_s = 60, full.end_s = 120;
    full.run_delay = 0.45, full.machine_idle = 0.03, full.machine_steal = 0.12;
    const auto shared = judge_all({calm, full}, "postal");
    CHECK(shared.verdict == machine_full);
    CHECK_FALSE(shared.limited);
    CHECK(shared.run_delay == 0.45);
    CHECK(shared.machine_idle == 0.03);
    CHECK(shared.reason ==
          "a worker waited 45 % of the time for a processor and ran 50 % from 60 s to 120 s, with "
          "3 % of the processors idle and 12 % stolen: the machine was shared and full, and the "
          "figures are about it");
    full.machine_idle = 0.5, full.machine_steal = 0;
    CHECK(judge_all({full}, "postal").reason ==
          "a worker waited 45 % of the time for a processor and ran 50 % from 60 s to 120 s, with "
          "50 % of the processors idle: it had to share its processor, and the figures are about "
          "that");
    busy.start_s = 120, busy.end_s = 180;
    busy.worker_busy = 0.98;
    const auto limited = judge_all({calm, busy, full}, "postal");
    CHECK(limited.verdict == limit);
    CHECK(limited.limited);
    CHECK(limited.reason ==
          "a worker was 98 % busy from 120 s to 180 s, with 40 % of the processors idle: postal "
          "itself was the limit");
}

TEST_CASE("generator: a run that starves is not called unlimited") {
    run_report report(test::description());
    const base::machine_time full{120, 2, 0, 59.0};
    report.add_time_slice(on({120, 80, 0, 1.0}, test::counted(0, 60, 10)));
    report.add_time_slice(on(full, waiting(test::counted(60, 120, 10), 0.45)));
    const auto judged = report.generator();
    CHECK(judged.verdict == machine_full);
    CHECK_FALSE(judged.limited);
    CHECK(judged.run_delay == Approx(0.45));
    CHECK(judged.machine_idle == Approx(2.0 / 120));
    CHECK(judged.cpu_pressure == Approx(59.0 / 60));
    CHECK(report.intervals()[1].run_delay == Approx(0.45));
    CHECK_FALSE(report.intervals()[0].run_delay);
}

TEST_CASE("generator: a ramp is judged by its end") {
    run_report report(test::description());
    for (int i = 0; i < 10; ++i) {
        auto part = test::counted(i * 60, i * 60 + 60, 10);
        part.workers[0].busy = i * 6600ms;
        report.add_time_slice(part);
    }
    CHECK(report.generator().limited);
    CHECK(report.generator().worker_busy == Approx(0.99));
}

TEST_CASE("generator: a second of a run is judged where its interval is shorter or longer") {
    const auto limited = [](double interval_s, int parts) {
        run_report report(test::description());
        for (int i = 0; i < parts; ++i) {
            auto part = test::counted(i * interval_s, (i + 1) * interval_s, 10);
            part.partial = true;
            for (worker_time& one : part.workers)
                one.busy = one.wall;
            report.add_time_slice(part);
        }
        return report.generator().limited;
    };
    CHECK_FALSE(limited(0.05, 1));
    CHECK_FALSE(limited(0.25, 3));
    CHECK(limited(0.25, 6));
    CHECK(limited(40, 1));
}

TEST_CASE("generator: finishing what was in flight is not judged") {
    run_report report(test::description());
    report.add_time_slice(test::counted(0, 60, 10));
    auto rest = waiting(test::counted(60, 66, 1), 0.9);
    rest.draining = rest.partial = true;
    report.add_time_slice(on({12, 0, 0, 6.0}, rest));
    CHECK(report.generator().verdict == none);
}
