// What --help and --version print, as text.
#pragma once

#include "cli/options.hpp"

#include <string>

namespace postal::cli {

std::string usage_line(const program& description);  // "postal [OPTION]... SERVER USER-LIST"
std::string help_text(const program& description);   // at most 100 columns
std::string version_text(const program& description);

}  // namespace postal::cli
