// SPDX-License-Identifier: GPL-3.0-or-later
// Figures against SciPy's (comparison_reference.py), verdicts, and experiments of which little is
// left.
#include "stats/experiment/comparison.hpp"
#include "stats/experiment/paired.hpp"

#include "comparison_reference.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

using namespace postal::stats;
using verdict = comparison_verdict;

namespace {

constexpr auto higher = metric_direction::higher_is_better;
constexpr auto lower = metric_direction::lower_is_better;

// By block: the values of all variants.
metric_table table_of(const std::vector<std::vector<double>>& blocks) {
    metric_table made;
    for (const auto& values : blocks) {
        made.variants = std::max(made.variants, values.size());
        made.blocks.push_back({{values.begin(), values.end()}});
    }
    return made;
}

// A baseline of 1, and the variant at these ratios to it.
metric_table table_of_ratios(const std::vector<double>& ratios) {
    std::vector<std::vector<double>> blocks;
    for (const double ratio : ratios)
        blocks.push_back({1, ratio});
    return table_of(blocks);
}

comparison only(const metric_table& table, const comparison_settings& settings = {}) {
    const auto result = compare(table, settings);
    REQUIRE(result.comparisons.size() == 1);
    return result.comparisons.front();
}

void check_finite(const comparison& of) {
    CHECK(std::isfinite(of.level));
    for (const auto& figure : {of.ratio, of.half_width, of.probability, of.smallest_detectable})
        if (figure) CHECK(std::isfinite(*figure));
    if (!of.interval) return;
    CHECK(std::isfinite((*of.interval)[0]));
    CHECK(std::isfinite((*of.interval)[1]));
}

}  // namespace

TEST_CASE("comparison: the figures are SciPy's to six digits") {
    const auto same = [](double expected) { return Approx(expected).epsilon(1e-6); };
    for (const auto& wanted : reference::comparisons) {
        std::vector<std::vector<double>> blocks;
        for (std::size_t i = 0; i < wanted.baseline.size(); ++i)
            blocks.push_back({wanted.baseline[i], wanted.variant[i]});
        const comparison made = only(table_of(blocks), {.alpha = wanted.alpha});
        CAPTURE(blocks, wanted.alpha);
        CHECK(made.blocks == blocks.size());
        CHECK(made.level == Approx(1 - wanted.alpha));
        CHECK(made.ratio.value() == same(wanted.ratio));
        CHECK(made.interval.value()[0] == same(wanted.lower));
        CHECK(made.interval.value()[1] == same(wanted.upper));
        CHECK(made.half_width.value() == same(wanted.half_width));
        CHECK(made.probability.value() == same(wanted.probability));
        CHECK(made.smallest_detectable.value() == same(wanted.smallest_detectable));
        CHECK(made.needed_blocks.value() == wanted.needed_blocks);
        CHECK(made.blocks_as_seen.value() == wanted.blocks_as_seen);
        REQUIRE(made.flipped.has_value() == (blocks.size() >= flipped_from));
        if (!made.flipped) continue;
        CHECK(made.flipped->exact);
        CHECK(made.flipped->probability == same(wanted.flipped));
    }
}

