// Small questions about option rows, shared by the parser, the help and the completion.
//
// Every program has a few rows of its own kind beside its description's: --config, --help,
// --version and the hidden
// --completion. They are in standard_group(), without setters, for parse() acts on them itself.
#pragma once

#include "cli/options.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace postal::cli {

std::vector<std::string> split_names(
    std::string_view names);               // "-t,--sessions" -> "-t", "--sessions"
std::string long_name(const option& row);  // "--sessions"; the short one if there is no other
std::string key_of(const option& row);     // "sessions": the name in a configuration file

inline bool is_flag(const option& row) {
    return row.value.empty();
}

// "auto|off" -> "auto", "off"; empty for a value that is no list of words.
std::vector<std::string> words_of(const option& row);

group standard_group();

// The known name nearest to a mistyped one, empty if none is near.
std::string nearest(std::string_view mistyped, const std::vector<std::string>& known);

}  // namespace postal::cli
