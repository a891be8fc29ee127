// SPDX-License-Identifier: GPL-3.0-or-later
// Small questions about option rows, shared by the parser, the help and the completion.
//
// Every program has --config, --help, --version and --completion beside its description's rows, and
// --force where one of these names a file that is written. They are in standard_group(), without
// setters, for parse() acts on them itself.
#pragma once

#include "cli/options.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace postal::cli {

bool has_name(const option& row, std::string_view name);
std::string long_name(const option& row);  // "--sessions"; the short one if there is no other
std::string key_of(const option& row);     // "sessions": the name in a configuration file

inline bool is_flag(const option& row) {
    return row.value.empty();
}

const group& standard_group(const program& description);
std::vector<group> all_groups(const program& description);  // the standard one is the last

std::string word_of(const group& of);  // "limits" of "Limits on clients": what --help knows it by
std::vector<std::string> help_words(const program& description);  // "all", and those of its groups

}  // namespace postal::cli
