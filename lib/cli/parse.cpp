#include "cli/parse.hpp"

#include "cli/command_line.hpp"
#include "cli/config_file.hpp"
#include "cli/help.hpp"
#include "cli/rows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <utility>

namespace postal::cli {

namespace {

base::expected<void> set_all(const option& row, const std::vector<std::string>& values,
                             const std::string& where) {
    if (!row.set || values.empty()) return {};
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

std::string where_of(const std::string& file, const config_entry& entry) {
    return fmt::format("{}:{}: {}", file, entry.line, entry.key);
}

// Every entry of the file must belong to a row and have its form, also one that the command line
// overrules.
base::expected<void> check_entries(const command_line& line,
                                   const std::vector<config_entry>& entries) {
    std::vector<std::string> known;
    for (const auto& written : line.options)
        known.push_back(key_of(*written.row));
    for (const auto& entry : entries) {
        const auto found = std::find(known.begin(), known.end(), entry.key);
        if (found == known.end()) {
            const std::string near = nearest(entry.key, known);
            if (near.empty()) return base::fail("{}: unknown option", where_of(line.config, entry));
            return base::fail("{}: unknown option; did you mean {}?", where_of(line.config, entry),
                              near);
        }
        const auto& row = *line.options[static_cast<std::size_t>(found - known.begin())].row;
        if (auto checked = check_form(row, entry); !checked) {
            return base::fail("{} {}", where_of(line.config, entry), checked.error().message);
        }
    }
    return {};
}

base::expected<void> apply_options(const command_line& line,
                                   const std::vector<config_entry>& entries,
                                   std::vector<effective_option>& effective) {
    for (const auto& [row, values] : line.options) {
        effective_option now{key_of(*row), values, !values.empty()};
        std::string where = long_name(*row);
        const auto entry = std::find_if(entries.begin(), entries.end(),
                                        [&](const auto& one) { return one.key == now.name; });
        if (!now.given && entry != entries.end()) {
            now.values = entry->values;
            now.given = true;
            where = where_of(line.config, *entry);
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

// Prints the text of --help, --version or --completion if one of them was asked for.
base::expected<outcome> print_what_was_asked(const program& description, const command_line& line) {
    std::string text;
    if (line.help) {
        text = help_text(description);
    } else if (line.version) {
        text = version_text(description);
    } else if (line.completion == "bash") {
        text = bash_completion(description);
    } else if (!line.completion.empty()) {
        return base::fail("--completion: \"{}\" is not a shell known here; give bash",
                          line.completion);
    }
    std::fputs(text.c_str(), stdout);
    return text.empty() ? outcome::run : outcome::done;
}

}  // namespace

base::expected<outcome> parse(const program& description, int argc, const char* const* argv,
                              std::vector<effective_option>& effective) {
    const auto line = read_command_line(description, argc, argv);
    if (!line) return line.error();
    const auto printed = print_what_was_asked(description, *line);
    if (!printed || *printed == outcome::done) return printed;

    std::vector<config_entry> entries;
    if (!line->config.empty()) {
        auto read = read_config(line->config);
        if (!read) return base::at("--config", read.error());
        entries = std::move(*read);
    }
    if (auto checked = check_entries(*line, entries); !checked) {
        return base::at("--config", checked.error());
    }
    if (auto applied = apply_options(*line, entries, effective); !applied) return applied.error();
    if (auto applied = apply_positionals(description, *line); !applied) return applied.error();
    return outcome::run;
}

base::expected<outcome> parse(const program& description, int argc, const char* const* argv) {
    std::vector<effective_option> ignored;
    return parse(description, argc, argv, ignored);
}

}  // namespace postal::cli
