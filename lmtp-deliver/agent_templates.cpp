// SPDX-License-Identifier: GPL-3.0-or-later
// See agent_templates.hpp.
#include "lmtp-deliver/agent_templates.hpp"

#include "base/read_file.hpp"
#include "base/text.hpp"
#include "lmtp-deliver/argv_template.hpp"
#include "lmtp-deliver/text_tables.hpp"

#include <algorithm>

namespace postal::lmtp_deliver {
namespace {

struct field {
    std::string_view key;
    std::string agent::*target;
};
constexpr field fields[]{
    {"template", &agent::command}, {"root", &agent::root}, {"about", &agent::about}};

bool is_agent_name(std::string_view text) {
    return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
        const char lower = base::ascii_lower(c);
        return (lower >= 'a' && lower <= 'z') || base::is_digit(c) || c == '-' || c == '_';
    });
}

base::expected<void> set_field(agent& target, const text_entry& entry) {
    const auto* const row = std::find_if(std::begin(fields), std::end(fields),
                                         [&](const field& each) { return each.key == entry.key; });
    if (row == std::end(fields)) {
        return base::fail(
            "{} is unknown; an agent has a template, an about, and root where it may run as that",
            base::printable(entry.key, 40));
    }
    target.*row->target = entry.value;
    if (entry.key != "template") return {};
    const auto parsed = argv_template::parse(entry.value);
    if (!parsed) return base::at("template", parsed.error());
    return {};
}

// The agent of the entry's table, made when it is the first entry of it.
base::expected<agent*> agent_of(std::vector<agent>& agents, const text_entry& entry) {
    if (!is_agent_name(entry.table)) {
        return base::fail("\"{}\" is no name for an agent; want letters, digits, - and _",
                          base::printable(entry.table, 40));
    }
    const auto found = std::find_if(agents.begin(), agents.end(),
                                    [&](const agent& each) { return each.name == entry.table; });
    if (found != agents.end()) return &*found;
    return &agents.emplace_back(agent{.name = entry.table});
}

base::expected<std::vector<agent>> read_agents(const std::vector<text_entry>& entries,
                                               const std::string& name) {
    std::vector<agent> agents;
    for (const text_entry& each : entries) {
        const std::string where = fmt::format("{}:{}", name, each.line);
        const auto target = agent_of(agents, each);
        if (!target) return base::at(where, target.error());
        if (each.key.empty() && each.value.empty()) continue;  // an empty table
        const auto set = set_field(**target, each);
        if (!set) return base::at(where, set.error());
    }
    for (const agent& each : agents) {
        if (each.command.empty()) return base::fail("{}: [{}] has no template", name, each.name);
    }
    if (agents.empty()) return base::fail("{}: no agent in it; begin with a line [NAME]", name);
    return agents;
}

}  // namespace

base::expected<std::vector<agent>> built_in_agents() {
    return parse_agents(built_in_agents_text, "conf/agents.toml, compiled in");
}

base::expected<std::vector<agent>> load_agents(const std::string& path) {
    const auto text = base::read_file(path);
    if (!text) return text.error();
    return parse_agents(*text, path);
}

base::expected<std::vector<agent>> parse_agents(std::string_view text, const std::string& name) {
    const auto entries = parse_text_tables(text, name);
    if (!entries) return entries.error();
    return read_agents(*entries, name);
}

base::expected<agent> find_template(std::string_view name_or_template,
                                    const std::vector<agent>& agents) {
    std::vector<std::string> names;
    for (const agent& each : agents) {
        if (each.name == name_or_template) return each;
        names.push_back(each.name);
    }
    const bool one_word = name_or_template.find_first_of(" \t/'\"\\%") == std::string_view::npos;
    if (!one_word || name_or_template.empty()) {
        return agent{.command = std::string(name_or_template)};
    }
    const std::string_view near = base::nearest(name_or_template, names);
    const std::string hint = near.empty() ? std::string() : fmt::format("did you mean {}? ", near);
    return base::fail("\"{}\" is no known agent; {}known: {}; or give a program with its path",
                      base::printable(name_or_template, 40), hint, base::join(names, ", "));
}

}  // namespace postal::lmtp_deliver