TEST_CASE("comparison: verdicts") {
    struct row {
        std::vector<double> ratios;
        double margin;
        metric_direction direction;
        verdict wanted;
        bool few;
        const char* why;
    };
    const auto [ratios, margin, direction, wanted, few, why] = GENERATE(values<row>({
        {{1.1, 1.12, 1.11, 1.1, 1.12, 1.11},
         0.02,
         higher,
         verdict::faster,
         false,
         "more is better"},
        {{1.1, 1.12, 1.11, 1.1, 1.12, 1.11}, 0.02, lower, verdict::slower, false, "less is better"},
        {{0.9, 0.88, 0.89, 0.9, 0.88, 0.89}, 0.02, higher, verdict::slower, false, "less of it"},
        {{0.9, 0.88, 0.89, 0.9, 0.88, 0.89}, 0.02, lower, verdict::faster, false, "less is better"},
        {{0.999, 1.001, 1.0, 1.002, 0.998, 1.0},
         0.02,
         higher,
         verdict::equivalent,
         false,
         "the same"},
        {{1.01, 1.011, 1.009, 1.01, 1.011, 1.009},
         0.02,
         higher,
         verdict::equivalent,
         false,
         "sure, and too little to matter"},
        {{1.01, 1.011, 1.009, 1.01, 1.011, 1.009},
         0.005,
         higher,
         verdict::faster,
         false,
         "the same figures matter with a smaller margin"},
        {{1.018, 1.021, 1.017, 1.022, 1.019, 1.02},
         0.02,
         higher,
         verdict::faster,
         false,
         "the interval of equivalence reaches over the margin"},
        {{0.9, 1.1, 1.05, 0.95, 1.02, 0.97},
         0.02,
         higher,
         verdict::undecided,
         false,
         "too much scatter"},
        {{1.1, 1.12, 1.11, 1.1, 1.12}, 0.02, higher, verdict::faster, true, "five blocks are few"},
        {{1.1, 1.12, 1.11},
         0.02,
         higher,
         verdict::faster,
         true,
         "three blocks are enough for a verdict"},
        {{0.9, 1.1, 1.0}, 0.02, higher, verdict::undecided, true, "three that differ"},
        {{1.1, 1.1}, 0.02, higher, verdict::none, false, "two blocks are too few for any"},
        {{1.1}, 0.02, higher, verdict::none, false, "one block has no scatter"},
        {{}, 0.02, higher, verdict::none, false, "no block at all"},
    }));
    auto table = table_of_ratios(ratios);
    table.variants = 2;
    table.direction = direction;
    const comparison made = only(table, {.margin = margin});
    CAPTURE(why);
    CHECK(made.verdict == wanted);
    CHECK(made.few == few);
    check_finite(made);
    if (wanted == verdict::undecided) {
        CHECK(made.needed_blocks.value() > made.blocks);
        CHECK(made.blocks_as_seen.value() > made.blocks);
        CHECK(made.blocks_as_seen.value() <= made.needed_blocks.value());
    }

    table.carries_verdict = false;
    const comparison exploratory = only(table, {.margin = margin});
    CHECK(exploratory.verdict == verdict::none);
    CHECK(exploratory.interval == made.interval);
}

TEST_CASE("comparison: blocks that lack a value or are voided are left out of the pair alone") {
    auto table = table_of({{100, 110, 120},
                           {100, 111, 121},
                           {100, 112, 122},
                           {100, 113, 123},
                           {100, 0, 124},
                           {100, -1, 125},
                           {100, 1e9, 1e9}});
    table.blocks[0].values[2] = std::nullopt;
    table.blocks[1].values[1] = std::numeric_limits<double>::quiet_NaN();
    table.blocks[2].values[1] = -std::numeric_limits<double>::infinity();
    table.blocks[3].values.pop_back();
    table.blocks[6].voided = true;
    const auto made = compare(table, {}).comparisons;
    REQUIRE(made.size() == 2);
    CHECK(made[0].blocks == 2);
    CHECK(made[0].left_out == 4);
    CHECK(made[0].voided == 1);
    CHECK(made[0].ratio.value() == Approx(std::sqrt(1.10 * 1.13)));
    CHECK(made[1].blocks == 4);
    CHECK(made[1].left_out == 2);
    CHECK(made[1].voided == 1);
    CHECK(made[1].ratio.value() == Approx(std::pow(1.21 * 1.22 * 1.24 * 1.25, 0.25)));
    // What was not run is nothing that is not known.
    table.blocks[3].is_run = {true, true, false};
    table.blocks[0].is_run = {true, true, true};
    const auto unfinished = compare(table, {}).comparisons;
    CHECK(unfinished[0].left_out == 4);
    CHECK(unfinished[1].left_out == 1);
}

