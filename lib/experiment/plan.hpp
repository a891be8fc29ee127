// SPDX-License-Identifier: GPL-3.0-or-later
// The order of an experiment's runs: randomised complete blocks.
//
// Each block runs every variant once, in an order that follows from the seed and the block's number
// alone, so that an experiment that is resumed, or goes on for more blocks, keeps its order.
#pragma once

#include "experiment/experiment.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace postal::experiment {

struct planned_run {
    std::uint64_t block = 1;   // from 1
    std::size_t position = 0;  // within the block, from 0
    std::size_t variant = 0;
    bool operator==(const planned_run&) const = default;
};

enum class run_end : std::uint8_t { complete, failed, interrupted };
constexpr auto words_of(run_end) {
    return std::to_array<std::string_view>({"complete", "failed", "interrupted"});
}

[[nodiscard]] std::vector<planned_run> runs_of_block(std::uint64_t seed, std::uint64_t block,
                                                     std::size_t variants);

// The run's folder below DIR/runs: "b01-3-NAME", with what is no letter, digit, dot, + or = in the
// name written as "_".
[[nodiscard]] std::string folder_of(const planned_run& run, const experiment& whole);

// The same for all variants of a block, so that they get the same mail.
[[nodiscard]] std::uint64_t load_seed(std::uint64_t seed, std::uint64_t block, std::size_t program);

}  // namespace postal::experiment
