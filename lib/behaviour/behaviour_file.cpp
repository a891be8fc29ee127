// SPDX-License-Identifier: GPL-3.0-or-later
#include "behaviour/behaviour_file.hpp"

#include "base/read_file.hpp"
#include "base/text.hpp"
#include "base/units.hpp"
#include "behaviour/stage_table.hpp"
#include "cli/section.hpp"
#include "cli/toml.hpp"
#include "net/endpoint.hpp"
#include "proto/address.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <unordered_map>
#include <utility>

namespace postal::behaviour {
namespace {

using cli::section;

constexpr std::uint64_t largest_file = 4 << 20;
constexpr std::uint16_t smtp_port = 25;
constexpr std::size_t longest_pattern = 320;  // a path and stars

// A list of texts none of which is empty; one text is a list of one.
std::vector<std::string> read_texts(section& of, std::string_view name) {
    std::vector<std::string> all;
    of.read(name, all);
    const bool blank =
        std::any_of(all.begin(), all.end(), [](const std::string& one) { return one.empty(); });
    if (of.has(name) && (all.empty() || blank)) {
        of.refuse(name, "is empty; leave it out where it does not matter");
        all.clear();
    }
    return all;
}

// As a socket's address is written for people, with port and brackets, so that they compare.
std::string canonical(const net::endpoint& where) {
    if (where.is_unix()) return "unix:" + where.unix_path;
    const bool v6 = where.host.find(':') != std::string::npos;
    return fmt::format("{}{}{}:{}", v6 ? "[" : "", where.host, v6 ? "]" : "", where.port);
}

void read_listeners(section& of, std::vector<std::string>& into) {
    for (const std::string& text : read_texts(of, "listener")) {
        const auto where = net::parse_endpoint(text, smtp_port);
        if (!where) return of.refuse("listener", where.error().message);
        into.push_back(canonical(*where));
    }
}

void read_clients(section& of, std::vector<net::address_range>& into) {
    for (const std::string& text : read_texts(of, "client")) {
        const auto range = net::parse_address_range(text);
        if (!range) return of.refuse("client", range.error().message);
        into.push_back(*range);
    }
}

void read_patterns(section& of, std::string_view name, std::vector<std::string>& into) {
    into = read_texts(of, name);
    for (const std::string& pattern : into) {
        const bool control = std::any_of(pattern.begin(), pattern.end(),
                                         [](char c) { return (c >= 0 && c < ' ') || c == 0x7f; });
        if (control || pattern.size() > longest_pattern)
            return of.refuse(name, fmt::format("\"{}\" is no pattern: want at most {} octets and "
                                               "no control characters",
                                               base::printable(pattern, 40), longest_pattern));
    }
}

// "example.com" and "*.example.com": what the engine looks up rather than tries.
void read_domains(section& of, std::vector<std::string>& into) {
    into = read_texts(of, "domain");
    for (const std::string& pattern : into) {
        const std::string_view all = pattern;
        const std::string_view name = all.starts_with("*.") ? all.substr(2) : all;
        const std::string address = "a@" + std::string(name);
        if (!proto::parse_mailbox(address, proto::bare_local_part::allowed).ok())
            return of.refuse("domain", fmt::format("\"{}\" is no domain; want \"example.com\", or "
                                                   "\"*.example.com\" for those below it",
                                                   base::printable(pattern, 60)));
    }
}

// Numbers go from 1 for all but sizes.
void read_numbers(section& of, std::string_view name, std::optional<number_range>& into) {
    const auto text = text_or_number(of, name);
    if (!text) return;
    const auto range = parse_number_range(*text);
    if (!range) return of.refuse(name, range.error().message);
    if (name != "size" && range->most == 0)
        return of.refuse(name, fmt::format("\"{}\" holds nothing: they are counted from 1",
                                           base::printable(*text, 60)));
    into = *range;
}

void read_time(section& of, std::optional<time_range>& into) {
    std::string text;
    of.read("time", text);
    if (!of.has("time")) return;
    const auto range = parse_time_range(text);
    if (!range) return of.refuse("time", range.error().message);
    into = *range;
}

void read_probability(section& of, double& into) {
    std::string text;
    of.read("probability", text);
    if (!of.has("probability")) return;
    const auto percent = base::parse_number(std::string_view(text).substr(0, text.find('%')));
    const std::string shown = base::printable(text, 40);
    if (!percent || text.find('%') + 1 != text.size())
        return of.refuse("probability",
                         fmt::format("\"{}\" is no share; write it as \"10%\"", shown));
    if (*percent > 100)
        return of.refuse("probability", fmt::format("\"{}\" is more than always, 100%", shown));
    if (*percent <= 0)
        return of.refuse("probability", fmt::format("\"{}\" is never; leave the rule out", shown));
    into = *percent / 100;
}

void read_conditions(section& of, conditions& into) {
    read_listeners(of, into.listener);
    read_clients(of, into.client);
    of.read("tls", into.tls);
    read_patterns(of, "helo", into.helo);
    read_patterns(of, "sender", into.sender);
    read_patterns(of, "recipient", into.recipient);
    read_domains(of, into.domain);
    of.read("known", into.known);
    read_numbers(of, "size", into.size);
    read_numbers(of, "session", into.session);
    read_numbers(of, "message", into.message);
    read_time(of, into.time);
    read_probability(of, into.probability);
}

void read_stages(section& of, rule& into) {
    for (std::size_t i = 0; i < stage_count; ++i) {
        const toml::node* node = of.take(stage_names[i]);
        if (node == nullptr) continue;
        const std::string name = fmt::format("[rule.{}]", stage_names[i]);
        if (node->as_table() == nullptr) {
            of.wrong(stage_names[i], *node, "is a table: write " + name);
            continue;
        }
        into.at[i] =
            read_action(section(*node->as_table(), name, of.problems()), static_cast<stage>(i));
    }
}

// Conditions about what nobody knows at a stage of the rule.
void check_knowledge(section& of, const rule& one) {
    for (std::size_t i = 0; i < stage_count; ++i) {
        if (!one.at[i]) continue;
        const auto at = static_cast<stage>(i);
        for (const std::string& name : of.keys()) {
            if (!may_be_known(name, at))
                of.refuse(name, fmt::format("is not known at {}, so that the rule can never match "
                                            "there",
                                            name_of(at)));
        }
    }
    if (one.when.tls == true && one.at[static_cast<std::size_t>(stage::tls)])
        of.refuse("tls",
                  "a connection that has TLS cannot have STARTTLS, so that the rule can "
                  "never match there");
}

// What rules say of those behind them.
class earlier_rules {
  public:
    // Two of the same name, or a rule that nobody is left for.
    void check(section& of, const rule& one) {
        if (!one.name.empty()) check_name(of, one);
        for (std::size_t i = 0; i < stage_count; ++i) {
            if (one.at[i]) check_stage(of, one, i);
        }
    }

