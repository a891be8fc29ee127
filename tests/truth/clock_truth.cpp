// SPDX-License-Identifier: GPL-3.0-or-later
// Whether the bound of another machine's clock holds, however both clocks go within what their
// kernels say, and whether a clock that was set is said to have been.
#include "support.hpp"

#include "cluster/clock.hpp"

#include <algorithm>
#include <chrono>
#include <functional>

namespace {

using namespace std::chrono_literals;
using postal::base::random_source;
using postal::cluster::clock_estimate;
using postal::cluster::most_apart;
using std::chrono::nanoseconds;

constexpr nanoseconds rounding = 3ns;
constexpr double run_s = 60;
constexpr double piece_s = 0.25;

// Seconds that it shows at true seconds: at a rate that changes four times a second, and set at
// most once.
class clock_course {
  public:
    clock_course(double begin_s, const std::function<double(double)>& rate_at) {
        shown_.push_back(begin_s);
        for (double at = 0; at < 2 * run_s; at += piece_s)
            shown_.push_back(shown_.back() + piece_s * (1 + rate_at(at)));
    }
    void set_at(double at_s, double by_s) {
        step_at_s_ = at_s;
        step_s_ = by_s;
    }
    [[nodiscard]] double shown(double true_s) const {
        const auto piece = std::min(static_cast<std::size_t>(true_s / piece_s), shown_.size() - 2);
        const double into = true_s / piece_s - static_cast<double>(piece);
        return shown_[piece] + into * (shown_[piece + 1] - shown_[piece]) +
               (true_s >= step_at_s_ ? step_s_ : 0);
    }

  private:
    std::vector<double> shown_;
    double step_at_s_ = 1e9;
    double step_s_ = 0;
};

nanoseconds whole(double seconds) {
    return nanoseconds(std::llround(seconds * 1e9));
}

// What the kernels say, and how the clocks go: theirs and ours.
struct pair_of_clocks {
    double ours_most = 500e-6;
    double theirs_most = 500e-6;
    clock_course ours;
    clock_course theirs;

    [[nodiscard]] nanoseconds truth(double true_s) const {
        return whole(theirs.shown(true_s)) - whole(ours.shown(true_s));
    }
};

// Asks so many times from then on, over ways of 20 us and more that are as unequal as they come
// out.
void burst(clock_estimate& into, const pair_of_clocks& of, double true_s, int answers,
           random_source& random) {
    for (; answers > 0; --answers) {
        const double read_s = true_s + 20e-6 + 50e-6 * random.exponential();
        const double heard_s = read_s + 20e-6 + 50e-6 * random.exponential();
        into.add({whole(of.ours.shown(true_s)), whole(of.theirs.shown(read_s)),
                  whole(of.ours.shown(heard_s))});
        true_s = heard_s;
    }
    into.end_burst(most_apart(of.ours_most, of.theirs_most));
}

struct findings {
    truth::tally told;     // the start is within the bound that was told
    truth::tally at_all;   // and any time of the run within its bound
    truth::tally stepped;  // a run whose clock is said to have been set
    double told_bound_s = 0;
};

// One run as the leader makes it: a long burst, the start told for a little later, short bursts.
void try_run(const pair_of_clocks& of, random_source& random, findings& found) {
    clock_estimate estimate;
    burst(estimate, of, 0.1, 60, random);
    const double start_s = 0.3 + 2 * random.uniform();
    const nanoseconds start = whole(of.ours.shown(start_s));
    const nanoseconds told = estimate.offset(start);
    const nanoseconds told_bound = estimate.bound(start);
    found.told.add(std::chrono::abs(told - of.truth(start_s)) <= told_bound + rounding);
    found.told_bound_s += std::chrono::duration<double>(told_bound).count();
    for (double at = start_s + 1; at < run_s; at += 1.5 + random.uniform())
        burst(estimate, of, at, 12, random);
    bool all = true;
    for (int i = 0; i < 10; ++i) {
        const double at_s = i == 0 ? start_s : run_s * random.uniform();
        const nanoseconds at = whole(of.ours.shown(at_s));
        all = all && std::chrono::abs(estimate.offset(at) - of.truth(at_s)) <=
                         estimate.bound(at) + rounding;
    }
    found.at_all.add(all);
    found.stepped.add(estimate.steps() > 0);
}

using course = std::function<double(double)>;

course even(double rate) {
    return [rate](double) { return rate; };
}
course until(double end_s, double rate) {
    return [=](double at) { return at < end_s ? rate : 0; };
}
// Anything within +-most, anew every quarter of a second.
course restless(random_source& random, double most) {
    return [&random, most](double) { return most * (2 * random.uniform() - 1); };
}
double sign(random_source& random) {
    return random.below(2) == 0 ? 1 : -1;
}

constexpr std::size_t runs = 2'000;

}  // namespace

