// SPDX-License-Identifier: GPL-3.0-or-later
#include "postal-compare/resume.hpp"

#include "base/text.hpp"
#include "experiment/going_on.hpp"

#include <chrono>
#include <cmath>

namespace postal::compare {
namespace {

std::chrono::nanoseconds nanoseconds(double seconds) {
    return std::chrono::nanoseconds(std::llround(seconds * 1e9));
}

base::expected<void> check_gates(const experiment::experiment_record& begun, const options& given) {
    if (!given.gates.empty() && given.baseline.empty() && !begun.baseline.empty())
        return base::fail(
            "--resume: its gates compare with the results in {}; give --baseline, too, or leave "
            "--gate out",
            base::printable(begun.baseline, 300));
    if (!given.junit.empty() && given.gates.empty() && begun.gates.empty())
        return base::fail(
            "--junit: is for the answers of gates, and it was begun without; give "
            "--gate, such as rate>-5%");
    return {};
}

}  // namespace

base::expected<void> take_up(const experiment::experiment_record& begun, const options& given,
                             const versions& now, experiment::experiment& whole) {
    auto same = experiment::check_same_experiment(
        "--resume", {begun.text, begun.variants, begun.seed}, whole, given.seed);
    if (same) same = check_gates(begun, given);
    if (!same) return same;
    if (const auto other = experiment::machine_difference(begun.host, begun.versions, now))
        return base::fail("--resume: {}: begin anew with another --out", *other);
    experiment::load& load = whole.offered;
    const bool length_given =
        given.quick || given.classic || given.duration.count() > 0 || given.warmup;
    if (length_given && (load.duration != nanoseconds(begun.duration_s) ||
                         load.warmup != nanoseconds(begun.warmup_s)))
        return base::fail(
            "--resume: its runs were {:g} s with {:g} s of warm-up; leave the durations out",
            begun.duration_s, begun.warmup_s);
    if ((given.blocks || given.max_blocks) && load.blocks != begun.blocks)
        return base::fail(
            "--resume: it was begun with {} blocks; leave --blocks and --max-blocks out",
            begun.blocks);
    if (given.until_width && given.until_width != begun.until_width)
        return base::fail("--resume: it was begun with another --until-width; leave it out");
    load.duration = nanoseconds(begun.duration_s);
    load.warmup = nanoseconds(begun.warmup_s);
    load.blocks = begun.blocks;
    return {};
}

}  // namespace postal::compare
