#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Makes comparison_reference.hpp with SciPy and NumPy (1.17 and 2.4), which the tests do not need.

    comparison_reference.py >comparison_reference.hpp && clang-format-14 -i comparison_reference.hpp
"""

import numpy as np
from scipy import optimize, stats

MARGIN = 0.02


def cases():
    random = np.random.default_rng(20)
    yield 0.05, [100.0, 104, 98], [103.0, 106, 99]
    yield 0.05, [61284.0, 60120, 62377, 59801, 61950, 60888], [63791.0, 61500, 64020, 62790, 63111, 63900]
    yield 0.025, [9.5, 9.1, 10.2, 8.8, 9.9, 9.4, 9.6], [9.4, 9.3, 10.0, 8.9, 9.8, 9.6, 9.5]
    for blocks, deviation, shift in ((3, 0.2, 0), (4, 0.03, 0.05), (5, 0.001, 0.001), (8, 0.02, -0.02), (10, 0.05, 0),
                                     (10, 0.01, 0.03), (12, 0.3, 0.1)):
        level = random.normal(5, 1)
        baseline = np.exp(level + random.normal(0, deviation, blocks))
        variant = np.exp(level + shift + random.normal(0, deviation, blocks))
        yield random.choice([0.05, 0.025, 0.01]), list(baseline.round(4)), list(variant.round(4))


def half_width(deviation, blocks, alpha):
    return stats.t.ppf(1 - alpha / 2, blocks - 1) * deviation / np.sqrt(blocks)


def needed(deviation, alpha):
    for blocks in range(3, 1001):
        if half_width(deviation, blocks, alpha) + half_width(deviation, blocks, 2 * alpha) <= np.log(1 + MARGIN):
            return blocks
    return 1001


def decided(mean, deviation, blocks, alpha):
    """The share of experiments that come to a verdict."""
    seen = deviation * np.sqrt(stats.chi2.ppf((np.arange(32) + 0.5) / 32, blocks - 1) / (blocks - 1))
    low = np.maximum(0, np.log(1 + MARGIN) - half_width(seen, blocks, 2 * alpha))
    high = np.maximum(low, half_width(seen, blocks, alpha))
    error = deviation / np.sqrt(blocks)
    at = lambda x: stats.norm.cdf((x - mean) / error)
    return 1 - np.mean(at(high) - at(low) + at(-low) - at(-high))


def as_seen(mean, deviation, blocks, alpha):
    return next((more for more in range(max(3, blocks + 1), 1001) if decided(mean, deviation, more, alpha) >= 0.8), 1001)


def figures(alpha, baseline, variant):
    a, b = np.log(baseline), np.log(variant)
    d = b - a
    blocks, deviation = len(d), np.std(d, ddof=1)
    test = stats.ttest_rel(b, a)
    interval = test.confidence_interval(1 - alpha)
    t = stats.t.ppf(1 - alpha / 2, blocks - 1)
    shown = optimize.brentq(lambda nc: stats.nct.sf(t, blocks - 1, nc) - 0.8, 0.01, 100, xtol=1e-12, rtol=1e-12)
    limit = deviation * np.sqrt((blocks - 1) / stats.chi2.ppf(0.2, blocks - 1))
    flipped = stats.permutation_test((b, a), lambda x, y, axis: np.mean(x - y, axis=axis), permutation_type="samples",
                                     vectorized=True, n_resamples=np.inf).pvalue
    return [np.exp(d.mean()), np.exp(interval.low), np.exp(interval.high), np.expm1(half_width(deviation, blocks, alpha)),
            test.pvalue, max(1 + MARGIN, np.exp(shown * limit / np.sqrt(blocks))), needed(limit, alpha), flipped,
            as_seen(abs(d.mean()), deviation, blocks, alpha)]


def drift():
    """Three variants in random order, and all runs together 5 % higher at the end. Two runs have no value."""
    random = np.random.default_rng(7)
    variants = np.concatenate([random.permutation(3) for _ in range(6)])
    numbers = np.arange(1, len(variants) + 1)
    values = np.exp(np.array([3.0, 3.2, 2.9])[variants] + 0.05 * numbers / 17 + random.normal(0, 0.01, 18)).round(4)
    keep = ~np.isin(numbers, (5, 12))
    numbers, variants, values = numbers[keep], variants[keep], values[keep]
    blocks = (numbers - 1) // 3

    dummies = np.column_stack([variants == v for v in range(3)]).astype(float)
    left = [y - dummies @ np.linalg.lstsq(dummies, y, rcond=None)[0] for y in (numbers, np.log(values))]
    x, y = [np.array([side[blocks == block].mean() for block in range(6)]) for side in left]
    slope, rest, _, _ = np.linalg.lstsq(x[:, None], y, rcond=None)
    half = stats.t.ppf(0.975, 4) * np.sqrt(rest[0] / 4 / (x @ x))
    return list(zip(numbers, blocks, variants, values)), [np.expm1(17 * (slope[0] + side * half)) for side in (0, -1, 1)]


def mser_5(values):
    batches = np.array(values)[:len(values) // 5 * 5].reshape(-1, 5).mean(axis=1)
    statistic = [np.var(batches[cut:]) / len(batches[cut:]) for cut in range(len(batches) // 2 + 1)]
    return 5 * int(np.argmin(statistic))


def settling():
    random = np.random.default_rng(3)
    for length, ramp, scatter in ((120, 12.0, 15), (300, 20.0, 15), (103, 200.0, 2)):
        values = 1000 * (1 - 0.3 * np.exp(-np.arange(length) / ramp)) + random.normal(0, scatter, length)
        values = [float(v) for v in values.round(1)]
        yield values, mser_5(values)


def numbers(values):
    return "{" + ", ".join(f"{v:.10g}" if isinstance(v, float) else str(v) for v in map(float, values)) + "}"


def main():
    print("// Made by comparison_reference.py with SciPy; not edited by hand.")
    print("#pragma once\n\n#include <array>\n#include <cstddef>\n#include <vector>\n")
    print("namespace postal::stats::reference {\n")
    print("struct comparison_case { double alpha; std::vector<double> baseline, variant; double ratio, lower, upper, "
          "half_width, probability, smallest_detectable; std::size_t needed_blocks; double flipped; std::size_t blocks_as_seen; };")
    print("inline const std::vector<comparison_case> comparisons = {")
    for alpha, baseline, variant in cases():
        f = figures(alpha, baseline, variant)
        print(f"{{{float(alpha)}, {numbers(baseline)}, {numbers(variant)}, "
              + ", ".join(str(v) if i in (6, 8) else f"{float(v):.10g}" for i, v in enumerate(f)) + "},")
    print("};\n")
    runs, expected = drift()
    print("struct run { std::size_t number, block, variant; double value; };")
    print("inline const std::vector<run> drifting = {"
          + ", ".join(f"{{{n}, {b}, {v}, {float(x):.10g}}}" for n, b, v, x in runs) + "};")
    print(f"inline constexpr std::array<double, 3> drift = {numbers(expected)};  // change, lower, upper\n")
    print("struct series { std::vector<double> values; std::size_t settles; };")
    print("inline const std::vector<series> settling = {")
    for values, settles in settling():
        print(f"{{{numbers(values)}, {settles}}},")
    print("};\n\n}  // namespace postal::stats::reference")


main()