TEST_CASE("comparison: never is above every number, and no block with it is left out") {
    constexpr double never = std::numeric_limits<double>::infinity();
    struct row {
        const char* reason;
        std::vector<std::vector<double>> blocks;  // baseline, variant; less is better
        never_counts counts;
        double probability;
        verdict wanted;
    };
    const std::vector<row> table{
        {"a variant that never tells is worse than any that does",
         {6, {1, never}},
         {0, 6, 6},
         2 / 64.0,
         verdict::slower},
        {"and the other way round", {6, {never, 1e9}}, {6, 0, 6}, 2 / 64.0, verdict::faster},
        {"five blocks cannot be sure of it",
         {5, {1, never}},
         {0, 5, 5},
         2 / 32.0,
         verdict::undecided},
        {"too few for a verdict", {2, {1, never}}, {0, 2, 2}, 0.5, verdict::none},
        {"never in both is no difference", {6, {never, never}}, {6, 6, 6}, -1, verdict::undecided},
        {"half of its blocks are better, and the others never",
         {{2, 1}, {2, never}, {2, 1}, {2, never}, {2, 1}, {2, never}},
         {0, 3, 6},
         1,
         verdict::undecided},
        {"one that is never among blocks that are all worse",
         {{1, 2}, {1, 2}, {1, 2}, {1, 2}, {1, 2}, {1, never}},
         {0, 1, 6},
         2 / 64.0,
         verdict::slower},
        {"one that is better",
         {{1, 2}, {1, 2}, {1, 2}, {1, 2}, {2, 1}, {1, never}},
         {0, 1, 6},
         14 / 64.0,
         verdict::undecided},
    };
    for (const row& one : table) {
        INFO(one.reason);
        auto made_of = table_of(one.blocks);
        made_of.direction = metric_direction::lower_is_better;
        const comparison made = only(made_of, {});
        CHECK(made.never == one.counts);
        CHECK(made.blocks == one.counts.blocks);
        CHECK(made.left_out == 0);
        CHECK(made.probability.value_or(-1) == Approx(one.probability));
        CHECK(made.verdict == one.wanted);
        CHECK(made.few == (one.wanted != verdict::none && made.blocks < enough_blocks));
        CHECK_FALSE(made.ratio);
        CHECK_FALSE(made.interval);
        made_of.carries_verdict = false;
        CHECK(only(made_of, {}).verdict == verdict::none);
    }
    // Blocks that lack a value or are voided have no part in it.
    auto table_with = table_of({{1, never}, {1, never}, {1, 0}, {1, never}});
    table_with.blocks[3].voided = true;
    const comparison made = only(table_with, {});
    CHECK(made.never == never_counts{0, 2, 2});
    CHECK(made.left_out == 1);
    CHECK(made.voided == 1);
}

TEST_CASE("comparison: the level is shared among the comparisons") {
    const auto table = table_of({{10, 11, 12, 13, 10}, {10, 12, 11, 13, 11}, {11, 11, 13, 14, 10}});
    const auto four = compare(table, {});
    REQUIRE(four.comparisons.size() == 4);
    CHECK(four.comparisons[2].level == Approx(0.9875));
    CHECK_FALSE(four.same.has_value());
    // The baseline's twin is not one of them, and has a level of its own.
    const auto three = compare(table, {.same = {{4, 0}}});
    REQUIRE(three.comparisons.size() == 3);
    CHECK(three.comparisons[2].level == Approx(1 - 0.05 / 3));
    CHECK(three.comparisons[2].variant == 3);
    REQUIRE(three.same.has_value());
    CHECK(three.same->level == Approx(0.95));
    CHECK(three.same->baseline == 4);
    CHECK(three.same->variant == 0);
    // Two others that are the same are each compared with the baseline.
    CHECK(compare(table, {.same = {{1, 2}}}).comparisons.size() == 4);
}

TEST_CASE("comparison: an experiment that tells the same apart is void") {
    const std::vector<std::vector<double>> blocks{
        {100, 110, 105}, {100, 111, 106}, {100, 112, 104}, {101, 111, 106}};
    CHECK(compare(table_of(blocks), {.same = {{0, 1}}}).voided);
    CHECK(compare(table_of(blocks), {.same = {{1, 0}}}).voided);
    CHECK(compare(table_of(blocks), {.same = {{1, 2}}}).voided);
    CHECK_FALSE(compare(table_of(blocks), {}).voided);
    const auto fine =
        compare(table_of({{100, 101}, {100, 99}, {100, 100}, {100, 100}}), {.same = {{0, 1}}});
    CHECK_FALSE(fine.voided);
    CHECK(fine.comparisons.empty());
    // Two blocks say nothing against it.
    CHECK_FALSE(compare(table_of({{100, 110}, {100, 110}}), {.same = {{0, 1}}}).voided);
}

