// SPDX-License-Identifier: GPL-3.0-or-later
// Values that stand apart from the others of a sample, such as the block in which one variant had a
// slow run.
//
// The generalised ESD test (Rosner 1983) asks for one, two, ... of them, up to a quarter of the
// sample, each time whether the farthest of what is left is farther from its mean than chance puts
// it; so several do not hide each other. The steps share alpha, since small samples without any
// would otherwise have some too often. Nothing here fails.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace postal::stats {

// Below it one value says too little of the others.
inline constexpr std::size_t outliers_from = 5;

// Their places, ascending.
[[nodiscard]] std::vector<std::size_t> outliers_of(std::span<const double> values, double alpha);

}  // namespace postal::stats
