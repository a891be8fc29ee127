// SPDX-License-Identifier: GPL-3.0-or-later
// What a threshold can ask of what was sampled beside a run: max(NAME), mean(NAME) or last(NAME),
// after the warm-up.
//
// NAME is a figure's, "postfix", "postfix active" or what a command's are called; "queue" is all
// that wait in the one queue that is sampled. A command's figures are known when it has printed
// them: any name that begins with the command's and a blank is taken for one of them.
#pragma once

#include "base/result.hpp"
#include "stats/samples.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace postal::stats {

inline constexpr std::string_view only_queue = "queue";

// One that is to be sampled.
struct sampled_name {
    std::string name;
    bool has_more = false;  // a command: its other figures have this name and their own behind it
};

// Fails with the list of what is sampled.
[[nodiscard]] base::expected<void> check_sampled(std::string_view name,
                                                 const std::vector<sampled_name>& known);

enum class sample_statistic : std::uint8_t { max, mean, last };

// Nothing for what is none of them.
[[nodiscard]] std::optional<sample_statistic> sample_statistic_of(std::string_view word) noexcept;

// Of the samples that began `from_s` after the run's start or later; nothing where there was none.
[[nodiscard]] std::optional<double> measure(const std::vector<sampled_source>& samples,
                                            std::string_view name, sample_statistic what,
                                            double from_s);

}  // namespace postal::stats
