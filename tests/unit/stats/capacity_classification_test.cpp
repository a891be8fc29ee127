// SPDX-License-Identifier: GPL-3.0-or-later
// Load Classification and Conditional Throughput against the example search of RFC 9971, appendix
// C.
#include "stats/capacity/classification.hpp"

#include <catch2/catch.hpp>

#include <array>

using namespace postal::capacity;

namespace {

struct example_goal {
    double final_s, sum_s, loss_ratio, exceed_ratio;
};
constexpr std::array<example_goal, 4> goals{
    {{60, 60, 0, 0}, {60, 120, 0, 0.5}, {1, 120, 0.005, 0.5}, {60, 60, 0.005, 0.2}}};

struct trials {
    int count;
    double duration_s, loss_ratio;
};

duration_sums sums_of(const std::vector<trials>& all, const example_goal& of) {
    duration_sums made;
    for (const trials& one : all) {
        const bool full = one.duration_s >= of.final_s;
        const bool high = one.loss_ratio > of.loss_ratio;
        double& sum = full ? (high ? made.full_length_high_s : made.full_length_low_s)
                           : (high ? made.short_high_s : made.short_low_s);
        sum += one.count * one.duration_s;
    }
    return made;
}

constexpr auto lower = load_class::lower;
constexpr auto upper = load_class::upper;
constexpr auto open = load_class::undecided;

}  // namespace

TEST_CASE("capacity: loads are classified as in the RFC's example search") {
    const std::vector<trials> results{{59, 1, 0}, {1, 1, 0.01},   {59, 1, 0.01},
                                      {1, 1, 0},  {1, 60, 0.001}, {1, 60, 0}};
    // At each point in time, of the four goals. (At points 5 and 6 the RFC's tables call goal 4 a
    // Lower Bound, though their own exceed ratios, 43 and 27 %, are above its 20 %; the RFC's code
    // does not.)
    const std::array<std::array<load_class, 4>, 6> wanted{{{open, open, open, open},
                                                           {upper, open, open, open},
                                                           {upper, open, open, upper},
                                                           {upper, open, lower, upper},
                                                           {upper, open, lower, upper},
                                                           {upper, lower, lower, upper}}};
    std::vector<trials> so_far;
    for (std::size_t point = 0; point < results.size(); ++point) {
        so_far.push_back(results[point]);
        for (std::size_t i = 0; i < goals.size(); ++i) {
            CAPTURE(point + 1, i + 1);
            CHECK(classify(sums_of(so_far, goals[i]), goals[i].sum_s, goals[i].exceed_ratio) ==
                  wanted[point][i]);
        }
    }
}

TEST_CASE("capacity: conditional throughput is the loss ratio at the goal's exceed ratio") {
    // Goals 2 and 4 at the end of the example: trials of 60 s with 0 and 0.1 % loss.
    const std::vector<full_length_trial> two{{0.001, 60}, {0, 60}};
    CHECK(conditional_throughput(1000, two, 120, 0.5) == Approx(1000));
    CHECK(conditional_throughput(1000, two, 60, 0.2) == Approx(999));
    // Half of a sum that is not measured may be lost altogether.
    CHECK(conditional_throughput(1000, {{0, 60}}, 180, 0.5) == Approx(0));
    CHECK(conditional_throughput(1000, {{0.01, 60}}, 60, 0) == Approx(990));
}
