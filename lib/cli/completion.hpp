// SPDX-License-Identifier: GPL-3.0-or-later
// The scripts with which bash, zsh and fish complete a program's command line, made of its rows.
//
// A shell offers the options' names with what they are for, the words that a value may be, files
// where it names one, folders where it names a folder, and nothing for numbers, times and
// endpoints.
#pragma once

#include "base/result.hpp"
#include "cli/options.hpp"

#include <string>
#include <string_view>

namespace postal::cli {

// Fails for a shell that is none of bash, zsh and fish.
base::expected<std::string> completion(const program& description, std::string_view shell);

}  // namespace postal::cli
