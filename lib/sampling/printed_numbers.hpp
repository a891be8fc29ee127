// SPDX-License-Identifier: GPL-3.0-or-later
// What a command of the user's printed, as figures.
//
//   output = number LF  /  1*( name SP number LF )      ; the last LF may be missing, empty lines too
//
// A number is 0 or more, "12" or "0.5", below 10^15. A name is what stands before the last blank of
// its line: 1 to 64 octets of UTF-8 without control characters, each name once. `name` stands alone
// for a number without a name, and before each name that is there. Fails with one line for anything
// else.
#pragma once

#include "base/result.hpp"
#include "stats/samples.hpp"

#include <string_view>
#include <vector>

namespace postal::sampling {

[[nodiscard]] base::expected<std::vector<stats::sampled_value>> read_numbers(
    std::string_view output, std::string_view name);

}  // namespace postal::sampling
