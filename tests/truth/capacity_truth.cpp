// SPDX-License-Identifier: GPL-3.0-or-later
// What is said of the highest rate that keeps its promise: that it is near the truth, within its
// bounds, and no number where there is none.
#include "stats/capacity/search.hpp"

#include "../unit/stats/simulated_servers.hpp"
#include "support.hpp"

using namespace postal;
using namespace postal::capacity;
using simulated::p99;
using simulated::server;
using truth::tally;

namespace {

// Many searches of one server, each with luck of its own, from another start.
struct searches {
    tally near;    // within 1 % of the truth
    tally within;  // the truth is within the bounds, but for the 1 in 1,000 that may stay behind
    tally found;   // a number, confirmed or not
    tally unstable;
    double longest_s = 0;

    void run(server of, double bound_s, double truth, std::uint64_t count) {
        for (std::uint64_t seed = 0; seed < count; ++seed) {
            server again = of;
            again.random = base::random_source(base::mix(seed, 8, 30));
            search_input asked;
            asked.goals = {p99()};
            asked.loads.start = 10 * (1 + 0.01 * static_cast<double>(seed % 100));
            asked.seed = seed;
            search one(asked);
            add(simulated::run(one, again, {bound_s}), truth);
        }
    }

  private:
    void add(const search_result& result, double truth) {
        const goal_result& limit = result.limit();
        const bool number = result.end == search_end::found || result.end == search_end::not_closer;
        found.add(number);
        unstable.add(result.end == search_end::unstable);
        near.add(std::abs(limit.rate / truth - 1) <= 0.01);
        within.add(limit.lower.value_or(0) <= truth * 1.0015 &&
                   limit.upper.value_or(simulated::never) >= truth);
        longest_s = std::max(longest_s, result.took_s);
    }
};

// The load above which more than 1 % is late, of a server that runs for hours.
double long_run_capacity(const server& of, double bound_s) {
    const auto late = [&](double load) {
        server again = of;
        again.free_at.assign(again.places, 0);
        std::uint64_t count = 0, lost = 0;
        for (double due_s = 0; due_s < 6'000; due_s += 1 / load) {
            ++count;
            lost += simulated::finish_of(again, due_s) - due_s > bound_s ? 1 : 0;
        }
        return static_cast<double>(lost) / static_cast<double>(count);
    };
    double low = 300, high = 405;
    while (high > low * 1.0005) {
        const double middle = (low + high) / 2;
        (late(middle) > 0.01 ? high : low) = middle;
    }
    return low;
}

server with_random_pauses(double every_s) {
    server made;
    made.pauses_every_s = every_s;
    made.random_pauses = true;
    return made;
}

server with(double pauses_every_s, double tail_share, double warm_up_s) {
    server made;
    made.pauses_every_s = pauses_every_s;
    made.tail_share = tail_share;
    made.tail_s = 1;
    made.warm_up_s = warm_up_s;
    return made;
}

}  // namespace

TEST_CASE("capacity: the rate of a token bucket is found within 1 % in 95 of 100 searches") {
    const std::size_t places = GENERATE(1U, 4U);
    searches all;
    all.run({.places = places, .service_s = 0.0025 * static_cast<double>(places)}, 1, 400, 300);
    CAPTURE(places, all.near.share(), all.within.share(), all.longest_s);
    CHECK(all.near.share() >= 0.95);
    CHECK(all.within.share() >= 0.95);
    CHECK(all.found.share() >= 0.99);
    CHECK(all.longest_s <= 600);
}

TEST_CASE("capacity: so is that of an M/D/4 queue whose p99 is computed") {
    const double truth = simulated::mdc_capacity(0.0025, 4, 9, 0.01);
    CHECK(truth == Approx(1502).epsilon(0.001));
    searches all;
    all.run({.places = 4, .service_s = 0.0025, .poisson = true}, 0.025, truth, 100);
    CAPTURE(all.near.share(), all.within.share());
    CHECK(all.near.may_be_at_least(0.95));
    CHECK(all.within.may_be_at_least(0.95));
    CHECK(all.found.share() >= 0.95);
}

TEST_CASE("capacity: the computed p99 of an M/D/1 queue is that of its closed form") {
    // P(W <= D) and P(W <= 2D) of M/D/1 (Erlang 1909).
    const double rho = 0.8;
    const double one = (1 - rho) * std::exp(rho);
    const double two = (1 - rho) * (std::exp(2 * rho) - rho * std::exp(rho));
    CHECK(1 - simulated::mdc_late(rho, 1, 1, 1) == Approx(one).epsilon(0.01));
    CHECK(1 - simulated::mdc_late(rho, 1, 1, 2) == Approx(two).epsilon(0.01));
}

TEST_CASE("capacity: on noisy servers the truth is within the bounds in 95 of 100 searches") {
    struct row {
        const char* what;
        server of;
        std::uint64_t count;
    };
    const row noisy =
        GENERATE(row{"tails", with(0, 0.02, 0), 250}, row{"pauses", with(5, 0, 0), 250},
                 row{"rare pauses", with(10, 0, 0), 250},
                 row{"pauses at random", with_random_pauses(10), 250},
                 row{"warm-up", with(0, 0, 30), 125}, row{"all of them", with(5, 0.01, 20), 125});
    server warm = noisy.of;
    warm.warm_up_s = 0;
    const double truth = long_run_capacity(warm, 1);
    searches all;
    all.run(noisy.of, 1, truth, noisy.count);
    CAPTURE(noisy.what, truth, all.within.share(), all.near.share(), all.unstable.share());
    CHECK(all.within.may_be_at_least(0.95));
    CHECK(all.unstable.may_be_at_most(0.05));
}

TEST_CASE("capacity: one that changes by a fifth in the middle is unstable") {
    const double by = GENERATE(0.8, 1.2);
    searches all;
    for (int i = 0; i < 10; ++i) {
        server of;
        of.changes_at_s = 140 + 5 * i;
        of.changes_by = by;
        all.run(of, 1, 400, 20);
    }
    CAPTURE(by, all.unstable.share());
    CHECK(all.unstable.share() >= 0.95);
}
