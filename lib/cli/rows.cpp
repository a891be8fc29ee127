// SPDX-License-Identifier: GPL-3.0-or-later
#include "cli/rows.hpp"

#include "base/text.hpp"

#include <algorithm>

namespace postal::cli {

namespace {

bool writes_files(const program& description) {
    return std::any_of(description.groups.begin(), description.groups.end(), [](const group& each) {
        return std::any_of(each.options.begin(), each.options.end(),
                           [](const option& row) { return row.writes != nullptr; });
    });
}

std::vector<option> standard_rows() {
    return {
        {"--config", "FILE", "", "read long options from this TOML file; the command line wins"},
        {"-h", "", "", "print the options that most runs need, and end"},
        {"--help", "[GROUP]", "", "print all options, or those of one group, and end"},
        {"--version", "", "", "print the version and what is built in, and end"},
        {"--completion", "bash|zsh|fish", "",
         "print the completion script of this shell, and end"}};
}

std::vector<option> with_force(std::vector<option> rows) {
    rows.insert(rows.begin() + 1, {"--force", "", "", "write over files of any kind"});
    return rows;
}

}  // namespace

bool has_name(const option& row, std::string_view name) {
    const auto names = base::split(row.names, ',');
    return std::find(names.begin(), names.end(), name) != names.end();
}

std::string long_name(const option& row) {
    const auto names = base::split(row.names, ',');
    const auto found = std::find_if(names.begin(), names.end(),
                                    [](std::string_view name) { return name.starts_with("--"); });
    return std::string(found == names.end() ? names.front() : *found);
}

std::string key_of(const option& row) {
    const std::string name = long_name(row);
    return name.substr(name.starts_with("--") ? 2 : 1);
}

const group& standard_group(const program& description) {
    static const group reading{"General", standard_rows()};
    static const group writing{"General", with_force(standard_rows())};
    return writes_files(description) ? writing : reading;
}

std::string word_of(const group& of) {
    return base::lower(of.title.substr(0, of.title.find(' ')));
}

std::vector<std::string> help_words(const program& description) {
    std::vector<std::string> words{"all"};
    for (const group& each : description.groups)
        words.push_back(word_of(each));
    words.push_back(word_of(standard_group(description)));
    return words;
}

std::vector<group> all_groups(const program& description) {
    auto groups = description.groups;
    groups.push_back(standard_group(description));
    for (option& row : groups.back().options) {
        if (!has_name(row, "--help")) continue;
        row.optional_value = true;
        row.known_values = help_words(description);
    }
    return groups;
}

}  // namespace postal::cli
