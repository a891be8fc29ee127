// SPDX-License-Identifier: GPL-3.0-or-later
// What is said of the generator: threads that work, sleep, share processors, meet a hypervisor's
// steal and a cgroup's quota are simulated to the millisecond, what the kernel would count of them
// is measured, and the verdict is held against what was put in.
#include "stats/generator.hpp"

#include "support.hpp"

#include <algorithm>
#include <array>

using namespace postal;
using namespace std::chrono_literals;
using stats::generator_cause;
using stats::generator_verdict;
using truth::tally;

namespace {

constexpr int span_ms = 10'000;

// A thread that works for a while and then sleeps, both of random length (exponential).
struct thread {
    double work_ms = 1;
    double sleep_ms = 0;  // 0: never
    double left_ms = 0;
    double wakes_at = 0;
    int ran = 0;
    int waited = 0;
    int slept = 0;
};

struct machine {
    int processors = 2;
    double stolen = 0;     // the chance of each millisecond of a processor that somebody wants
    int quota_of_100 = 0;  // ms that the first thread's group may run of each 100; 0: no quota
};

// The first is the generator's; others are strangers.
struct outcome {
    stats::span_times times;
    thread own;
    double stolen_from_own = 0;
};

double exponential(base::random_source& random, double mean) {
    return -mean * std::log(1 - random.uniform());
}

// Who has run least goes first; what is stolen is stolen from whoever would have run.
outcome simulate(base::random_source& random, std::vector<thread> threads, const machine& on) {
    outcome made;
    int idle = 0, stolen = 0, held = 0, quota = on.quota_of_100;
    for (int now = 0; now < span_ms; ++now) {
        if (now % 100 == 0) quota = on.quota_of_100;
        std::vector<thread*> ready;
        for (thread& one : threads) {
            if (one.left_ms <= 0 && one.wakes_at <= now)
                one.left_ms = exponential(random, one.work_ms);
            if (one.left_ms > 0)
                ready.push_back(&one);
            else
                ++one.slept;
        }
        std::sort(ready.begin(), ready.end(),
                  [&](const thread* one, const thread* other) { return one->ran < other->ran; });
        int free = on.processors;
        for (thread* one : ready) {
            const bool own = one == &threads.front();
            if (own && on.quota_of_100 > 0 && quota <= 0) {
                ++one->waited;
                ++held;
                continue;
            }
            if (free == 0) {
                ++one->waited;
                continue;
            }
            --free;
            if (random.uniform() < on.stolen) {
                ++stolen;
                if (own) ++made.stolen_from_own;
                continue;
            }
            if (own) --quota;
            ++one->ran;
            one->left_ms -= 1;
            if (one->left_ms <= 0 && one->sleep_ms > 0)
                one->wakes_at = now + exponential(random, one->sleep_ms);
        }
        idle += free;
    }
    made.own = threads.front();
    made.stolen_from_own /= span_ms;
    stats::worker_time& worker = made.times.workers.emplace_back();
    worker.wall = span_ms * 1ms;
    worker.busy = made.own.ran * 1ms;
    worker.run_delay = made.own.waited * 1ms;
    worker.connected_s = 1;
    made.times.machine = {on.processors * span_ms / 1e3, idle / 1e3, stolen / 1e3, std::nullopt,
                          held / 1e3};
    return made;
}

stats::generator_finding judged(const outcome& of) {
    stats::generator_load load;
    load.end_s = span_ms / 1e3;
    load.measure(of.times, stats::tally(1));
    return stats::find_limit(load);
}

std::vector<thread> beside(const thread& own, int strangers, base::random_source& random) {
    std::vector<thread> all{own};
    for (int i = 0; i < strangers; ++i)
        all.push_back({1 + 20 * random.uniform(), 1 + 40 * random.uniform()});
    return all;
}

}  // namespace

TEST_CASE("generator: a thread that never sleeps is always seen, whatever takes its time") {
    base::random_source random(base::mix(9, 1, 0));
    tally seen;
    for (int run = 0; run < 600; ++run) {
        const machine on{1 + run % 4, run % 3 == 0 ? 0.4 * random.uniform() : 0, 0};
        const auto of = simulate(random, beside({5, 0}, run % 7, random), on);
        seen.add(judged(of).verdict != generator_verdict::none);
    }
    CAPTURE(seen.share());
    CHECK(seen.may_be_at_least(0.99));
}

TEST_CASE("generator: one that sleeps for a quarter of the time and hardly waits is not accused") {
    base::random_source random(base::mix(9, 2, 0));
    tally accused;
    for (int run = 0; run < 600; ++run) {
        // Processors enough for all, and now and then some steal.
        const machine on{4, run % 3 == 0 ? 0.08 * random.uniform() : 0, 0};
        const double work = 1 + 9 * random.uniform();
        const auto of = simulate(random, beside({work, work}, run % 3, random), on);
        if (of.own.slept < span_ms / 4 || of.own.waited > span_ms / 20) continue;
        accused.add(judged(of).verdict != generator_verdict::none);
    }
    CAPTURE(accused.share(), accused.trials);
    CHECK(accused.trials > 400);
    CHECK(accused.may_be_at_most(0.01));
}

TEST_CASE("generator: what took most of the time is named") {
    base::random_source random(base::mix(9, 3, 0));
    tally itself, shared, steal, quota;
    for (int run = 0; run < 200; ++run) {
        itself.add(judged(simulate(random, beside({5, 0}, 1, random), {4, 0, 0})).verdict ==
                   generator_verdict::limit);
        const auto full = simulate(random, {{5, 0}, {5, 0}, {5, 0}, {5, 0}, {5, 0}}, {2, 0, 0});
        shared.add(judged(full).cause == generator_cause::machine);
        const double taken = 0.25 + 0.3 * random.uniform();
        const auto robbed = simulate(random, beside({5, 0}, 1, random), {2, taken, 0});
        if (robbed.stolen_from_own > 2.0 * robbed.own.waited / span_ms)
            steal.add(judged(robbed).cause == generator_cause::steal);
        const int allowed = 20 + static_cast<int>(60 * random.uniform());
        const auto held = simulate(random, beside({5, 0}, 1, random), {4, 0, allowed});
        quota.add(judged(held).cause == generator_cause::quota);
    }
    CAPTURE(itself.share(), shared.share(), steal.share(), steal.trials, quota.share());
    CHECK(itself.may_be_at_least(0.99));
    CHECK(shared.may_be_at_least(0.99));
    CHECK(steal.trials > 100);
    CHECK(steal.may_be_at_least(0.95));
    CHECK(quota.may_be_at_least(0.99));
}

TEST_CASE("generator: a thread's share of the steal is what was stolen from it") {
    base::random_source random(base::mix(9, 4, 0));
    double worst = 0;
    for (int run = 0; run < 200; ++run) {
        const double taken = 0.5 * random.uniform();
        const auto of = simulate(random, beside({5, 5}, 2, random), {2, taken, 0});
        stats::generator_load load;
        load.end_s = span_ms / 1e3;
        load.measure(of.times, stats::tally(1));
        const double ran = static_cast<double>(of.own.ran) / span_ms;
        const double wanted = 1 - *load.machine_idle;
        const double said = ran * *load.machine_steal / (wanted - *load.machine_steal);
        worst = std::max(worst, std::abs(said - of.stolen_from_own));
    }
    CHECK(worst < 0.05);
}
