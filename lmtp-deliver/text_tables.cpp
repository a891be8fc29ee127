// SPDX-License-Identifier: GPL-3.0-or-later
// See text_tables.hpp. The only file of the program that knows toml++.
#include "lmtp-deliver/text_tables.hpp"

#include "cli/toml.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace postal::lmtp_deliver {
namespace {

base::expected<void> add_table(std::vector<text_entry>& entries, const std::string& table,
                               const toml::table& texts, const std::string& name) {
    if (texts.empty()) entries.push_back({table, {}, {}, texts.source().begin.line});
    for (const auto& [key, node] : texts) {
        const auto* const text = node.as_string();
        if (text == nullptr) {
            return cli::at_line(
                name, node,
                fmt::format("{} of [{}] is no text; put the value in quotes", key.str(), table));
        }
        entries.push_back({table, std::string(key.str()), text->get(), node.source().begin.line});
    }
    return {};
}

}  // namespace

base::expected<std::vector<text_entry>> parse_text_tables(std::string_view document,
                                                          const std::string& name) {
    const auto parsed = cli::parse_toml(document, name);
    if (!parsed) return parsed.error();
    std::vector<text_entry> entries;
    for (const auto& [key, node] : *parsed) {
        const auto* const table = node.as_table();
        if (table == nullptr) {
            return cli::at_line(
                name, node,
                fmt::format("{} stands outside a table; begin with a line [NAME]", key.str()));
        }
        const auto added = add_table(entries, std::string(key.str()), *table, name);
        if (!added) return added.error();
    }
    // In the order of the file, so that the first mistake is the one that is reported.
    std::stable_sort(entries.begin(), entries.end(),
                     [](const text_entry& a, const text_entry& b) { return a.line < b.line; });
    return entries;
}

}  // namespace postal::lmtp_deliver
