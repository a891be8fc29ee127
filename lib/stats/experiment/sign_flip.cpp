// SPDX-License-Identifier: GPL-3.0-or-later
// The assignments are gone through in the order of the Gray code: each differs from the one before
// in one sign. The last value keeps its own, since the opposite of an assignment is as far from 0.
#include "stats/experiment/sign_flip.hpp"

#include "base/random.hpp"

#include <bit>
#include <cmath>
#include <vector>

namespace postal::stats {
namespace {

double exact_probability(std::span<const double> differences, double far) {
    std::vector<double> signed_values(differences.begin(), differences.end());
    double sum = 0;
    for (const double value : differences)
        sum += value;
    const std::uint64_t assignments = std::uint64_t{1} << (differences.size() - 1);
    std::uint64_t as_far = 1;  // what was seen
    for (std::uint64_t i = 1; i < assignments; ++i) {
        double& flipped = signed_values[static_cast<std::size_t>(std::countr_zero(i))];
        sum -= 2 * flipped;
        flipped = -flipped;
        if (std::abs(sum) >= far) ++as_far;
    }
    return static_cast<double>(as_far) / static_cast<double>(assignments);
}

double sampled_probability(std::span<const double> differences, double far, std::uint64_t seed) {
    base::random_source random(seed);
    std::size_t as_far = 1;
    for (std::size_t sample = 0; sample < sign_flip_samples; ++sample) {
        double sum = 0;
        std::uint64_t signs = 0;
        for (std::size_t i = 0; i < differences.size(); ++i, signs >>= 1U) {
            if (i % 64 == 0) signs = random.next();
            sum += (signs & 1U) != 0 ? differences[i] : -differences[i];
        }
        if (std::abs(sum) >= far) ++as_far;
    }
    return static_cast<double>(as_far) / static_cast<double>(sign_flip_samples + 1);
}

}  // namespace

sign_flip_test sign_flip(std::span<const double> differences, std::uint64_t seed) {
    if (differences.empty()) return {};
    double sum = 0;
    double largest = 0;
    for (const double value : differences) {
        sum += value;
        largest += std::abs(value);
    }
    // Sums that are equal but for rounding are as far.
    const double far = std::abs(sum) - 1e-9 * largest;
    const bool exact = differences.size() <= sign_flip_exact_up_to;
    return {
        exact ? exact_probability(differences, far) : sampled_probability(differences, far, seed),
        exact};
}

}  // namespace postal::stats
