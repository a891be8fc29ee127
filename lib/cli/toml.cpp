// SPDX-License-Identifier: GPL-3.0-or-later
#include "cli/toml.hpp"

#include "base/text.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace postal::cli {

namespace {

std::string_view line_at(std::string_view text, std::size_t number) {
    const auto lines = base::split(text, '\n');
    return number == 0 || number > lines.size() ? std::string_view()
                                                : base::trim(lines[number - 1]);
}

// What people forget most: TOML wants texts in quotes, also those that begin with a number.
std::string in_our_words(std::string_view line, std::string_view theirs) {
    const std::size_t equals = line.find('=');
    const std::string_view key = base::trim(line.substr(0, equals));
    if (theirs.find("redefine") != theirs.npos)
        return fmt::format("{} stands there for the second time", base::printable(key, 60));
    if (equals == line.npos && !line.starts_with('['))
        return fmt::format("\"{}\" is no line of the form KEY = VALUE", base::printable(line, 60));
    std::string_view value = equals == line.npos ? line : base::trim(line.substr(equals + 1));
    value = base::trim(value.substr(0, value.find('#')));
    const bool is_bare = !value.empty() && std::none_of(value.begin(), value.end(), [](char c) {
        return std::string_view(" \t\"'[]{}=").find(c) != std::string_view::npos;
    });
    if (equals != line.npos && (value == "yes" || value == "no" || value == "on" || value == "off"))
        return fmt::format("{}: give true or false, or put \"{}\" in quotes where it is a text",
                           base::printable(key, 60), value);
    if (equals != line.npos && is_bare)
        return fmt::format("{}: put \"{}\" in quotes", base::printable(key, 60),
                           base::printable(value, 60));
    if (equals != line.npos && value.starts_with('"') && value.find('"', 1) == value.npos)
        return fmt::format("{}: the text has no quote at its end", base::printable(key, 60));
    return fmt::format("is no TOML: {}", base::printable(theirs, longest_reason));
}

}  // namespace

base::expected<toml::table> parse_toml(std::string_view text, const std::string& name) {
    try {
        return toml::parse(text, name);
    } catch (const toml::parse_error& problem) {
        const auto line = problem.source().begin.line;
        return base::fail("{}:{}: {}", name, line,
                          in_our_words(line_at(text, line), problem.description()));
    }
}

base::failure at_line(const std::string& name, const toml::node& node, std::string_view reason) {
    return base::fail("{}:{}: {}", name, node.source().begin.line,
                      base::printable(reason, longest_reason));
}

}  // namespace postal::cli
