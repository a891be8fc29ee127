// SPDX-License-Identifier: GPL-3.0-or-later
// Whether intervals hold the truth as often as they say, and how often a difference is seen where
// there is none: simulated experiments through the code that judges real ones. Seeds are fixed.
#include "stats/experiment/comparison.hpp"
#include "stats/experiment/validity.hpp"

#include "base/random.hpp"
#include "stats/histogram.hpp"

#include <catch2/catch.hpp>

#include <cmath>
#include <utility>
#include <vector>

using namespace postal::stats;

namespace {

constexpr std::size_t variants = 3;
constexpr double alpha = 0.05;
// ln(ratio to the baseline); the second variant is the baseline again (A/A).
constexpr double truth[variants] = {0, 0, 0.05};

struct conditions {
    const char* name;
    double deviation;    // of a run's logarithm
    double correlation;  // of each run with the one before
    double drift;        // from the first run to the last, and a step
    double block_deviation = 0.1;
};

// Every block runs the variants in random order.
class simulated_experiment {
  public:
    simulated_experiment(const conditions& of, std::size_t blocks,
                         postal::base::random_source& random)
        : of_(of), random_(random), length_(static_cast<double>(blocks * variants)) {
        noise_ = of.deviation * random.normal();
        table_.variants = variants;
        for (std::size_t block = 0; block < blocks; ++block)
            add_block();
    }

    void add_block() {
        std::size_t order[variants] = {0, 1, 2};
        for (std::size_t left = variants; left > 1; --left)
            std::swap(order[left - 1], order[random_.below(left)]);
        auto& block = table_.blocks.emplace_back();
        block.values.resize(variants);
        const double level = 5 + of_.block_deviation * random_.normal();
        for (const std::size_t variant : order) {
            const double fresh = std::sqrt(1 - of_.correlation * of_.correlation) * of_.deviation;
            noise_ = of_.correlation * noise_ + fresh * random_.normal();
            block.values[variant] =
                std::exp(level + truth[variant] + noise_ + of_.drift * runs_ / length_);
            ++runs_;
            order_.push_back({static_cast<std::size_t>(runs_), table_.blocks.size(), variant,
                              *block.values[variant]});
        }
    }

    [[nodiscard]] const metric_table& table() const noexcept { return table_; }
    [[nodiscard]] const std::vector<run_in_order>& runs() const noexcept { return order_; }

  private:
    const conditions& of_;
    postal::base::random_source& random_;
    double length_;
    double runs_ = 0;
    double noise_ = 0;
    metric_table table_;
    std::vector<run_in_order> order_;
};

struct tallied {
    double held = 0;            // share of the intervals that hold the truth
    double false_verdicts = 0;  // share of the A/A pairs that are faster or slower
};

tallied simulate(const conditions& of, std::size_t blocks, std::size_t experiments) {
    postal::base::random_source random(postal::base::mix(blocks, 2026, 1));
    std::size_t held = 0;
    std::size_t false_verdicts = 0;
    for (std::size_t i = 0; i < experiments; ++i) {
        const simulated_experiment experiment(of, blocks, random);
        for (std::size_t variant = 1; variant < variants; ++variant) {
            const auto differences = log_differences(experiment.table(), 0, variant);
            const log_interval interval = interval_of(sample_of(differences), alpha);
            if (std::abs(interval.mean - truth[variant]) <= interval.half) ++held;
            if (variant != 1) continue;
            const auto verdict = judge(interval, 0.02, metric_direction::higher_is_better);
            if (verdict == comparison_verdict::faster || verdict == comparison_verdict::slower)
                ++false_verdicts;
        }
    }
    const auto all = static_cast<double>(experiments);
    return {static_cast<double>(held) / (all * (variants - 1)),
            static_cast<double>(false_verdicts) / all};
}

}  // namespace

TEST_CASE("comparison: intervals hold the truth as often as they say") {
    const conditions of = GENERATE(conditions{"independent runs", 0.03, 0, 0},
                                   conditions{"each run like the one before", 0.03, 0.5, 0},
                                   conditions{"a drift of 6 %", 0.03, 0, 0.06});
    const std::size_t blocks = GENERATE(3, 6, 10);
    const tallied seen = simulate(of, blocks, 5000);
    CAPTURE(of.name, blocks, seen.held, seen.false_verdicts);
    CHECK(seen.held >= 0.94);
    CHECK(seen.held <= 0.96);
    CHECK(seen.false_verdicts <= 0.055);  // 5 %; 5,000 experiments have a standard error of 0.3
}

TEST_CASE("comparison: what matters no more than the margin is less often a false verdict") {
    const conditions quiet{"independent runs", 0.01, 0, 0};
    for (const std::size_t blocks : {3, 6, 10}) {
        const tallied seen = simulate(quiet, blocks, 3000);
        CAPTURE(blocks, seen.held, seen.false_verdicts);
        CHECK(seen.held >= 0.94);
        CHECK(seen.held <= 0.96);
        CHECK(seen.false_verdicts <= 0.035);
    }
}