TEST_CASE("comparison: without scatter intervals have no width, and no figure is lost") {
    SECTION("all the same") {
        const comparison made = only(table_of_ratios({1, 1, 1, 1, 1, 1, 1}));
        check_finite(made);
        CHECK(made.interval.value() == std::array{1.0, 1.0});
        CHECK(made.probability.value() == 1);
        CHECK(made.flipped.value().probability == 1);
        CHECK(made.smallest_detectable.value() == 1.02);
        CHECK(made.needed_blocks.value() == fewest_blocks);
        CHECK(made.verdict == verdict::equivalent);
    }
    SECTION("always twice as much, but for rounding") {
        const comparison made = only(table_of({{0.1, 0.2}, {3, 6}, {0.7, 1.4}, {1e-9, 2e-9}}));
        check_finite(made);
        CHECK(made.ratio.value() == Approx(2));
        CHECK(made.half_width.value() == 0);
        CHECK(made.probability.value() == 0);
        CHECK(made.verdict == verdict::faster);
    }
    SECTION("the same by another way, but for rounding, and no margin") {
        const double third = 1.0 / 3;
        const comparison made =
            only(table_of({{0.3, 0.1 + 0.2}, {third, 1 - 2 * third}, {1, 1}}), {.margin = 0});
        CHECK(made.ratio.value() == 1);
        CHECK(made.verdict == verdict::equivalent);
    }
    SECTION("one block") {
        const comparison made = only(table_of_ratios({1.5}));
        CHECK(made.ratio.value() == Approx(1.5));
        CHECK_FALSE(made.interval.has_value());
        CHECK_FALSE(made.probability.has_value());
        CHECK_FALSE(made.needed_blocks.has_value());
    }
    SECTION("no variant, or the baseline alone") {
        CHECK(compare({}, {}).comparisons.empty());
        CHECK(compare(table_of({{1}, {2}}), {}).comparisons.empty());
    }
}

TEST_CASE("comparison: the wildest values give finite figures") {
    constexpr double least = std::numeric_limits<double>::denorm_min();
    constexpr double most = std::numeric_limits<double>::max();
    const std::vector<std::vector<double>> blocks{
        {least, most, 1}, {most, least, 2}, {least, most, most}, {1, 1, least}};
    for (std::size_t used = 1; used <= blocks.size(); ++used) {
        const auto made =
            compare(table_of({blocks.begin(), blocks.begin() + static_cast<int>(used)}),
                    {.alpha = 0.001, .same = {{1, 2}}});
        for (const auto& one : made.comparisons)
            check_finite(one);
        check_finite(made.same.value());
        if (used == 4) CHECK(made.comparisons[0].needed_blocks.value() == most_blocks + 1);
    }
}

TEST_CASE("comparison: more scatter and less margin need more blocks and show less") {
    std::size_t needed = 0;
    double shown = 1.02;  // never within the margin
    for (const double scatter : {0.0, 0.001, 0.003, 0.01, 0.02, 0.05, 0.1, 0.2}) {
        const double up = std::exp(scatter);
        const comparison made = only(table_of_ratios({up, 1 / up, up, 1 / up, up, 1 / up}));
        CHECK(made.needed_blocks.value() >= needed);
        CHECK(made.smallest_detectable.value() >= shown);
        if (scatter > 0.01) CHECK(made.smallest_detectable.value() > shown);
        needed = made.needed_blocks.value();
        shown = made.smallest_detectable.value();
    }
    CHECK(needed == most_blocks + 1);
    const auto table = table_of_ratios({1.01, 0.99, 1.02, 0.98, 1.01, 0.99});
    needed = most_blocks + 1;
    for (const double margin : {0.0, 0.005, 0.01, 0.02, 0.05, 0.5}) {
        const std::size_t fewer = only(table, {.margin = margin}).needed_blocks.value();
        CHECK(fewer <= needed);
        needed = fewer;
    }
    CHECK(needed == fewest_blocks);
    CHECK(only(table, {.margin = 0}).needed_blocks.value() == most_blocks + 1);
}

TEST_CASE("comparison: a smaller difference is shown by more blocks, down to the normal limit") {
    for (const double level : {0.05, 0.05 / 30}) {
        double before = std::numeric_limits<double>::infinity();
        for (const double blocks : {2, 3, 4, 5, 6, 8, 10, 15, 20, 50, 100, 300, 1000, 10000}) {
            const double noncentrality = detectable_noncentrality(blocks - 1, level, 0.8);
            CAPTURE(level, blocks);
            CHECK(noncentrality > 0);
            CHECK(noncentrality < before);
            before = noncentrality;
        }
        const double normal = level == 0.05 ? 1.959964 : 3.143980;  // its quantile at 1 - level / 2
        CHECK(before == Approx(normal + 0.841621).epsilon(1e-3));
    }
}

