// SPDX-License-Identifier: GPL-3.0-or-later
// explain(): the engine's rules, in words.
#include "behaviour/engine.hpp"
#include "behaviour/stage_table.hpp"

#include "base/text.hpp"
#include "base/units.hpp"

#include <fmt/format.h>

#include <array>
#include <limits>
#include <string_view>
#include <vector>

namespace postal::behaviour {
namespace {

situation known_at(stage at, situation here) {
    if (!may_be_known("helo", at)) here.helo.reset();
    if (at == stage::tls) here.tls = false;
    if (!may_be_known("size", at)) here.size.reset();
    if (!may_be_known("sender", at)) here.sender = nullptr;
    if (!may_be_known("message", at)) here.message = 0;
    if (may_be_known("recipient", at)) return here;
    here.recipient = nullptr;
    here.known.reset();
    here.recipient_number = 0;
    return here;
}

std::string named(const rule& one) {
    if (one.name.empty()) return fmt::format("line {}", one.line);
    return fmt::format("line {} \"{}\"", one.line, base::printable(one.name, 80));
}

std::string outcome_words(const action& what) {
    static constexpr std::array<std::string_view, 4> ends{
        "", "connection closed", "connection reset", "silence from here on"};
    const std::string_view end = ends.at(static_cast<std::size_t>(what.close));
    if (!what.reply) return std::string(end.empty() ? "as usual" : end);
    const auto& [code, enhanced, text] = *what.reply;
    return fmt::format("{}{}{} {}{}{}", code, enhanced.empty() ? "" : " ", enhanced,
                       base::printable(text, 500), end.empty() ? "" : ", ", end);
}

std::string drawn_from(const delay& one) {
    const std::string from = base::format_duration(one.from);
    switch (one.kind) {
        case distribution::fixed:
            return from;
        case distribution::uniform:
            return from + ".." + base::format_duration(one.to);
        case distribution::lognormal:
            return fmt::format("lognormal {} {:g}", from, one.sigma);
    }
    return from;
}

std::string delay_words(const delay& one) {
    if (one.none()) return {};
    const bool base_too = one.from.count() != 0 || one.to.count() != 0;
    const std::string each = base::format_duration(one.per_octet) + " an octet";
    if (!base_too) return ", after " + each;
    return ", after " + drawn_from(one) + (one.per_octet.count() != 0 ? " and " + each : "");
}

std::string reading_words(const action& what) {
    std::string words;
    if (what.read_rate.most != 0) {
        const std::uint64_t least = what.read_rate.least;
        const std::uint64_t most = what.read_rate.most;
        words = ", read at ";
        if (least != most) words += base::format_size(least) + "..";
        if (most != std::numeric_limits<std::uint64_t>::max()) words += base::format_size(most);
        words += " a second from here on";
    }
    if (what.window != 0) {
        words += ", with a window of " + base::format_size(what.window) + " from here on";
    }
    return words;
}

std::string_view key_words(key per) {
    switch (per) {
        case key::all:
            return "in all";
        case key::listener:
            return "at one listener";
        case key::client:
            return "from one client";
        case key::helo:
            return "with one helo";
        case key::sender:
            return "from one sender";
        case key::recipient:
            return "to one recipient";
        case key::domain:
            return "to one domain";
        case key::session:
            return "in one session";
    }
    return {};
}

std::string bucket_words(const token_bucket& how) {
    const std::string_view now = how.most == 0 ? "" : " (a new bucket lets pass)";
    if (how.per_second == 0) {
        return fmt::format(", if more than {} {}{}", how.most, key_words(how.per), now);
    }
    return fmt::format(", if more than {} {}, or {} at once{}", base::format_rate({how.per_second}),
                       key_words(how.per), how.most, now);
}

std::string greylist_words(const greylist& how) {
    return fmt::format(", until it comes again {}..{} after its first time (now is the first)",
                       base::format_duration(how.wait), base::format_duration(how.window));
}

// A rule that acts on an envelope, as far as is known, and its place in what explain() says.
struct possible_case {
    const rule& one;
    const action& what;
    bool drawn;
    bool certain() const { return one.when.probability >= 1 && !what.beyond && !what.grey; }
};

std::string words(const possible_case& that, const situation& here) {
    const action& what = that.what;
    std::string line = named(that.one) + ": " + outcome_words(what) + delay_words(what.before) +
                       reading_words(what);
    if (that.one.when.probability < 1) {
        line += fmt::format(", in {:g} % of cases ({} this seed, session {}, message {})",
                            that.one.when.probability * 100, that.drawn ? "with" : "not with",
                            here.session, here.message);
    }
    if (what.beyond) line += bucket_words(*what.beyond);
    if (what.grey) line += greylist_words(*what.grey);
    return line;
}

// One line for each rule that may act, down to one that acts for certain.
std::string explain_stage(const engine& rules, stage at, const situation& here) {
    std::string lines;
    std::string start = fmt::format("{}: ", name_of(at));
    for (const std::uint32_t number : rules.holding(at, here)) {
        const rule& one = rules.what().rules[number];
        const possible_case that{one, *one.at[static_cast<std::size_t>(at)],
                                 rules.drawn(number, at, here)};
        lines += start + words(that, here) + "\n";
        if (that.certain()) return lines;
        start = fmt::format("{}: else ", name_of(at));
    }
    return lines + start + "nothing\n";
}

}  // namespace

std::string explain(const behaviour& what, std::uint64_t seed, const situation& here) {
    const engine rules(what, seed);
    std::string lines;
    for (std::size_t i = 0; i < stage_count; ++i) {
        const auto at = static_cast<stage>(i);
        if (rules.knows(at)) lines += explain_stage(rules, at, known_at(at, here));
    }
    return lines;
}

}  // namespace postal::behaviour
