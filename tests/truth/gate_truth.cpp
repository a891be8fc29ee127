// SPDX-License-Identifier: GPL-3.0-or-later
// Whether gates are wrong as seldom, and see as much, as they say: simulated experiments through
// the code that judges real ones.
#include "stats/experiment/comparison.hpp"
#include "stats/experiment/gate.hpp"

#include "support.hpp"

#include <cmath>

using namespace postal;
using namespace postal::stats;
using truth::tally;

namespace {

constexpr double alpha = 0.05;
constexpr gate_bound less_five_percent{.ratio = 0.95, .is_above = true};

// Each variant scatters by itself, so their difference does so by the root of two more.
gate_result gate_of(base::random_source& random, std::size_t blocks, double ratio, double scatter,
                    const gate_bound& bound) {
    std::vector<double> all(blocks);
    for (double& one : all)
        one = std::log(ratio) + scatter * (random.normal() - random.normal());
    return judge_gate(sample_of(all), bound, alpha);
}

}  // namespace

TEST_CASE("gate: at its bound it is called kept or missed wrongly in at most 5 % each") {
    const std::size_t blocks = GENERATE(3, 10);
    const double scatter = GENERATE(0.005, 0.05);
    const gate_bound bound = GENERATE(gate_bound{0.95, true}, gate_bound{1.2, false});
    base::random_source random(base::mix(blocks, static_cast<std::uint64_t>(scatter * 1000), 5));
    tally kept, missed;
    for (int i = 0; i < 1500; ++i) {
        const auto verdict = gate_of(random, blocks, bound.ratio, scatter, bound).verdict;
        kept.add(verdict == gate_verdict::kept);
        missed.add(verdict == gate_verdict::missed);
    }
    CAPTURE(blocks, scatter, kept.share(), missed.share());
    CHECK(kept.may_be_at_most(alpha));
    CHECK(missed.may_be_at_most(alpha));
    CHECK(kept.may_be_at_least(alpha));  // it is a test of that level, and no more careful
    CHECK(missed.may_be_at_least(alpha));
}

TEST_CASE("gate: of 1,000 that compare a build with itself at most 50 are missed") {
    // What one run of a real server scatters by on a small shared machine is 2 to 6 %.
    const double scatter = GENERATE(0.02, 0.04, 0.06);
    base::random_source random(base::mix(static_cast<std::uint64_t>(scatter * 1000), 6, 1));
    int missed = 0;
    for (int i = 0; i < 1000; ++i)
        missed += gate_of(random, 8, 1, scatter, less_five_percent).verdict == gate_verdict::missed;
    CAPTURE(scatter, missed);
    CHECK(missed <= 50);
}

TEST_CASE("gate: of a build that lost a tenth 4 of 5 are missed, where runs scatter by 3.5 %") {
    base::random_source random(7);
    tally found;
    for (int i = 0; i < 2000; ++i)
        found.add(gate_of(random, 8, 0.9, 0.035, less_five_percent).verdict ==
                  gate_verdict::missed);
    CAPTURE(found.share());
    CHECK(found.may_be_at_least(0.8));
}

TEST_CASE("gate: what blocks are said to see they see in 4 of 5 such experiments") {
    const std::size_t blocks = GENERATE(3, 8);
    const double scatter = GENERATE(0.005, 0.03);
    const gate_bound bound = GENERATE(gate_bound{0.95, true}, gate_bound{1.2, false});
    base::random_source random(base::mix(blocks, static_cast<std::uint64_t>(scatter * 1000), 7));
    tally found;
    for (int pilot = 0; pilot < 150; ++pilot) {
        const double from = *gate_of(random, blocks, 1, scatter, bound).shown_from;
        REQUIRE((bound.is_above ? from < bound.ratio : from > bound.ratio));
        for (int such = 0; such < 14; ++such)
            found.add(gate_of(random, blocks, from, scatter, bound).verdict ==
                      gate_verdict::missed);
    }
    CAPTURE(blocks, scatter, found.share());
    CHECK(found.may_be_at_least(0.8));
}

TEST_CASE(
    "gate: against kept results it is wrong in at most 5 % at its bound, whatever days scatter "
    "by") {
    const std::size_t kept = GENERATE(3, 10);
    const double scatter = GENERATE(0.01, 0.1);
    base::random_source random(base::mix(kept, static_cast<std::uint64_t>(scatter * 1000), 8));
    tally wrongly_kept, wrongly_missed;
    for (int i = 0; i < 1500; ++i) {
        std::vector<double> days(kept);
        for (double& one : days)
            one = 5 + scatter * random.normal();
        const double now = 5 + std::log(less_five_percent.ratio) + scatter * random.normal();
        const auto made = judge_gate(sample_against(days, now), less_five_percent, alpha);
        wrongly_kept.add(made.verdict == gate_verdict::kept);
        wrongly_missed.add(made.verdict == gate_verdict::missed);
    }
    CAPTURE(kept, scatter, wrongly_kept.share(), wrongly_missed.share());
    CHECK(wrongly_kept.may_be_at_most(alpha));
    CHECK(wrongly_missed.may_be_at_most(alpha));
    CHECK(wrongly_kept.may_be_at_least(alpha));
    CHECK(wrongly_missed.may_be_at_least(alpha));
}
