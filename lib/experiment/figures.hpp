// SPDX-License-Identifier: GPL-3.0-or-later
// How an experiment's figures are written, for sentences and tables.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace postal::experiment {

inline constexpr const char* unknown = "–";

// Ratios that say more as a factor than as a percentage: 2 and more, 1/2 and less.
[[nodiscard]] bool is_large(double ratio);

// The command that does it again: with its seed, also where that was a random one.
[[nodiscard]] std::string repeated_command(const std::vector<std::string>& argv,
                                           std::uint64_t seed);

// "2.31", "> 100": beyond that a factor only says that nothing is known.
[[nodiscard]] std::string factor_text(double ratio);

// "+12.3 %"
[[nodiscard]] std::string percent(double ratio);

// "12.3 %" or "2.31 times"; of a ratio above 1.
[[nodiscard]] std::string how_much(double ratio);

// The bound of a share, from 0 to 1, in percent: "3", "0.75".
[[nodiscard]] std::string bound_text(double share);

[[nodiscard]] std::string in_quotes(const std::string& name);

// The value in the middle, of two the higher one; nothing of none.
[[nodiscard]] std::optional<double> median(std::vector<double> values);

}  // namespace postal::experiment
