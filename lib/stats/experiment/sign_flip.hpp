// SPDX-License-Identifier: GPL-3.0-or-later
// The sign-flip permutation test of paired differences: without a difference each of them could as
// well have had the other sign.
//
// The probability is two-sided: the share of all assignments of signs whose sum is as far from 0 as
// the one that was seen, or farther. All of them are gone through up to 20 values; above that a
// sample is drawn, of which the one that was seen is a part (Phipson and Smyth 2010), so that the
// probability is never 0. The least that n values can give is 2 / 2^n. Nothing here fails.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace postal::stats {

struct sign_flip_test {
    double probability = 1;
    bool exact = true;  // otherwise of `sign_flip_samples` assignments
};

inline constexpr std::size_t sign_flip_exact_up_to = 20;
inline constexpr std::size_t sign_flip_samples = 100'000;

// `seed` is for the samples.
[[nodiscard]] sign_flip_test sign_flip(std::span<const double> differences, std::uint64_t seed);

}  // namespace postal::stats