TEST_CASE("comparison: three blocks have too few orders for a drift that dwarfs the scatter") {
    const conditions of{"a drift of 6 %", 0.003, 0, 0.06};
    const double three = simulate(of, 3, 5000).held;
    CAPTURE(three);
    CHECK(three >= 0.90);
    CHECK(three <= 0.93);
    CHECK(simulate(of, 6, 5000).held >= 0.935);
}

namespace {

// A latency, in microseconds, as a histogram gives it back.
double in_bucket(double us, double& step) {
    const std::chrono::nanoseconds exact(std::llround(us * 1e3));
    const std::size_t index = histogram::index_of(static_cast<std::uint64_t>(exact.count()));
    const double middle =
        static_cast<double>(histogram::lower_ns(index) + histogram::upper_ns(index)) / 2;
    step = histogram::step_of(std::chrono::nanoseconds(std::llround(middle)));
    return middle / 1e3;
}

struct rounded_tally {
    double held = 0;             // share of the intervals that hold the truth
    double held_if_exact = 0;    // had the steps not been looked at
    double false_verdicts = 0;   // of a pair that is the same
    double surely_not_zero = 0;  // share of such pairs whose p is below alpha
};

// Percentiles of runs that differ so much from each other, all at a level of their own in each
// experiment: where they differ by less than a bucket, all blocks are wrong by the same.
rounded_tally simulate_rounded(double deviation, double difference, std::size_t blocks) {
    postal::base::random_source random(postal::base::mix(blocks, 2026, 3));
    constexpr int experiments = 2000;
    rounded_tally seen;
    for (int i = 0; i < experiments; ++i) {
        const double level = 5 + 2 * random.uniform();
        metric_table table;
        table.variants = 2;
        for (std::size_t block = 0; block < blocks; ++block) {
            auto& of = table.blocks.emplace_back();
            of.values.resize(2);
            of.steps.resize(2);
            for (std::size_t variant = 0; variant < 2; ++variant)
                of.values[variant] = in_bucket(
                    std::exp(level + (variant == 1 ? difference : 0) + deviation * random.normal()),
                    of.steps[variant]);
        }
        paired_sample sample = sample_of(log_differences(table, 0, 1));
        const auto holds = [&] {
            const log_interval around = interval_of(sample, alpha);
            return std::abs(around.mean - difference) <= around.half;
        };
        seen.held_if_exact += holds() ? 1.0 / experiments : 0;
        sample.rounding = log_rounding_of(table, 0, 1);
        seen.held += holds() ? 1.0 / experiments : 0;
        if (difference != 0) continue;
        seen.surely_not_zero += t_probability(sample) <= alpha ? 1.0 / experiments : 0;
        const auto verdict = judge(interval_of(sample, alpha), 0.02, table.direction);
        const bool is_false =
            verdict == comparison_verdict::faster || verdict == comparison_verdict::slower;
        seen.false_verdicts += is_false ? 1.0 / experiments : 0;
    }
    return seen;
}

}  // namespace

TEST_CASE("comparison: intervals of percentiles hold the truth, for all that a bucket hides") {
    const double deviation = GENERATE(0.0, 0.001, 0.003, 0.005, 0.01, 0.03);
    const double difference = GENERATE(0.0, 0.007, 0.03);
    const std::size_t blocks = GENERATE(3, 6, 10);
    const rounded_tally seen = simulate_rounded(deviation, difference, blocks);
    CAPTURE(deviation, difference, blocks, seen.held, seen.held_if_exact);
    CAPTURE(seen.false_verdicts, seen.surely_not_zero);
    CHECK(seen.held >= 0.94);
    CHECK(seen.false_verdicts <= 0.055);
    CHECK(seen.surely_not_zero <= 0.06);
    // All that is 0 away from each other is so in its buckets, too.
    if (deviation == 0.001 && difference != 0) CHECK(seen.held_if_exact < 0.6);
}

TEST_CASE("drift: the interval holds the truth as often as it says, unless runs are alike") {
    struct row {
        conditions of;
        double least;
    };
    const row tried = GENERATE(row{{"independent runs", 0.03, 0, 0, 0}, 0.935},
                               row{{"blocks at levels of their own", 0.03, 0, 0}, 0.935},
                               row{{"a drift of 6 %", 0.03, 0, 0.06, 0}, 0.935},
                               row{{"each run like the one before", 0.03, 0.5, 0, 0}, 0.88});
    const std::size_t blocks = GENERATE(3, 6, 10);
    postal::base::random_source random(5);
    constexpr std::size_t experiments = 3000;
    std::size_t held = 0;
    for (std::size_t i = 0; i < experiments; ++i) {
        const simulated_experiment experiment(tried.of, blocks, random);
        const auto seen = drift_of(experiment.runs()).value();
        const double steps = static_cast<double>(blocks * variants);
        const double wanted = std::expm1(tried.of.drift * (steps - 1) / steps);
        if (seen.interval[0] <= wanted && wanted <= seen.interval[1]) ++held;
    }
    const double share = static_cast<double>(held) / experiments;
    CAPTURE(tried.of.name, blocks, share);
    CHECK(share >= tried.least);
    CHECK(share <= 0.965);
}
