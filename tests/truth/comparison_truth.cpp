// SPDX-License-Identifier: GPL-3.0-or-later
// What an experiment says of its variants: simulated experiments through the code that judges real
// ones. tests/unit/stats/coverage_test.cpp has runs that are alike, and drifts.
#include "stats/experiment/comparison.hpp"
#include "stats/experiment/outliers.hpp"

#include "support.hpp"

#include <algorithm>
#include <cmath>

using namespace postal;
using namespace postal::stats;
using truth::tally;
using verdict = comparison_verdict;

namespace {

constexpr double alpha = 0.05;
constexpr double margin = 0.02;
constexpr auto higher = metric_direction::higher_is_better;

std::vector<double> differences(base::random_source& random, std::size_t blocks, double mean,
                                double scatter) {
    std::vector<double> all(blocks);
    for (double& one : all)
        one = mean + scatter * random.normal();
    return all;
}

verdict verdict_of(const std::vector<double>& differences, double at = alpha) {
    return judge(interval_of(sample_of(differences), at), margin, higher);
}

bool decides(verdict one) {
    return one != verdict::undecided;
}

// A baseline of 1 in a block, and each variant at its ratio to it.
metric_table table_of(base::random_source& random, std::size_t blocks,
                      const std::vector<double>& ratios, double scatter) {
    metric_table table;
    table.variants = ratios.size() + 1;
    for (std::size_t i = 0; i < blocks; ++i) {
        auto& values = table.blocks.emplace_back().values;
        values.emplace_back(std::exp(scatter * random.normal()));
        for (const double ratio : ratios)
            values.emplace_back(ratio * std::exp(scatter * random.normal()));
    }
    return table;
}

}  // namespace

TEST_CASE("comparison: of all comparisons together one is wrong in at most 5 % of experiments") {
    // The worst that there is for "equivalent", for "faster" and "slower", and of both.
    const std::vector<double> ratios = GENERATE(
        std::vector<double>{1 + margin}, std::vector<double>(3, 1 + margin),
        std::vector<double>(5, 1 + margin), std::vector<double>(5, 1 / (1 + margin)),
        std::vector<double>(3, 1.0), std::vector<double>{1 + margin, 1, 1 / (1 + margin), 1});
    const std::size_t blocks = GENERATE(4, 10);
    const double scatter = GENERATE(0.004, 0.02);
    base::random_source random(base::mix(blocks, ratios.size(), 1));
    const double each = alpha / static_cast<double>(ratios.size());
    tally wrong;
    for (int experiment = 0; experiment < 2000; ++experiment) {
        const metric_table table = table_of(random, blocks, ratios, scatter);
        bool any = false;
        for (std::size_t i = 0; i < ratios.size(); ++i) {
            const verdict said = verdict_of(log_differences(table, 0, i + 1), each);
            const bool higher_said = said == verdict::faster;
            const bool lower_said = said == verdict::slower;
            any = any || (ratios[i] == 1 ? higher_said || lower_said
                                         : said == verdict::equivalent ||
                                               (ratios[i] > 1 ? lower_said : higher_said));
        }
        wrong.add(any);
    }
    CAPTURE(ratios, blocks, scatter, wrong.share());
    CHECK(wrong.may_be_at_most(alpha));
}

TEST_CASE("comparison: an experiment shares its level as the test above does") {
    base::random_source random(2);
    const metric_table table = table_of(random, 6, {1.02, 1, 0.98}, 0.01);
    const auto made = compare(table, {.alpha = alpha, .margin = margin});
    REQUIRE(made.comparisons.size() == 3);
    for (const comparison& one : made.comparisons)
        CHECK(one.verdict == verdict_of(log_differences(table, 0, one.variant), alpha / 3));
}

TEST_CASE("comparison: ending at a width leaves intervals their level, and none is wider") {
    const double scatter = GENERATE(0.005, 0.02, 0.03, 0.05);
    const double each = GENERATE(0.05, 0.0167);
    base::random_source random(base::mix(static_cast<std::uint64_t>(scatter * 1000), 2, 1));
    constexpr double width = 0.02;
    tally held;
    tally false_verdicts;
    for (int experiment = 0; experiment < 3000; ++experiment) {
        auto all = differences(random, pilot_blocks, 0, scatter);
        const std::size_t blocks = blocks_for_width(sample_of(all), each, width);
        const auto more = differences(random, blocks - pilot_blocks, 0, scatter);
        all.insert(all.end(), more.begin(), more.end());
        const log_interval of = interval_of(sample_of(all, pilot_blocks), each);
        REQUIRE(of.half <= std::log1p(width) * (1 + 1e-9));
        held.add(std::abs(of.mean) <= of.half);
        const verdict said = judge(of, margin / 4, higher);
        false_verdicts.add(said == verdict::faster || said == verdict::slower);
    }
    CAPTURE(scatter, each, held.share(), false_verdicts.share());
    CHECK(held.may_be_at_least(1 - each));
    CHECK(held.may_be_at_most(1 - each));
    CHECK(false_verdicts.may_be_at_most(each));
}

