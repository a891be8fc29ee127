// SPDX-License-Identifier: GPL-3.0-or-later
// What a run was about, from its options and what its connections turned out to be.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/text.hpp"
#include "base/units.hpp"
#include "postal-report/figures.hpp"
#include "postal-report/run.hpp"

namespace postal::report {

namespace {

struct told_option {
    const char* name;
    const char* before;
    const char* behind;
    const char* behind_one = behind;
};

// In the order in which a sentence has them; those that a record does not have are left out.
constexpr std::array<told_option, 7> told{{{"server", "", ""},
                                           {"protocol", "over ", ""},
                                           {"imap-percent", "", " % over IMAP"},
                                           {"profile", "profile ", ""},
                                           {"sessions", "", " sessions", " session"},
                                           {"rate", "at ", ""},
                                           {"loop", "", " loop"}}};

std::string option_text(const record& one, std::string_view name) {
    const auto found = std::find_if(one.options.begin(), one.options.end(),
                                    [name](const auto& each) { return each.first == name; });
    return found == one.options.end() ? std::string() : show_option(found->second);
}

// "sizes from 0 B to 10.0 KiB" of "uniform:0,10240" and "5.0 KiB each" of "fixed:5120"; others as
// they are.
std::string sizes_text(const std::string& spec) {
    constexpr std::string_view fixed = "fixed:";
    constexpr std::string_view uniform = "uniform:";
    if (spec.starts_with(fixed)) {
        const auto size = base::parse_count(std::string_view(spec).substr(fixed.size()));
        if (size) return base::format_size(*size) + " each";
    }
    if (const std::size_t comma = spec.find(','); spec.starts_with(uniform) && comma != spec.npos) {
        const std::string_view both = std::string_view(spec).substr(uniform.size());
        const auto least = base::parse_count(both.substr(0, comma - uniform.size()));
        const auto most = base::parse_count(both.substr(comma - uniform.size() + 1));
        if (least && most)
            return "sizes from " + base::format_size(*least) + " to " + base::format_size(*most);
    }
    return "sizes " + base::printable(spec, 100);
}

// "127.0.0.1:25" with what it said, "(mail.example.com ESMTP Postfix)"; of several servers the
// first two.
std::string server_text(const record& one, const std::string& servers) {
    constexpr std::size_t shown = 2;
    std::vector<std::string> said;
    for (const stats::server_greeting& each : one.greetings) {
        const std::string text = base::printable(each.text, 60);
        if (said.size() < shown && std::find(said.begin(), said.end(), text) == said.end())
            said.push_back(text);
    }
    const std::string named = base::printable(servers, 100);
    return said.empty()
               ? named
               : fmt::format("{} (\u201c{}\u201d)", named, base::join(said, "\u201d, \u201c"));
}

std::string tls_text(const record& one) {
    if (!one.tls || one.totals.tls_connections == 0) return "no TLS";
    const std::string versions = counts_text(one.tls->versions);
    return fmt::format("TLS on {} of {}{}", base::format_count(one.totals.tls_connections),
                       plural(one.totals.connections, "connection", "connections"),
                       versions.empty() ? "" : " (" + versions + ")");
}

}  // namespace

std::string tested(const record& one) {
    std::vector<std::string> parts;
    for (const told_option& each : told) {
        const std::string text = option_text(one, each.name);
        if (text.empty()) continue;
        const std::string_view name = each.name;
        const char* const before = name == "rate" && one.search ? "a search from " : each.before;
        parts.push_back(name == "server" ? server_text(one, text)
                                         : before + base::printable(text, 100) +
                                               (text == "1" ? each.behind_one : each.behind));
    }
    if (const std::string text = option_text(one, "size"); !text.empty())
        parts.push_back(sizes_text(text));
    parts.push_back(tls_text(one));
    return base::join(parts, ", ");
}

}  // namespace postal::report
