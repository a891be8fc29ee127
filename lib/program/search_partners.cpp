// SPDX-License-Identifier: GPL-3.0-or-later
#include "program/search_partners.hpp"

#include "base/text.hpp"
#include "base/units.hpp"
#include "base/version.hpp"
#include "base/words.hpp"
#include "program/waiting.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace postal::program {

namespace {

using base::expected;
using std::chrono::steady_clock;

constexpr std::size_t most_shown = 100;

std::string option(const std::string& socket) {
    return "--search-socket " + base::printable(socket, most_shown);
}

// What people are shown of it.
cluster::joins shown(cluster::joins said) {
    for (std::string* text : {&said.program, &said.unit, &said.version})
        *text = base::printable(*text, most_shown);
    for (capacity::goal& one : said.goals)
        for (std::string* text : {&one.promise, &one.metric})
            *text = base::printable(*text, most_shown);
    return said;
}

bool counts_known_units(const cluster::joins& said) {
    return said.unit == "messages" || said.unit == "visits";
}

}  // namespace

expected<search_partners> search_partners::open(const std::vector<std::string>& sockets) {
    if (sockets.size() > most)
        return base::fail("--search-socket: {} are too many; give at most {}", sockets.size(),
                          most);
    search_partners made;
    for (const std::string& one : sockets) {
        auto door = net::parcel_door::open(one);
        if (!door) return base::at(option(one), door.error());
        made.members_.push_back({.socket = one, .door = std::move(*door)});
    }
    return made;
}

// Who comes and goes without a word has only looked whether somebody is there.
expected<void> search_partners::look_at_door(member& of) {
    if (!of.line) {
        of.line = of.door->let_in();
        if (!of.line) return {};
        of.line->send(cluster::encode(cluster::welcome{std::string(base::build_version)}));
    }
    const auto octets = of.line->receive();
    if (!octets) {
        if (of.line->gone()) of.line.reset();
        return {};
    }
    const auto said = cluster::decode(*octets, 0);
    if (!said) return base::at(option(of.socket), said.error());
    const auto* const joins = std::get_if<cluster::joins>(&*said);
    if (joins == nullptr || !counts_known_units(*joins))
        return base::fail("{}: who came there did not join the search", option(of.socket));
    of.said = shown(*joins);
    if (of.said.version != base::build_version)
        return base::fail("{}: {} there is version {}, this is {}; both need the same",
                          option(of.socket), of.said.program, of.said.version, base::build_version);
    of.joined = true;
    of.door.reset();
    return {};
}

expected<void> search_partners::assemble(std::chrono::nanoseconds patience) {
    expected<void> fit;
    const waited how = wait_for_other(patience, [&] {
        bool all = true;
        for (member& one : members_) {
            if (!one.joined && fit) fit = look_at_door(one);
            all = all && one.joined;
        }
        return all || !fit;
    });
    if (!fit) return fit;
    const auto absent = std::find_if(members_.begin(), members_.end(),
                                     [](const member& one) { return !one.joined; });
    if (how == waited::interrupted) return base::fail("{}", interrupted_before);
    if (absent != members_.end())
        return base::fail("{}: nobody joined within {}; the other program wants --join-search",
                          option(absent->socket), base::format_duration(patience));
    // Of several that are the same each has its number.
    for (std::size_t i = 1; i < members_.size(); ++i) {
        const std::string program = members_[i].said.program;
        const auto same = std::count_if(
            members_.begin(), members_.begin() + static_cast<std::ptrdiff_t>(i),
            [&](const member& one) {
                return one.said.program == program || one.said.program.starts_with(program + " ");
            });
        if (same > 0) members_[i].said.program = fmt::format("{} {}", program, same + 1);
    }
    return {};
}

std::vector<search_flow::plan> search_partners::flows() const {
    std::vector<search_flow::plan> made;
    for (const member& one : members_)
        made.push_back(
            {.program = one.said.program,
             .unit = one.said.unit,
             .share = one.said.share,
             .arrival = one.said.at_random ? load::arrival::poisson : load::arrival::constant,
             .seed = one.said.seed,
             .phases = one.said.phases,
             .due_phase = one.said.due_phase,
             .sessions = one.said.sessions,
             .at_once = one.said.at_once,
             .promises = one.said.promises});
    return made;
}

std::vector<capacity::goal> search_partners::goals() const {
    std::vector<capacity::goal> made;
    for (std::size_t i = 0; i < members_.size(); ++i)
        for (const capacity::goal& one : members_[i].said.goals) {
            made.push_back(one);
            made.back().flow = i + 1;
            made.back().share = members_[i].said.share;
        }
    return made;
}

void search_partners::start(steady_clock::time_point when) {
    for (member& one : members_) {
        one.line->send(cluster::encode(cluster::start{.at = when.time_since_epoch()}));
        one.heard = when;
    }
}

void search_partners::begin_trial(std::size_t flow, const load::trial& next) {
    members_.at(flow - 1).line->send(cluster::encode(cluster::next_trial{next}));
}

void search_partners::lose(const member& which, const std::string& why) {
    if (std::exchange(lost_, true) || ended_) return;
    if (events_.on_lost)
        events_.on_lost(fmt::format("{} is lost: {}; the search ends", which.said.program, why));
}

void search_partners::hear(std::size_t which) {
    member& of = members_[which];
    while (const auto octets = of.line->receive()) {
        of.heard = std::max(of.heard, steady_clock::now());
        const auto said = cluster::decode(*octets, of.said.phases);
        if (!said) return lose(of, "it said " + said.error().message);
        if (const auto* const part = std::get_if<cluster::counted>(&*said)) {
            if (events_.on_time_slice) events_.on_time_slice(part->slice, which + 1);
        } else if (const auto* const stop = std::get_if<cluster::stop>(&*said)) {
            return lose(of, fmt::format("it ended ({})", stats::shown_ending(stop->why)));
        }
    }
    if (of.line->gone()) return lose(of, "it " + *of.line->gone());
    if (steady_clock::now() - of.heard > lost_after)
        lose(of, "silent for " + base::format_duration(lost_after));
}

void search_partners::poll() {
    for (std::size_t i = 0; i < members_.size() && !lost_ && !ended_; ++i)
        hear(i);
}

void search_partners::end(const cluster::stop& why) {
    if (std::exchange(ended_, true)) return;
    for (member& one : members_)
        if (one.line) one.line->send(cluster::encode(why));
}

}  // namespace postal::program
