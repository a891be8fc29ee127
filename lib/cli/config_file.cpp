#include "cli/config_file.hpp"

#include "base/read_file.hpp"
#include "cli/toml.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace postal::cli {

namespace {

constexpr std::uint64_t largest_file = 1 << 20;

// failure can be made from a string too, so a string does not turn into an expected one by itself.
base::expected<std::string> value_of(std::string text) {
    return {boost::system::in_place_value, std::move(text)};
}

// The text that the same value would have on the command line; nothing for types that options do
// not have.
base::expected<std::string> to_text(const toml::node& node) {
    if (const auto* text = node.as_string()) return value_of(text->get());
    if (const auto* number = node.as_integer()) return value_of(fmt::format("{}", number->get()));
    if (const auto* number = node.as_floating_point())
        return value_of(fmt::format("{}", number->get()));
    if (const auto* truth = node.as_boolean()) return value_of(truth->get() ? "true" : "false");
    return base::fail("is neither text, a number nor true or false");
}

base::expected<config_entry> to_entry(const std::string& key, const toml::node& node) {
    config_entry entry;
    entry.key = key;
    entry.line = node.source().begin.line;
    entry.is_boolean = node.is_boolean();
    entry.is_list = node.is_array();
    if (node.is_table()) return base::fail("{} is a table; options stand at the top level", key);
    if (!entry.is_list) {
        auto value = to_text(node);
        if (!value) return base::fail("{} {}", key, value.error().message);
        entry.values.push_back(std::move(*value));
        return entry;
    }
    for (const auto& element : *node.as_array()) {
        auto value = to_text(element);
        if (!value) return base::fail("{}: an element {}", key, value.error().message);
        entry.values.push_back(std::move(*value));
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
        entry->where = fmt::format("{}:{}: {}", path, entry->line, entry->key);
        entries.push_back(std::move(*entry));
    }
    // In the order of the file, so that the first mistake is the one that is reported.
    std::sort(entries.begin(), entries.end(),
              [](const config_entry& a, const config_entry& b) { return a.line < b.line; });
    return entries;
}

}  // namespace postal::cli