TEST_CASE("comparison: needed blocks make a verdict certain, whatever the ratio") {
    for (const double scatter : {0.01, 0.02, 0.04}) {
        const double up = std::exp(scatter);
        const comparison pilot = only(table_of_ratios({up, 1 / up, up, 1 / up, up, 1 / up}));
        std::vector<double> differences;
        for (std::size_t i = 0; i < pilot.needed_blocks.value(); ++i)
            differences.push_back(i % 2 == 0 ? scatter : -scatter);
        log_interval of = interval_of(sample_of(differences), 0.05);
        for (of.mean = 0; of.mean < 0.06; of.mean += 0.0001)
            CHECK(judge(of, 0.02, higher) != verdict::undecided);
        // With a third as many there are ratios of which nothing can be said.
        differences.resize(differences.size() / 3);
        of = interval_of(sample_of(differences), 0.05);
        bool undecided = false;
        for (of.mean = 0; of.mean < 0.06; of.mean += 0.0001)
            undecided = undecided || judge(of, 0.02, higher) == verdict::undecided;
        CHECK(undecided);
    }
}

TEST_CASE("comparison: how many blocks a width takes is settled by the first six") {
    const auto blocks = [](std::vector<double> ratios, std::size_t more, double ratio) {
        ratios.insert(ratios.end(), more, ratio);
        return only(table_of_ratios(ratios), {.wanted_width = 0.02});
    };
    const std::vector<double> first{1.02, 0.98, 1.03, 0.97, 1.01, 0.99};
    const comparison pilot = blocks(first, 0, 1);
    // t(0.975, 5) = 2.57058, and the deviation of these logarithms 0.0236798
    CHECK(pilot.blocks_for_width.value() == 10);
    CHECK_FALSE(may_stop(std::vector{pilot}));
    for (const double later : {1.0, 1.5}) {
        const comparison nearly = blocks(first, 3, later);
        const comparison whole = blocks(first, 4, later);
        CHECK(whole.blocks_for_width == pilot.blocks_for_width);
        CHECK_FALSE(may_stop(std::vector{nearly}));
        CHECK(may_stop(std::vector{whole}));
        CHECK(whole.half_width.value() <= 0.02);
        CHECK_FALSE(may_stop(std::vector{whole, nearly}));
    }
    CHECK(blocks({1, 1, 1, 1, 1, 1}, 0, 1).blocks_for_width.value() == pilot_blocks);
    CHECK_FALSE(blocks({1, 1, 1, 1, 1}, 0, 1).blocks_for_width.has_value());
    CHECK(blocks({1, 9, 1, 9, 1, 9}, 0, 1).blocks_for_width.value() > most_blocks);
    CHECK_FALSE(only(table_of_ratios(first)).blocks_for_width.has_value());
    CHECK_FALSE(may_stop({}));
    // A difference that is sure does not end it.
    const comparison sure =
        only(table_of_ratios({1.5, 1.6, 1.7, 1.6, 1.5, 1.6}), {.wanted_width = 0.01});
    CHECK(sure.verdict == verdict::faster);
    CHECK_FALSE(may_stop(std::vector{sure}));
}

TEST_CASE("comparison: blocks that stand apart are named by their place in the table") {
    auto table = table_of_ratios({1.01, 0.99, 5, 1.005, 0.7, 0.995, 1.0, 1.002});
    table.blocks[2].voided = true;
    const comparison made = only(table);
    REQUIRE(made.without.has_value());
    CHECK(made.without->blocks == std::vector<std::size_t>{4});
    CHECK(made.without->verdict == verdict::equivalent);
    CHECK(made.verdict == verdict::undecided);
    CHECK_FALSE(only(table_of_ratios({1.01, 0.99, 1.005, 0.995, 1.0, 1.002})).without.has_value());
    CHECK_FALSE(only(table_of_ratios({1, 1, 1, 1, 1, 1})).without.has_value());
    CHECK_FALSE(only(table_of_ratios({1, 1, 1, 2})).without.has_value());
    table.carries_verdict = false;
    CHECK(only(table).without.value().verdict == verdict::none);
}
