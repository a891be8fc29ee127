// SPDX-License-Identifier: GPL-3.0-or-later
#include "cli/parse.hpp"

#include "base/standard_output.hpp"
#include "base/text.hpp"
#include "cli/command_line.hpp"
#include "cli/completion.hpp"
#include "cli/config_file.hpp"
#include "cli/help.hpp"
#include "cli/output_files.hpp"
#include "cli/rows.hpp"
#include "os/terminal_size.hpp"

#include <fmt/format.h>

#include <unistd.h>

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>

namespace postal::cli {

namespace {

base::expected<void> set_all(const option& row, const std::vector<std::string>& values,
                             const std::string& where) {
    if (values.empty()) return {};
    // Only the last of several counts, unless the option collects them.
    const std::size_t first = row.repeatable ? 0 : values.size() - 1;
    for (std::size_t i = first; i < values.size(); ++i) {
        if (auto stored = row.set(values[i]); !stored) {
            return base::at(where, stored.error());
        }
    }
    return {};
}

base::expected<void> check_form(const option& row, const config_entry& entry) {
    if (is_flag(row) && !entry.is_boolean) return base::fail("is a flag; give true or false");
    if (!is_flag(row) && entry.is_boolean) {
        return base::fail("takes {}, not true or false", row.value);
    }
    if (entry.is_list && !row.repeatable) return base::fail("takes one value, not a list");
    return {};
}

bool has_entry(const std::vector<config_entry>& entries, std::string_view key) {
    return std::any_of(entries.begin(), entries.end(),
                       [&](const config_entry& one) { return one.key == key; });
}

// Every entry of the file must belong to a row and have its form, also one that the command line
// overrules.
base::expected<void> check_entries(const command_line& line,
                                   const std::vector<config_entry>& entries) {
    std::map<std::string, const option*> rows;
    std::vector<std::string> keys;
    for (const auto& written : line.options) {
        if (!written.row->set) continue;
        for (const std::string& key : {key_of(*written.row), written.row->file_key}) {
            if (key.empty()) continue;
            keys.push_back(key);
            rows[key] = written.row;
        }
    }
    for (const auto& entry : entries) {
        const auto found = rows.find(entry.key);
        if (found != rows.end()) {
            if (entry.key == found->second->file_key &&
                has_entry(entries, key_of(*found->second))) {
                return base::fail("{} is another name of {}; leave one of the two out", entry.where,
                                  key_of(*found->second));
            }
            const auto checked = check_form(*found->second, entry);
            if (!checked) return base::fail("{} {}", entry.where, checked.error().message);
            continue;
        }
        const std::string_view near = base::nearest(entry.key, keys);
        if (near.empty()) return base::fail("{}: unknown option", entry.where);
        return base::fail("{}: unknown option; did you mean {}?", entry.where, near);
    }
    return {};
}

base::expected<void> apply_options(const command_line& line,
                                   const std::vector<config_entry>& entries,
                                   std::vector<effective_option>& effective) {
    for (const auto& [row, values] : line.options) {
        if (!row->set) continue;
        effective_option now{key_of(*row), values, !values.empty()};
        std::string where = long_name(*row);
        const std::string& key = row->file_key;
        const auto entry = std::find_if(entries.begin(), entries.end(), [&](const auto& one) {
            return one.key == now.name || (!key.empty() && one.key == key);
        });
        if (!now.given && entry != entries.end()) {
            now.values = entry->values;
            now.given = true;
            where = entry->where;
        }
        if (auto stored = set_all(*row, now.values, where); !stored) return stored.error();
        if (!now.given && !row->fallback.empty()) now.values = {row->fallback};
        if (!row->repeatable && now.values.size() > 1) now.values = {now.values.back()};
        if (!now.values.empty()) effective.push_back(std::move(now));
    }
    return {};
}

base::expected<void> apply_positionals(const program& description, const command_line& line) {
    for (std::size_t i = 0; i < description.positionals.size(); ++i) {
        const auto& one = description.positionals[i];
        if (i >= line.positionals.size()) {
            if (!one.required) continue;
            return base::fail("{} is missing; usage: {}", one.name, usage_line(description));
        }
        if (!one.set) continue;
        const std::size_t end = one.repeatable ? line.positionals.size() : i + 1;
        for (std::size_t word = i; word < end; ++word) {
            if (auto stored = one.set(line.positionals[word]); !stored) {
                return base::at(one.name, stored.error());
            }
        }
    }
    return {};
}

bool is_forced(const command_line& line) {
    return line.last_of("--force") == "true";
}

base::expected<void> check_files(const program& description, const command_line& line,
                                 const std::vector<effective_option>& effective) {
    std::vector<given_value> all;
    for (const auto& [row, values] : line.options) {
        const std::string key = key_of(*row);
        const auto found = std::find_if(effective.begin(), effective.end(), [&](const auto& one) {
            return one.given && one.name == key;
        });
        const bool known = found != effective.end();
        for (const std::string& value : known ? found->values : values)
            all.push_back({long_name(*row), value, row->writes});
    }
    for (std::size_t i = 0; i < line.positionals.size(); ++i) {
        const std::size_t which = std::min(i, description.positionals.size() - 1);
        all.push_back({description.positionals[which].name, line.positionals[i]});
    }
    return check_outputs(all, is_forced(line) ? existing_files::replace : existing_files::keep);
}

// Prints the text of --help, --version, --explain or --completion if one of them was asked for.
base::expected<parse_result> print_what_was_asked(const program& description,
                                                  const command_line& line) {
    std::string text;
    if (const auto word = line.last_of("--help")) {
        const auto known = help_words(description);
        if (!word->empty() && std::find(known.begin(), known.end(), *word) == known.end())
            return base::fail("--help: {} is no group of options; there are {}",
                              base::printable(*word, 80), base::join(known, ", "));
        text = help_text(description, page_width(), word->empty() ? "all" : *word);
    } else if (line.last_of("-h")) {
        text = short_help_text(description, page_width());
    } else if (line.last_of("--version")) {
        text = version_text(description);
    } else if (const auto name = line.last_of("--explain"); name && description.explain) {
        auto explained = description.explain(*name);
        if (!explained) return base::at("--explain", explained.error());
        text = os::fitted(std::move(*explained), STDOUT_FILENO);
    } else if (const auto shell = line.last_of("--completion")) {
        auto script = completion(description, *shell);
        if (!script) return base::at("--completion", script.error());
        text = std::move(*script);
    }
    base::print(text);
    return text.empty() ? parse_result::run : parse_result::done;
}

}  // namespace

base::expected<parse_result> parse(const program& description,
                                   const std::vector<std::string>& words,
                                   std::vector<effective_option>& effective) {
    const auto line = read_command_line(description, words);
    if (!line) return line.error();
    const auto printed = print_what_was_asked(description, *line);
    if (!printed || *printed == parse_result::done) return printed;

    std::vector<config_entry> entries;
    if (const auto config = line->last_of("--config").value_or(""); !config.empty()) {
        auto read = read_config(config);
        if (!read) return base::at("--config", read.error());
        entries = std::move(*read);
    }
    if (auto checked = check_entries(*line, entries); !checked) {
        return base::at("--config", checked.error());
    }
    if (auto applied = apply_options(*line, entries, effective); !applied) return applied.error();
    if (auto applied = apply_positionals(description, *line); !applied) return applied.error();
    if (auto checked = check_files(description, *line, effective); !checked) {
        return checked.error();
    }
    if (is_forced(*line)) effective.push_back({"force", {"true"}, true});
    if (const auto fits = description.check ? description.check() : base::expected<void>(); !fits)
        return fits.error();
    return parse_result::run;
}

bool is_given(const std::vector<effective_option>& all, std::string_view name) {
    return std::any_of(all.begin(), all.end(),
                       [&](const effective_option& one) { return one.given && one.name == name; });
}

base::expected<parse_result> parse(const program& description,
                                   const std::vector<std::string>& words) {
    std::vector<effective_option> ignored;
    return parse(description, words, ignored);
}

}  // namespace postal::cli
