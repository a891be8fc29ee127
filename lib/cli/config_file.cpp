// SPDX-License-Identifier: GPL-3.0-or-later
#include "cli/config_file.hpp"

#include "base/read_file.hpp"
#include "base/text.hpp"
#include "cli/toml.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace postal::cli {

namespace {

constexpr std::uint64_t largest_file = 1 << 20;

// Adds the text that the same value would have on the command line; false for types that options
// do not have.
bool add_value(config_entry& to, const toml::node& node) {
    if (const auto* text = node.as_string()) {
        to.values.push_back(text->get());
    } else if (const auto* number = node.as_integer()) {
        to.values.push_back(fmt::format("{}", number->get()));
    } else if (const auto* fraction = node.as_floating_point()) {
        to.values.push_back(fmt::format("{}", fraction->get()));
    } else if (const auto* truth = node.as_boolean()) {
        to.values.emplace_back(truth->get() ? "true" : "false");
    } else {
        return false;
    }
    return true;
}

base::expected<config_entry> to_entry(const std::string& key, const toml::node& node) {
    config_entry entry;
    entry.key = key;
    entry.line = node.source().begin.line;
    entry.is_boolean = node.is_boolean();
    entry.is_list = node.is_array();
    if (node.is_table()) return base::fail("{} is a table; options stand at the top level", key);
    constexpr std::string_view wanted = "is neither text, a number nor true or false";
    if (!entry.is_list && !add_value(entry, node)) return base::fail("{} {}", key, wanted);
    for (std::size_t i = 0; entry.is_list && i < node.as_array()->size(); ++i) {
        if (add_value(entry, (*node.as_array())[i])) continue;
        return base::fail("{}: an element {}", key, wanted);
    }
    return entry;
}

}  // namespace

base::expected<std::vector<config_entry>> read_config(const std::string& path) {
    const auto content = base::read_file(path, largest_file);
    if (!content) return content.error();
    const auto table = parse_toml(*content, path);
    if (!table) return table.error();

    std::vector<config_entry> entries;
    for (const auto& [key, node] : *table) {
        auto entry = to_entry(std::string(key.str()), node);
        if (!entry) return at_line(path, node, entry.error().message);
        entry->where = fmt::format("{}:{}: {}", path, entry->line, base::printable(entry->key, 60));
        entries.push_back(std::move(*entry));
    }
    // In the order of the file, so that the first mistake is the one that is reported.
    std::sort(entries.begin(), entries.end(),
              [](const config_entry& a, const config_entry& b) { return a.line < b.line; });
    return entries;
}

}  // namespace postal::cli