  private:
    void check_name(section& of, const rule& one) {
        const auto [known, is_new] = names_.emplace(one.name, one.line);
        if (!is_new)
            of.refuse("name", fmt::format("the rule of line {} is called \"{}\", too",
                                          known->second, base::printable(one.name, 60)));
    }

    void check_stage(section& of, const rule& one, std::size_t at) {
        const action& does = *one.at[at];
        if (taken_[at] != 0) {
            of.problems().add(does.line, fmt::format("[rule.{}] can never match: the rule of line "
                                                     "{} takes all at {}",
                                                     stage_names[at], taken_[at], stage_names[at]));
        } else if (one.when == conditions{} && !does.beyond && !does.grey) {
            taken_[at] = one.line;
        }
    }

    std::unordered_map<std::string, std::uint32_t> names_;
    std::array<std::uint32_t, stage_count> taken_{};  // by the rule of this line; 0: by none
};

rule read_rule(section of, earlier_rules& before) {
    rule one;
    one.line = of.line();
    of.read("name", one.name);
    read_conditions(of, one.when);
    read_stages(of, one);
    of.end();
    check_knowledge(of, one);
    before.check(of, one);
    const bool idle = std::none_of(one.at.begin(), one.at.end(),
                                   [](const auto& each) { return each.has_value(); });
    // What stands in the place of a stage has been told.
    if (idle && of.problems().first.empty())
        of.problems().add(one.line,
                          "[[rule]] says nothing of any stage; give it a table such as "
                          "[rule.rcpt]");
    return one;
}

}  // namespace

base::expected<behaviour> parse_behaviour(std::string_view text, const std::string& name) {
    const auto table = cli::parse_toml(text, name);
    if (!table) return table.error();
    behaviour whole;
    whole.file = name;
    cli::complaint problems{.file = name};
    section top(*table, "a behaviour", problems);
    earlier_rules before;
    top.tables("rule",
               [&](section each) { whole.rules.push_back(read_rule(std::move(each), before)); });
    top.end();
    if (!problems.first.empty()) return base::failure{problems.first};
    if (whole.empty()) return base::fail("{}:1: there are no rules; write [[rule]]", name);
    return {boost::system::in_place_value, std::move(whole)};
}

base::expected<behaviour> load_behaviour(const std::string& path) {
    const auto text = base::read_file(path, largest_file);
    if (!text) return text.error();
    return parse_behaviour(*text, path);
}

}  // namespace postal::behaviour
