// SPDX-License-Identifier: GPL-3.0-or-later
#include "program/search_options.hpp"

#include "base/text.hpp"
#include "cli/binders.hpp"
#include "stats/capacity/goal_search.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace postal::program {

using base::expected;
using std::chrono::nanoseconds;

namespace {

constexpr std::chrono::seconds longest_own_limit{20};  // partners wait for a minute at most

expected<std::optional<double>> parse_width(std::string_view text) {
    const auto share = capacity::parse_width(text);
    if (!share) return share.error();
    return std::optional(*share);
}

// Of goals that promise the same each is called by its attributes, too.
void tell_apart(std::vector<capacity::goal>& goals, const std::vector<std::string>& own) {
    std::vector<std::size_t> same;
    for (const capacity::goal& one : goals)
        same.push_back(static_cast<std::size_t>(std::count_if(
            goals.begin(), goals.end(),
            [&](const capacity::goal& other) { return other.promise == one.promise; })));
    for (std::size_t i = 0; i < goals.size(); ++i)
        if (same[i] > 1 && !own[i].empty()) goals[i].promise.append(";").append(own[i]);
}

expected<void> check_joining(const search_choice& chosen,
                             const std::vector<cli::effective_option>& given) {
    if (chosen.wanted && !chosen.joins.empty())
        return base::fail("--join-search: the other program searches; leave it or --find-rate out");
    if (!chosen.wanted && !chosen.sockets.empty())
        return base::fail("--search-socket: is about a search; give --find-rate, too");
    if (chosen.joins.empty() && cli::is_given(given, "search-share"))
        return base::fail(
            "--search-share: is about another program's search; give --join-search, too");
    if (chosen.joins.empty()) return {};
    for (const std::string_view one : {"most-rate", "at-least", "own-limit", "rate", "duration"})
        if (cli::is_given(given, one))
            return base::fail("--{}: is up to the program whose search --join-search joins", one);
    return {};
}

}  // namespace

std::vector<std::string> promises_of(const search_choice& chosen) {
    if (!chosen.promises.empty()) return chosen.promises;
    const bool no_loss = chosen.set == capacity::goal_set::rfc2544;
    return {fmt::format("{}({})<1s", no_loss ? "p100" : "p99", chosen.due)};
}

nanoseconds longest_search(const search_choice& chosen) {
    if (chosen.time.count() > 0) return chosen.time;
    return std::chrono::duration_cast<nanoseconds>(
        std::chrono::duration<double>(capacity::usual_search_s));
}

nanoseconds own_limit_time(const search_choice& chosen) {
    constexpr std::chrono::seconds usual{2};
    constexpr std::chrono::minutes least_search{2};
    if (!chosen.wanted) return {};
    return chosen.own_limit.value_or(longest_search(chosen) < least_search ? nanoseconds{} : usual);
}

cli::group search_group(search_choice& target, std::string_view due, bool own_limit) {
    target.due = due;
    cli::group made{
        "Search of the highest rate",
        {
            {"--find-rate", "", "",
             "search it with trials in the open loop, from --rate on, for --duration at most",
             cli::flag(target.wanted)},
            {"--goal", "PROMISE", fmt::format("p99({})<1s", due),
             "what is promised, as a threshold: a percentile, or errors<0.1%; attributes of "
             "its own, such as ;final=60s,width=1%, may stand behind it",
             cli::texts(target.promises), true},
            {"--goal-set", "quick|standard|rfc2544", "standard",
             "how long and how closely is searched",
             cli::choice(target.set, {{"quick", capacity::goal_set::quick},
                                      {"standard", capacity::goal_set::standard},
                                      {"rfc2544", capacity::goal_set::rfc2544}})},
            {"--width", "PERCENT", "2%, quick 5%",
             "how far apart the bounds of what is found may be",
             cli::parsed(target.width, parse_width)},
            {"--most-rate", "RATE", "", "try no higher rate than that",
             cli::rate(target.most, base::rate_unit::per_minute)},
            {"--at-least", "RATE", "", "end with 3 where less than that is found",
             cli::rate(target.at_least, base::rate_unit::per_minute)},
            {"--search-socket", "FILE", "",
             "another program joins the search there, and has a part of each trial",
             cli::texts(target.sockets), true},
            {"--join-search", "FILE", "",
             "perform trials beside the program that searches, and listens there",
             cli::text(target.joins)},
            {"--search-share", "PERCENT", "100%",
             "with --join-search: so many fall due for each 100 messages of that program",
             cli::parsed(target.share, capacity::parse_load_share)},
        }};
    if (own_limit)
        made.options.push_back(
            {"--own-limit", "DURATION", "2s, 0s in searches below 2m",
             "measure first, for so long, what this program can do by itself, against bhm on this "
             "host; 0s: do not",
             cli::duration(target.own_limit, nanoseconds{0}, longest_own_limit)});
    return made;
}

expected<search_goals> goals_of(const search_choice& chosen, const std::vector<std::string>& phases,
                                std::size_t due) {
    const std::vector<std::string> promises = promises_of(chosen);
    if (promises.size() > stats::most_promises)
        return base::fail("--goal: {} are too many; give at most {}", promises.size(),
                          stats::most_promises);
    search_goals made;
    std::vector<std::string> own;
    for (const std::string& one : promises) {
        auto goal = capacity::parse_goal(one, chosen.set, {phases, due});
        if (!goal) return base::at("--goal", goal.error());
        const auto promise = capacity::counted_as(goal->lost, {phases, due});
        if (!promise) return base::at("--goal: " + goal->of.promise, promise.error());
        if (chosen.width && !goal->own_width) goal->of.width = *chosen.width;
        own.push_back(std::move(goal->own));
        made.goals.push_back(std::move(goal->of));
        made.promises.push_back(*promise);
    }
    tell_apart(made.goals, own);
    return made;
}

double search_start(const search_choice& chosen) {
    const double start = chosen.start ? chosen.start->per_second : capacity::load_limits{}.start;
    return chosen.most ? std::min(start, chosen.most->per_second) : start;
}

expected<void> check(const search_choice& chosen, const std::vector<cli::effective_option>& given,
                     const std::vector<std::string_view>& beside) {
    auto joining = check_joining(chosen, given);
    if (!joining) return joining;
    if (!chosen.in_trials()) {
        for (const std::string_view one :
             {"goal", "goal-set", "width", "most-rate", "at-least", "own-limit"})
            if (cli::is_given(given, one))
                return base::fail("--{}: is about a search; give --find-rate, too", one);
        return {};
    }
    if (chosen.start && chosen.most && chosen.start->per_second > chosen.most->per_second)
        return base::fail(
            "--rate: the search begins there, above --most-rate; give no more than that");
    for (const std::string_view one : beside)
        if (cli::is_given(given, one))
            return base::fail("--{}: has no meaning in a search; leave it or --{} out", one,
                              chosen.wanted ? "find-rate" : "join-search");
    return {};
}

}  // namespace postal::program
