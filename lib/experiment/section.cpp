// SPDX-License-Identifier: GPL-3.0-or-later
#include "experiment/section.hpp"

#include <string>
#include <utility>

namespace postal::experiment {

void read_command(section& of, std::string_view key, command& into) {
    const toml::node* node = of.take(key);
    if (node == nullptr || !of.words(key, *node, into.words)) return;
    into.line = node->source().begin.line;
    if (into.words.empty()) of.wrong(key, *node, "names no program");
}

void read_commands(section& of, std::string_view key, std::vector<command>& into) {
    const toml::node* node = of.take(key);
    if (node == nullptr) return;
    into.clear();
    if (node->as_array() == nullptr)
        return of.wrong(key, *node,
                        "must be a list of commands, each a list of texts: [[\"mkdir\", \"x\"]]");
    for (const toml::node& each : *node->as_array()) {
        command& one = into.emplace_back();
        one.line = each.source().begin.line;
        if (!of.words(key, each, one.words)) return;
        if (one.words.empty()) return of.wrong(key, each, "names no program");
    }
}

void read_values(section& of, variables& into) {
    for (const std::string& key : of.keys()) {
        std::vector<std::string> value;
        of.read(key, value);
        into[key] = std::move(value);
    }
}

}  // namespace postal::experiment
