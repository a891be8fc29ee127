// SPDX-License-Identifier: GPL-3.0-or-later
// What is said of one run's rate: the interval of its mean "at 95 %", and that it rose or fell.
#include "stats/rate.hpp"

#include "support.hpp"

using namespace postal;
using truth::tally;

namespace {

constexpr double level = 1000;

std::vector<double> rates(base::random_source& random, std::size_t count, double correlation,
                          double rise = 0) {
    auto values = truth::alike(random, count, correlation);
    for (std::size_t i = 0; i < count; ++i)
        values[i] = level + 50 * values[i] +
                    rise * (static_cast<double>(i) / static_cast<double>(count - 1) - 0.5);
    return values;
}

}  // namespace

TEST_CASE(
    "rate: the interval within a run holds its level in 95 %, also where neighbours are alike") {
    struct row {
        double correlation;
        double claim;
    };
    const row of = GENERATE(row{0, 0.95}, row{0.5, 0.945}, row{0.8, 0.94}, row{0.9, 0.92});
    const std::size_t count = GENERATE(20, 30, 60, 120);
    base::random_source random(base::mix(count, 8, 1));
    tally held;
    for (int run = 0; run < 3000; ++run) {
        const auto said = stats::summarise_rates(rates(random, count, of.correlation)).ci95.value();
        held.add(said[0] <= level && level <= said[1]);
    }
    CAPTURE(of.correlation, count, held.share());
    CHECK(held.may_be_at_least(of.claim));
    CHECK(held.may_be_at_most(0.98));  // wider would be of no use
}

TEST_CASE("rate: below 20 values nothing is said to be sure") {
    base::random_source random(3);
    for (const std::size_t count : {2, 10, 19}) {
        const auto said = stats::summarise_rates(rates(random, count, 0.8, 1000));
        CHECK_FALSE(said.ci95.has_value());
        CHECK_FALSE(said.trend.has_value());
    }
}

TEST_CASE("rate: a level run is said to rise or fall in 1 %") {
    const double correlation = GENERATE(0.0, 0.5, 0.8, 0.9);
    const std::size_t count = GENERATE(20, 60, 120);
    base::random_source random(base::mix(count, 8, 2));
    tally said;
    for (int run = 0; run < 2000; ++run)
        said.add(stats::summarise_rates(rates(random, count, correlation)).trend.has_value());
    CAPTURE(correlation, count, said.share());
    CHECK(said.may_be_at_most(0.01));
}

TEST_CASE("rate: a rise of three deviations over two minutes is said, and how far it went") {
    base::random_source random(5);
    tally said;
    double sum = 0;
    for (int run = 0; run < 300; ++run) {
        const auto trend = stats::summarise_rates(rates(random, 120, 0.5, 150)).trend;
        said.add(trend.has_value());
        sum += trend.value_or(0.15);
    }
    CHECK(said.may_be_at_least(0.95));
    CHECK(sum / 300 == Approx(0.15).epsilon(0.1));
}

TEST_CASE("rate: no interval is finer than what was counted") {
    const std::vector<double> even(60, 100.0 / 3);
    const auto said = stats::summarise_rates(even, 1).ci95.value();
    CHECK(said[1] - said[0] > 0.1);
    CHECK(stats::confidence_text(said[0], said[1]) == "± 0.0746");
    // The level is any that rounds to these counts.
    base::random_source random(4);
    tally held;
    for (int run = 0; run < 1000; ++run) {
        const double due = 20 + random.uniform();
        double at = random.uniform();
        std::vector<double> counted;
        for (int second = 0; second < 30; ++second) {
            const double next = at + due;
            counted.push_back(std::floor(next) - std::floor(at));
            at = next;
        }
        const auto interval = stats::summarise_rates(counted, 1).ci95.value();
        held.add(interval[0] <= due && due <= interval[1]);
    }
    CHECK(held.may_be_at_least(0.95));
}