TEST_CASE(
    "comparison: what it shows from is shown in 4 of 5 such experiments, and never within the "
    "margin") {
    const std::size_t blocks = GENERATE(3, 4, 6, 10, 20);
    const double scatter = GENERATE(0.001, 0.01, 0.03);
    base::random_source random(base::mix(blocks, 2, 2));
    tally shown;
    for (int experiment = 0; experiment < 150; ++experiment) {
        paired_sample pilot = sample_of(differences(random, blocks, 0, scatter));
        pilot.deviation = deviation_limit(pilot, 0.8);
        const double from = shown_from(pilot, alpha, margin);
        REQUIRE(from >= 1 + margin);
        for (int such = 0; such < 14; ++such)
            shown.add(verdict_of(differences(random, blocks, std::log(from), scatter)) ==
                      verdict::faster);
    }
    CAPTURE(blocks, scatter, shown.share());
    CHECK(shown.may_be_at_least(0.8));
}

TEST_CASE("comparison: so many blocks decide in 4 of 5 experiments, if all is as it seems") {
    const double scatter = GENERATE(0.02, 0.05);
    // Beyond the margin, at it, near it, and no difference at all.
    const double mean = GENERATE(0.08, 0.04, 0.02, 0.015, 0.005, 0.0);
    const paired_sample seen{.count = 3, .mean = mean, .deviation = scatter, .freedom = 2};
    const std::size_t blocks = blocks_as_seen(seen, alpha, margin);
    base::random_source random(base::mix(blocks, 2, 3));
    tally decided;
    for (int experiment = 0; experiment < 1000; ++experiment)
        decided.add(decides(verdict_of(differences(random, blocks, mean, scatter))));
    CAPTURE(scatter, mean, blocks, decided.share());
    CHECK(decided.may_be_at_least(0.8));
    if (blocks > 4) CHECK(decided.may_be_at_most(0.95));  // as many as that, and no more
}

TEST_CASE(
    "comparison: so many blocks bring a verdict whatever the difference is, in 4 of 5 "
    "experiments") {
    const double mean = GENERATE(0.0, 0.01, 0.015, 0.02, 0.025, 0.05);
    base::random_source random(base::mix(static_cast<std::uint64_t>(mean * 1000), 2, 4));
    constexpr double scatter = 0.02;
    tally decided;
    for (int experiment = 0; experiment < 1000; ++experiment) {
        const paired_sample pilot = sample_of(differences(random, 6, mean, scatter));
        const std::size_t blocks = needed_blocks(pilot, alpha, margin);
        decided.add(decides(verdict_of(differences(random, blocks, mean, scatter))));
    }
    CAPTURE(mean, decided.share());
    CHECK(decided.may_be_at_least(0.8));
}

TEST_CASE("comparison: slow runs of one variant are seen, and cost the typical ratio no coverage") {
    const std::size_t blocks = GENERATE(5, 6, 8, 12);
    constexpr double scatter = 0.02;
    base::random_source random(base::mix(blocks, 2, 5));
    const double slow = std::log(0.7);
    tally typical, with_them, seen, false_alarms;
    for (int experiment = 0; experiment < 4000; ++experiment) {
        auto all = differences(random, blocks, 0, scatter * std::sqrt(2));
        const auto clean = outliers_of(all, alpha);
        false_alarms.add(!clean.empty());
        std::vector<std::size_t> slow_ones;
        for (std::size_t i = 0; i < blocks; ++i)
            if (random.uniform() < 0.05) slow_ones.push_back(i);
        for (const std::size_t one : slow_ones)
            all[one] += slow;
        const log_interval of = interval_of(sample_of(all), alpha);
        typical.add(std::abs(of.mean) <= of.half);
        with_them.add(std::abs(of.mean - 0.05 * slow) <= of.half);
        if (slow_ones.empty() || slow_ones.size() > std::max<std::size_t>(blocks / 4, 1)) continue;
        const auto apart = outliers_of(all, alpha);
        seen.add(std::includes(apart.begin(), apart.end(), slow_ones.begin(), slow_ones.end()));
    }
    CAPTURE(blocks, typical.share(), with_them.share(), seen.share(), false_alarms.share());
    CHECK(typical.may_be_at_least(0.95));
    CHECK(seen.may_be_at_least(0.97));
    CHECK(false_alarms.may_be_at_most(alpha));
    // Experiments that met none of them cannot know: docs/method.md says how far that goes.
    CHECK(with_them.may_be_at_most(0.88));
}

TEST_CASE("comparison: a slow run is named, with what the others say") {
    base::random_source random(6);
    metric_table table = table_of(random, 8, {1.0}, 0.01);
    *table.blocks[3].values[1] *= 0.7;
    table.blocks[5].voided = true;
    const comparison one = compare(table, {}).comparisons.front();
    REQUIRE(one.without.has_value());
    CHECK(one.without->blocks == std::vector<std::size_t>{3});
    CHECK(std::abs(std::log(one.without->ratio)) < 0.02);
    CHECK(one.verdict == verdict::undecided);
    CHECK(one.without->verdict != verdict::undecided);
}
