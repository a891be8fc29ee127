// SPDX-License-Identifier: GPL-3.0-or-later
#include "experiment/plan.hpp"

#include "base/random.hpp"
#include "base/text.hpp"

#include <fmt/format.h>

#include <utility>

namespace postal::experiment {

std::vector<planned_run> runs_of_block(std::uint64_t seed, std::uint64_t block,
                                       std::size_t variants) {
    std::vector<planned_run> runs;
    for (std::size_t i = 0; i < variants; ++i)
        runs.push_back({block, i, i});
    base::random_source random(base::mix(seed, block, 0));
    for (std::size_t left = variants; left > 1; --left)
        std::swap(runs[left - 1].variant, runs[random.below(left)].variant);
    return runs;
}

std::string folder_of(const planned_run& run, const experiment& whole) {
    std::string name;
    for (const char c : whole.variants[run.variant].name.substr(0, 40)) {
        const char lower = base::ascii_lower(c);
        const bool plain = (lower >= 'a' && lower <= 'z') || base::is_digit(c) || c == '.' ||
                           c == '-' || c == '+' || c == '=';
        name += plain ? c : '_';
    }
    return fmt::format("b{:02}-{}-{}", run.block, run.position + 1, name);
}

std::uint64_t load_seed(std::uint64_t seed, std::uint64_t block, std::size_t program) {
    return base::mix(seed, block, program + 1) >> 32U;  // short enough to be typed
}

}  // namespace postal::experiment