TEST_CASE("truth: the bound of a clock holds, however both go within what their kernels say") {
    constexpr double frequency = 500e-6;
    constexpr double chrony = 0.083333;  // its maxslewrate, by ticks of 9,167 to 10,833 us
    struct way {
        double most;
        std::function<course(random_source&, double direction)> rate;
        const char* what;
    };
    for (const way& each : {
             way{frequency,
                 [](random_source&random, double) { return even(frequency * random.uniform()); },
                 "even drift"},
             way{frequency, [](random_source&, double to) { return even(to * frequency); },
                 "slewed against each other"},
             way{frequency,
                 [](random_source&random, double to) {
                     return until(run_s * random.uniform(), to * frequency);
                 },
                 "a slew that ends during the run"},
             way{frequency,
                 [](random_source&random, double) { return restless(random, frequency); },
                 "restless"},
             way{frequency + chrony,
                 [](random_source&random, double to) {
                     return until(run_s * random.uniform(), to * chrony);
                 },
                 "slewed by ticks"},
             way{0.1 + frequency, [](random_source&, double to) { return even(0.1 * to); },
                 "slewed by all that the kernel takes"},
         }) {
        random_source random(10);
        findings found;
        for (std::size_t i = 0; i < runs; ++i) {
            const double to = sign(random);
            pair_of_clocks clocks{each.most, each.most,
                                  clock_course(1e5 * random.uniform(), each.rate(random, -to)),
                                  clock_course(1e5 * random.uniform(), each.rate(random, to))};
            try_run(clocks, random, found);
        }
        INFO(each.what << ": told " << found.told.held << ", all " << found.at_all.held
                       << ", steps " << found.stepped.held << " of " << runs << ", mean told bound "
                       << found.told_bound_s / runs * 1e6 << " us");
        // Arithmetic and no chance: always.
        CHECK(found.told.held == runs);
        CHECK(found.at_all.held == runs);
        CHECK(found.stepped.held == 0);
    }
}

TEST_CASE("truth: a clock that was set is said to have been, and the start's bound holds") {
    random_source random(11);
    findings found;
    for (std::size_t i = 0; i < runs; ++i) {
        pair_of_clocks clocks{500e-6, 500e-6,
                              clock_course(1e5 * random.uniform(), restless(random, 500e-6)),
                              clock_course(1e5 * random.uniform(), restless(random, 500e-6))};
        // What 2.5 s between two bursts cannot explain: from 6 ms to a minute.
        const double by_s = sign(random) * 6e-3 * std::pow(10'000.0, random.uniform());
        clocks.theirs.set_at(5 + (run_s - 10) * random.uniform(), by_s);
        try_run(clocks, random, found);
    }
    INFO("told " << found.told.held << ", all " << found.at_all.held << ", said "
                 << found.stepped.held << " of " << runs);
    CHECK(found.told.held == runs);
    // But for a step while an answer was on its way.
    CHECK(found.at_all.may_be_at_least(0.999));
    CHECK(found.stepped.may_be_at_least(0.999));
}
