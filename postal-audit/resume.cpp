// SPDX-License-Identifier: GPL-3.0-or-later
#include "postal-audit/resume.hpp"

#include "experiment/going_on.hpp"

#include <fmt/format.h>

#include <string>
#include <string_view>

namespace postal::audit {
namespace {

struct given_again {
    std::string_view option;
    bool given;
    std::uint64_t is;
    std::uint64_t was;
    std::string_view unit = "";
};

std::string place_of(const audit_record& begun) {
    if (!begun.cut_at) return "cuts of its own; leave --cut-at out";
    return fmt::format("--cut-at {}{}; give the same", *begun.cut_at,
                       begun.draw ? fmt::format(" --draw {}", *begun.draw) : "");
}

}  // namespace

base::expected<void> take_up(const audit_record& begun, const options& given,
                             experiment::experiment& whole) {
    const auto same = experiment::check_same_experiment(
        action_of(given), {begun.text, begun.settings, begun.seed}, whole, given.seed);
    if (!same) return same;
    experiment::audit& of = whole.audited;
    for (const given_again& each :
         {given_again{"--cuts", given.cuts.has_value(), of.cuts, begun.cuts},
          given_again{"--draws", given.draws.has_value(), of.draws, begun.draws},
          given_again{"--messages", given.messages.has_value(), of.messages, begun.messages},
          given_again{"--torn", given.torn.has_value(), torn_percent(of), begun.torn_percent, "%"}})
        if (each.given && each.is != each.was)
            return base::fail("{}: the audit was begun with {}{}", each.option, each.was,
                              each.unit);
    // What was begun at one place would go on at others, or end at one.
    if (given.resume && (given.cut_at != begun.cut_at || given.draw != begun.draw))
        return base::fail("--resume: the audit was begun with {}", place_of(begun));
    of.cuts = begun.cuts;
    of.draws = begun.draws;
    of.messages = begun.messages;
    of.torn = static_cast<double>(begun.torn_percent) / 100;
    return {};
}

}  // namespace postal::audit
