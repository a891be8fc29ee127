// SPDX-License-Identifier: GPL-3.0-or-later
// What --help and --version print, as text.
#pragma once

#include "cli/options.hpp"

#include <cstddef>
#include <string>
#include <string_view>

namespace postal::cli {

std::string usage_line(const program& description);  // "postal [OPTION]... SERVER USER-LIST"

// Columns of the terminal that standard output is, or of COLUMNS; 80 where neither is known, and
// within what can be read.
std::size_t page_width();

// All options, or those of the group that has that word; see help_words().
std::string help_text(const program& description, std::size_t width, std::string_view word = "all");
// What most runs need, and where the rest is.
std::string short_help_text(const program& description, std::size_t width);
std::string version_text(const program& description);

}  // namespace postal::cli
