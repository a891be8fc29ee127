// SPDX-License-Identifier: GPL-3.0-or-later
// The rows that describe a program's command line.
//
// An option is one row: names, value, default, help and the setter that checks the text and stores
// it. The same row feeds the command line, the configuration file, --help and the shell completion,
// so that none can disagree. Rows are plain data; cli/binders.hpp makes the setters and
// cli/parse.hpp reads a command line with them.
//
// A setter gets the text as the user wrote it ("true" or "false" for a flag) and answers with a
// failure whose message says what is wrong and what would be right, without naming the option:
// parse() puts the name in front.
#pragma once

#include "base/result.hpp"

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace postal::cli {

using setter = std::function<base::expected<void>(const std::string&)>;

// What a program writes to a file: its name for people, and how such a file is told by its first
// 4 KiB. Without that, whoever opens the file judges it, and adds to what is there.
struct file_kind {
    std::string_view name;
    bool (*recognised)(std::string_view beginning) = nullptr;
    bool numbered =
        false;  // the value is the beginning of names: VALUE:1 and VALUE:1:2 are written
};

struct option {
    std::string names;  // "-t,--sessions"; the long name is also the key in the configuration file
    std::string value = {};     // "N"; empty makes it a flag; "auto|off" lets the shell complete it
    std::string fallback = {};  // the default as --help shows it; empty shows none
    std::string help = {};      // one sentence without a full stop
    setter set = {};            // called once, or once for each time given when repeatable
    bool repeatable = false;    // otherwise the last one given counts
    const file_kind* writes = nullptr;  // the value is a file that is written; see output_files.hpp
    bool optional_value = false;        // as the last word of the line it may stand alone
    std::vector<std::string> known_values = {};  // offered by the shell beside those in `value`
    std::string file_key = {};  // a second name, in configuration files; empty: none
};

struct group {
    std::string title;
    std::vector<option> options;
};

struct positional {
    std::string name;  // "SERVER"
    std::string help = {};
    setter set = {};
    bool required = true;
    bool repeatable = false;  // only for the last one: it takes every word that is left
};

struct program {
    std::string name;     // "postal"
    std::string summary;  // one sentence
    std::vector<group> groups;
    std::vector<positional> positionals = {};
    std::string notes = {};  // free text under the options, examples for instance
    std::vector<std::string_view> usual =
        {};  // long names of the options that -h shows, in order; none: all
    // For --version; empty in programs that have no use for it.
    std::string tls = {};  // the libraries, or "not built in"
    std::string mpi = {};  // with which it is one of many, or "no"
    // What --explain NAME prints, a row of the program's own; NAME may be empty.
    std::function<base::expected<std::string>(std::string_view)> explain = {};
    // Asked once all values are read: whether they fit together.
    std::function<base::expected<void>()> check = {};
};

}  // namespace postal::cli
