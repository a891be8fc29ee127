// SPDX-License-Identifier: GPL-3.0-or-later
#include "rabid/profile.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "base/read_file.hpp"
#include "base/text.hpp"
#include "base/units.hpp"
#include "cli/binders.hpp"
#include "cli/toml.hpp"

namespace postal::rabid {
namespace {

using base::expected;

constexpr std::array<std::string_view, 25> verb_names{
    "read",          "read-new",    "read-one", "headers", "envelope", "structure",  "flags",
    "part",          "search",      "mark",     "append",  "copy",     "move",       "list",
    "status",        "create",      "idle",     "noop",    "page",     "structures", "search-text",
    "search-header", "search-date", "sort",     "thread"};

constexpr std::uint32_t most_actions = 1'000'000;

expected<verb> known_verb(std::string_view name) {
    const auto found = std::find(verb_names.begin(), verb_names.end(), name);
    if (found != verb_names.end()) return static_cast<verb>(found - verb_names.begin());
    const std::vector<std::string> all(verb_names.begin(), verb_names.end());
    return base::fail("\"{}\" is no verb; there are {}", base::printable(name, 80),
                      base::join(all, ", "));
}

expected<std::string> text_of(const toml::node& node) {
    if (const auto* text = node.as_string()) {
        return {boost::system::in_place_value, text->get()};
    }
    return base::fail("must be a text in quotes");
}

expected<void> read_verbs(const toml::node& node, std::vector<verb>& into) {
    const auto* list = node.as_array();
    if (list == nullptr) return base::fail("must be a list of verbs");
    for (const auto& one : *list) {
        const auto name = text_of(one);
        if (!name) return base::fail("must be a list of verbs");
        const auto known = known_verb(*name);
        if (!known) return known.error();
        into.push_back(*known);
    }
    return {};
}

// "LEAST..MOST", or one value for both.
template <class Value, class Parse>
expected<void> read_range(const toml::node& node, Value& least, Value& most, Parse parse) {
    const auto text = text_of(node);
    if (!text) return text.error();
    const std::size_t dots = text->find("..");
    const auto first = parse(text->substr(0, dots));
    if (!first) return first.error();
    const auto second = dots == std::string::npos ? first : parse(text->substr(dots + 2));
    if (!second) return second.error();
    if (*second < *first) return base::fail("\"{}\" is no range: the first is larger", *text);
    least = static_cast<Value>(*first);
    most = static_cast<Value>(*second);
    return {};
}

expected<void> read_lengths(const toml::node& node, length_range& into) {
    return read_range(node, into.least, into.most,
                      [](const std::string& text) { return base::parse_duration(text); });
}

expected<void> read_count(const toml::node& node, profile& into) {
    return read_range(node, into.least_actions, into.most_actions, [](const std::string& text) {
        return cli::parse_count(text, 0, most_actions);
    });
}

expected<void> read_weight(std::string_view key, const toml::node& value, profile& into) {
    const auto known = known_verb(key);
    if (!known) return known.error();
    const auto weight = value.value<double>();
    if (!weight || *weight < 0 || *weight > 1e9) {
        return base::fail("the weight of {} is no number from 0 on", key);
    }
    into.weights.emplace_back(*known, *weight);
    return {};
}

expected<void> read_weights(const toml::node& node, profile& into) {
    if (node.as_table() == nullptr) return base::fail("must be a table of verbs and numbers");
    double sum = 0;
    for (const auto& [what, weight] : into.weights)
        sum += weight;
    if (sum > 0) return {};
    return base::fail("the weights are 0 altogether; give one more than 0");
}

// For people alone.
expected<void> read_about(const toml::node& node, profile&) {
    const auto text = text_of(node);
    if (!text) return text.error();
    return {};
}

expected<void> read_resync(const toml::node& node, profile& into) {
    const auto wanted = node.value_exact<bool>();
    if (!wanted) return base::fail("must be true or false");
    into.resync = *wanted;
    return {};
}

struct key_row {
    std::string_view key;
    expected<void> (*read)(const toml::node& node, profile& into);
};

constexpr key_row keys[] = {
    {"about", read_about},
    {"first", [](const toml::node& n, profile& p) { return read_verbs(n, p.first); }},
    {"actions", read_count},
    {"last", [](const toml::node& n, profile& p) { return read_verbs(n, p.last); }},
    {"think", [](const toml::node& n, profile& p) { return read_lengths(n, p.think); }},
    {"idle", [](const toml::node& n, profile& p) { return read_lengths(n, p.idle); }},
    {"pause", [](const toml::node& n, profile& p) { return read_lengths(n, p.pause); }},
    {"resync", read_resync},
    {"weights", read_weights},
};

expected<void> read_key(std::string_view key, const toml::node& node, profile& into) {
    for (const key_row& row : keys) {
        if (row.key != key) continue;
        auto done = row.read(node, into);
        if (!done) return base::fail("{}: {}", key, done.error().message);
        return {};
    }
    return base::fail("{} is no key of a profile", base::printable(key, 80));
}

}  // namespace

std::chrono::nanoseconds length_range::pick(base::random_source& random) const {
    if (most <= least) return least;
    const auto span = static_cast<std::uint64_t>((most - least).count());
    return least + std::chrono::nanoseconds(static_cast<std::int64_t>(random.below(span + 1)));
}

verb profile::pick(base::random_source& random) const {
    double sum = 0;
    for (const auto& [what, weight] : weights)
        sum += weight;
    double at = random.uniform() * sum;
    for (const auto& [what, weight] : weights) {
        at -= weight;
        if (at < 0) return what;
    }
    return weights.back().first;
}

bool profile::makes_mailboxes() const {
    const auto makes = [](verb one) {
        return one == verb::copy || one == verb::move || one == verb::create;
    };
    return std::any_of(first.begin(), first.end(), makes) ||
           std::any_of(last.begin(), last.end(), makes) ||
           std::any_of(weights.begin(), weights.end(),
                       [&](const auto& one) { return makes(one.first) && one.second > 0; });
}

std::vector<verb> profile::script(base::random_source& random) const {
    std::vector<verb> verbs = first;
    const std::uint64_t more = least_actions + random.below(most_actions - least_actions + 1U);
    for (std::uint64_t i = 0; i < more; ++i)
        verbs.push_back(pick(random));
    verbs.insert(verbs.end(), last.begin(), last.end());
    return verbs;
}

stats::wanted_profile wanted_of(const profile& what, std::string name) {
    stats::wanted_profile made{std::move(name), what.least_actions, what.most_actions, {}};
    for (const std::string_view each : verb_names)
        made.actions.push_back({.verb = std::string(each)});
    const auto wish = [&](verb one) -> stats::wanted_action& {
        return made.actions[static_cast<std::size_t>(one)];
    };
    for (const verb one : what.first)
        ++wish(one).first;
    for (const verb one : what.last)
        ++wish(one).last;
    if (what.most_actions == 0) return made;
    for (const auto& [one, weight] : what.weights)
        wish(one).weight = weight;
    return made;
}

expected<profile> parse_profile(std::string_view text, const std::string& name) {
    const auto table = cli::parse_toml(text, name);
    if (!table) return table.error();
    profile made;
    if (const auto* weights = table->get_as<toml::table>("weights")) {
        for (const auto& [key, node] : *weights) {
            const auto done = read_weight(key.str(), node, made);
            if (!done) return cli::at_line(name, node, "weights: " + done.error().message);
        }
    }
    for (const auto& [key, node] : *table) {
        const auto done = read_key(key.str(), node, made);
        if (!done) return cli::at_line(name, node, done.error().message);
    }
    if (made.most_actions != 0 && made.weights.empty()) {
        return cli::at_line(name, *table->get("actions"),
                            "actions are wanted, but no [weights] say which");
    }
    return made;
}

expected<profile> load_profile(const std::string& name_or_path) {
    std::vector<std::string> names;
    for (const named_text& one : built_in_profiles()) {
        if (one.name == name_or_path) return parse_profile(one.text, name_or_path);
        names.emplace_back(one.name);
    }
    const bool is_path = name_or_path.find_first_of("/.") != std::string::npos;
    if (!is_path) {
        return base::fail("\"{}\" is no profile; there are {}, or give a file", name_or_path,
                          base::join(names, ", "));
    }
    const auto text = base::read_file(name_or_path);
    if (!text) return text.error();
    return parse_profile(*text, name_or_path);
}

}  // namespace postal::rabid
