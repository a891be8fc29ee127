// SPDX-License-Identifier: GPL-3.0-or-later
// What the command line of postal-list asks for: a user list with its conversions, or a pattern.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/parse.hpp"
#include "postal-list/address_pattern.hpp"
#include "postal-list/password_template.hpp"

namespace postal::list {

struct options {
    std::string user_list;
    std::string conversions;
    std::optional<address_pattern> pattern;
    std::optional<password_template> password;
};

// done when --help or --version was asked for and printed. A failure is one line that names the
// option.
base::expected<cli::parse_result> parse_options(options& into,
                                                const std::vector<std::string>& words);

}  // namespace postal::list
