// Who was the limit, over made-up spans of time.
#include <catch2/catch.hpp>

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

TEST_CASE("generator: what is not known accuses nobody") {
    generator_load bare;
    bare.end_s = 60;
    bare.worker_busy = 0.5;
    CHECK(judge(bare) == none);
    bare.measure({}, tally(1), {});
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
