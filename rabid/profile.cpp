// SPDX-License-Identifier: GPL-3.0-or-later
#include "rabid/profile.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "base/read_file.hpp"
#include "base/text.hpp"
#include "base/units.hpp"
#include "cli/binders.hpp"
#include "cli/section.hpp"
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

void read_verbs(cli::section& from, std::string_view key, std::vector<verb>& into) {
    std::vector<std::string> names;
    from.read(key, names);
    for (const std::string& name : names) {
        const auto known = known_verb(name);
        if (!known) return from.refuse(key, known.error().message);
        into.push_back(*known);
    }
}

// "LEAST..MOST", or one value for both.
template <class Value, class Parse>
void read_range(cli::section& from, std::string_view key, Value& least, Value& most, Parse parse) {
    std::string text;
    from.read(key, text);
    if (!from.has(key)) return;
    const std::size_t dots = text.find("..");
    const auto first = parse(text.substr(0, dots));
    if (!first) return from.refuse(key, first.error().message);
    const auto second = dots == std::string::npos ? first : parse(text.substr(dots + 2));
    if (!second) return from.refuse(key, second.error().message);
    if (*second < *first)
        return from.refuse(key, fmt::format("\"{}\" is no range: the first is larger", text));
    least = static_cast<Value>(*first);
    most = static_cast<Value>(*second);
}

void read_lengths(cli::section& from, std::string_view key, length_range& into) {
    read_range(from, key, into.least, into.most,
               [](const std::string& text) { return base::parse_duration(text); });
}

void read_weights(cli::section from, profile& into) {
    double sum = 0;
    for (const std::string& key : from.keys()) {
        const auto known = known_verb(key);
        if (!known) return from.refuse(key, known.error().message);
        const auto weight = from.take(key)->value<double>();
        if (!weight || !(*weight >= 0) || *weight > 1e9)
            return from.refuse(key, "a weight is a number from 0 on");
        into.weights.emplace_back(*known, *weight);
        sum += *weight;
    }
    if (!(sum > 0))
        from.problems().add(from.line(), "the weights are 0 altogether; give one more than 0");
}

void read_profile(cli::section from, profile& into) {
    std::string about;  // for people alone
    from.read("about", about);
    read_verbs(from, "first", into.first);
    read_range(from, "actions", into.least_actions, into.most_actions,
               [](const std::string& text) { return cli::parse_count(text, 0, most_actions); });
    read_verbs(from, "last", into.last);
    read_lengths(from, "think", into.think);
    read_lengths(from, "idle", into.idle);
    read_lengths(from, "pause", into.pause);
    from.read("resync", into.resync);
    from.table("weights", [&](cli::section inner) { read_weights(std::move(inner), into); });
    if (into.most_actions != 0 && !from.has("weights"))
        from.refuse("actions", "some are wanted, but no [weights] say which");
    from.end();
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

bool profile::may(verb one) const {
    const auto is_it = [one](verb other) { return one == other; };
    const auto is_drawn = [one](const auto& each) { return each.first == one && each.second > 0; };
    return std::any_of(first.begin(), first.end(), is_it) ||
           std::any_of(last.begin(), last.end(), is_it) ||
           (most_actions > 0 && std::any_of(weights.begin(), weights.end(), is_drawn));
}

bool profile::makes_mailboxes() const {
    return may(verb::copy) || may(verb::move) || may(verb::create);
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
    cli::complaint problems{.file = name};
    read_profile({*table, "a profile", problems}, made);
    if (!problems.first.empty()) return base::failure{problems.first};
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
