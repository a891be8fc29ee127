// SPDX-License-Identifier: GPL-3.0-or-later
// Reads a command line, and the file that --config names, into the targets behind a program's
// option rows.
//
// Adds --help, --version, --config FILE and --completion SHELL to the rows of every program, and
// --force (on the command line only) to those that write files. The command line wins over the
// file; for a repeatable option the command line's list replaces the file's.
//
// Files that options write are looked at last: output_files.hpp.
//
// Fails with one line that names the option or file:line, what was wrong and what would be right;
// nothing is printed then (see complain() in cli/main.hpp). Option targets may already have been
// written to when it fails.
#pragma once

#include "base/result.hpp"
#include "cli/options.hpp"

#include <string>
#include <vector>

namespace postal::cli {

enum class parse_result {
    run,   // go on
    done,  // --help, --version or --completion was asked for and has been printed on standard
           // output
};

// What an option ended up as, for the record of a run: every option that has a default or was
// given.
struct effective_option {
    std::string name;  // the long name without dashes
    std::vector<std::string>
        values;  // as written; the default's text when not given; "true" for a flag
    bool given = false;
};

base::expected<parse_result> parse(const program& description,
                                   const std::vector<std::string>& words);
base::expected<parse_result> parse(const program& description,
                                   const std::vector<std::string>& words,
                                   std::vector<effective_option>& effective);

// Whether somebody has given that option, by its long name without dashes.
[[nodiscard]] bool is_given(const std::vector<effective_option>& all, std::string_view name);

}  // namespace postal::cli
