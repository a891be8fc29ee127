// SPDX-License-Identifier: GPL-3.0-or-later
// What ${name} stands for in an experiment's texts.
//
// A value may hold variables itself. Fails for a name without a value, a text that ends within
// "${", values that come back to themselves, and more than 256 KiB of values.
#pragma once

#include "experiment/experiment.hpp"

#include "base/result.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace postal::experiment {

// A variable of several words is refused within a text.
[[nodiscard]] base::expected<std::string> expand(std::string_view text, const variables& values);

// A word that is nothing but a variable becomes all of its words, of which there may be none.
[[nodiscard]] base::expected<std::vector<std::string>> expand(const std::vector<std::string>& words,
                                                              const variables& values);

}  // namespace postal::experiment
