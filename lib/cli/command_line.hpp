// SPDX-License-Identifier: GPL-3.0-or-later
// The command line as it was written: which row got which texts. Knows nothing of what the texts
// mean.
#pragma once

#include "base/result.hpp"
#include "cli/options.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace postal::cli {

struct written_option {
    const option* row = nullptr;
    std::vector<std::string> values = {};  // empty when it was not given; "true" for a flag
};

struct command_line {
    // One for each row of each group, in order; behind them standard_group(), whose rows have no
    // setter because parse() acts on them.
    std::vector<written_option> options;
    std::vector<std::string> positionals;  // as many as were given, in order

    std::optional<std::string> last_of(std::string_view name) const;  // nothing when not given
};

// Fails on unknown options (and names a near one), options without their value and too many
// positionals. Missing positionals are not looked at. The rows' addresses are kept: `description`
// must outlive the result.
base::expected<command_line> read_command_line(const program& description,
                                               const std::vector<std::string>& words);

}  // namespace postal::cli
