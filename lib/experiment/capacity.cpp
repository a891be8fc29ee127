// SPDX-License-Identifier: GPL-3.0-or-later
#include "experiment/capacity.hpp"

#include "base/text.hpp"
#include "base/units.hpp"
#include "stats/trial_counts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>

namespace postal::experiment {
namespace {

constexpr std::array<std::string_view, 8> said_by_table{
    "--find-rate", "--goal",          "--goal-set",    "--width",
    "--most-rate", "--search-socket", "--join-search", "--search-share"};
constexpr std::array<std::string_view, 2> not_beside{"--rate", "-r"};
constexpr std::array<std::string_view, 5> not_in_search{"--stages", "--messages", "--rounds",
                                                        "--threshold", "--at-least"};

template <class List>
bool holds(const List& list, std::string_view one) {
    return std::find(list.begin(), list.end(), one) != list.end();
}

// A goal is about all that was due, and so about that phase of the program's.
std::string_view due_phase(const load_program& of) {
    return of.run.words.front() == "rabid" ? "session" : "message";
}

capacity::goal_set set_of(const search_rules& rules) {
    const auto words = capacity::goal_set_words;
    const auto found = std::find(words.begin(), words.end(), rules.set);
    return found == words.end() ? capacity::goal_set::standard
                                : static_cast<capacity::goal_set>(found - words.begin());
}

// Of a program.
void check_goals(section& of, const std::vector<std::string>& goals, const load_program& whose,
                 capacity::goal_set set) {
    if (goals.size() > stats::most_promises)
        of.refuse("goal", fmt::format("give at most {}", stats::most_promises));
    const std::vector<std::string> phases{std::string(due_phase(whose))};
    for (const std::string& one : goals) {
        if (base::trim(one).empty())
            return of.refuse("goal", "is empty; want a promise such as \"p99(message)<1s\"");
        const auto goal = capacity::parse_goal(one, set, {phases, 0});
        if (!goal) return of.refuse("goal", goal.error().message);
        const auto counted = capacity::counted_as(goal->lost, {phases, 0});
        if (!counted) return of.refuse("goal", counted.error().message);
    }
}

void read_partner(section of, load& into) {
    search_partner one;
    std::string name;
    of.read("program", name);
    of.read("goal", one.goals);
    of.read("share", one.share);
    of.end();
    const auto& all = into.programs;
    const auto named = std::find_if(all.begin(), all.end(),
                                    [&](const load_program& each) { return each.name == name; });
    if (named == all.end())
        return of.refuse("program", fmt::format("no [[load.program]] is called \"{}\"",
                                                base::printable(name, 40)));
    one.program = static_cast<std::size_t>(named - all.begin());
    if (const auto share = capacity::parse_load_share(one.share); !share)
        of.refuse("share", share.error().message);
    for (const std::string& word : named->run.words)
        if (holds(not_beside, std::string_view(word).substr(0, word.find('='))))
            of.refuse("program", fmt::format("{} has {}, and its rate is a share of the load", name,
                                             base::printable(word, 40)));
    check_goals(of, one.goals, *named, set_of(*into.search));
    for (const search_partner& other : into.search->beside)
        if (other.program == one.program)
            of.refuse("program", fmt::format("{} is there twice", name));
    into.search->beside.push_back(std::move(one));
}

// The one that has no part beside another.
void find_leader(section& of, load& into) {
    search_rules& rules = *into.search;
    std::vector<std::size_t> left;
    for (std::size_t i = 0; i < into.programs.size(); ++i)
        if (std::none_of(rules.beside.begin(), rules.beside.end(),
                         [&](const search_partner& one) { return one.program == i; }))
            left.push_back(i);
    if (left.size() == 1)
        rules.program = left.front();
    else if (!into.programs.empty())  // which is refused, too
        of.refuse("beside", left.empty()
                                ? "leaves no program that searches"
                                : "one program searches; each other [[load.program]] has its part "
                                  "in a [[capacity.beside]]");
}

}  // namespace

void expect_search(load& of) {
    of.search.emplace();
    of.duration = std::chrono::duration_cast<std::chrono::nanoseconds>(
        std::chrono::duration<double>(capacity::usual_search_s));
    of.warmup = {};
}

void read_capacity(section of, load& loaded) {
    search_rules& into = *loaded.search;
    of.read("goal", into.goals);
    of.read("goal_set", into.set);
    if (of.has("width")) of.read_share("width", into.width.emplace());
    of.read("most_rate", into.most_rate);
    std::size_t others = 0;
    of.tables("beside", [&](section each) {
        ++others;
        read_partner(std::move(each), loaded);
    });
    of.end();
    if (into.beside.size() == others) find_leader(of, loaded);  // else one was refused
    const auto sets = capacity::goal_set_words;
    if (!into.set.empty() && !holds(sets, into.set))
        of.refuse("goal_set", fmt::format("\"{}\" is none; there are {}",
                                          base::printable(into.set, 40), fmt::join(sets, ", ")));
    else if (into.program < loaded.programs.size())
        check_goals(of, into.goals, loaded.programs[into.program], set_of(into));
    if (into.width && (*into.width < capacity::least_width || *into.width > capacity::most_width))
        of.refuse("width", "want 0.1% to 100%");
    if (into.most_rate.empty()) return;
    const auto rate = base::parse_rate(into.most_rate, base::rate_unit::per_minute);
    if (!rate) of.refuse("most_rate", rate.error().message);
}

std::string refusal_of(std::string_view option, bool searches) {
    if (holds(said_by_table, option))
        return fmt::format("{} is decided by the experiment; see [capacity]", option);
    if (searches && holds(not_in_search, option))
        return fmt::format("{} has no meaning in a search, which [capacity] asks for", option);
    return {};
}

std::vector<std::string> search_words(const load& of, std::size_t program,
                                      const std::string& folder) {
    const search_rules& rules = *of.search;
    std::vector<std::string> words;
    const auto add = [&](const char* option, std::string value) {
        words.insert(words.end(), {option, std::move(value)});
    };
    const auto socket_of = [&](const search_partner& one) {
        return folder + "/" + of.programs[one.program].name + ".search";
    };
    const auto own =
        std::find_if(rules.beside.begin(), rules.beside.end(),
                     [&](const search_partner& one) { return one.program == program; });
    const bool searches = own == rules.beside.end();
    if (searches)
        words = {"--duration", base::format_duration(of.duration), "--find-rate"};
    else
        add("--join-search", socket_of(*own));
    for (const std::string& one : searches ? rules.goals : own->goals)
        add("--goal", one);
    if (!rules.set.empty()) add("--goal-set", rules.set);
    if (rules.width) add("--width", fmt::format("{:g}%", *rules.width * 100));
    if (!searches) {
        add("--search-share", own->share);
        return words;
    }
    if (!rules.most_rate.empty()) add("--most-rate", rules.most_rate);
    for (const search_partner& one : rules.beside)
        add("--search-socket", socket_of(one));
    return words;
}

std::optional<double> found_rate(const stats::run_record& of) {
    if (!of.search || of.search->result.limiting >= of.search->result.goals.size())
        return std::nullopt;
    const capacity::search_result& result = of.search->result;
    // "At least" is a bound, and no number that another could be held against.
    const bool both_bounds =
        result.end == capacity::search_end::found || result.end == capacity::search_end::not_closer;
    return both_bounds && result.limit().upper && result.limit().rate > 0
               ? std::optional(result.limit().rate)
               : std::nullopt;
}

double found_step(const stats::run_record& of) {
    if (!found_rate(of)) return 0;
    const auto& limit = of.search->result.limit();
    const bool is_step = limit.lower && *limit.lower > 0 && *limit.upper > *limit.lower;
    return is_step ? std::log(*limit.upper / *limit.lower) : 0;
}

namespace {

// So that the next block has a number.
std::string_view what_helps(capacity::search_end end) {
    using enum capacity::search_end;
    switch (end) {
        case unstable:
            return "a longer goal_set, more accounts or a store that is filled first may help, for "
                   "a "
                   "store that grows in the search is another one at its end";
        case at_least:
            return "a higher most_rate, or a generator with more processors, finds where it ends";
        case doomed:
            return "a lower --rate, or a promise that can be kept, finds a rate";
        case generator_limited:
        case machine_full:
            return "generator and server need processors of their own";
        case queue_stays:
            return "a lower most_rate, or a server that delivers what it has taken, lets it go on";
        case nothing_ended:
            return "the server's own log may say why it answers nobody, or so late";
        case out_of_time:
        case out_of_trials:
            return "a longer duration, a shorter goal_set or a wider width lets it come to its end";
        default:
            return {};
    }
}

}  // namespace

std::string why_not_found(const stats::run_record& of) {
    if (found_rate(of)) return {};
    if (!of.search) return "its record has no search of a rate";
    const std::string_view helps = what_helps(of.search->result.end);
    return fmt::format("its search ended without a rate: {}{}{}",
                       base::printable(of.search->sentence, 300), helps.empty() ? "" : "; ", helps);
}

std::string promises_of(const results& of) {
    for (const measured_run& run : of.runs) {
        if (run.records.size() <= of.record.verdict.program) continue;
        const auto& search = run.records[of.record.verdict.program].search;
        if (!search) continue;
        std::vector<std::string> all;
        for (const capacity::goal& one : search->goals)
            all.push_back(base::printable(capacity::promise_of(one, search->beside), 120));
        return base::join(all, " and ");
    }
    return "what was promised";
}

}  // namespace postal::experiment
