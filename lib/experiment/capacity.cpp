#include "experiment/capacity.hpp"

#include "base/text.hpp"
#include "base/units.hpp"
#include "stats/trial_counts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>

namespace postal::experiment {
namespace {

constexpr std::array<std::string_view, 5> said_by_table{"--find-rate", "--goal", "--goal-set",
                                                        "--width", "--most-rate"};
constexpr std::array<std::string_view, 5> not_in_search{"--stages", "--messages", "--rounds",
                                                        "--threshold", "--at-least"};

template <class List>
bool holds(const List& list, std::string_view one) {
    return std::find(list.begin(), list.end(), one) != list.end();
}

// A goal is about all that was due, and so about that phase of the program's.
std::string_view due_phase(const load& of) {
    return of.programs.front().run.words.front() == "rabid" ? "session" : "message";
}

capacity::goal_set set_of(const search_rules& rules) {
    const auto words = capacity::goal_set_words;
    const auto found = std::find(words.begin(), words.end(), rules.set);
    return found == words.end() ? capacity::goal_set::standard
                                : static_cast<capacity::goal_set>(found - words.begin());
}

void check_goals(section& of, const load& into) {
    if (into.programs.empty()) return;  // which is refused, too
    const std::vector<std::string> phases{std::string(due_phase(into))};
    for (const std::string& one : into.search->goals) {
        const auto goal = capacity::parse_goal(one, set_of(*into.search), phases);
        if (!goal) return of.refuse("goal", goal.error().message);
        const auto counted = capacity::counted_as(goal->lost, phases, 0);
        if (!counted) return of.refuse("goal", counted.error().message);
    }
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
    of.end();
    if (into.goals.size() > stats::most_promises)
        of.refuse("goal", fmt::format("give at most {}", stats::most_promises));
    if (std::any_of(into.goals.begin(), into.goals.end(),
                    [](const std::string& one) { return base::trim(one).empty(); }))
        of.refuse("goal", "is empty; want a promise such as \"p99(message)<1s\"");
    const auto sets = capacity::goal_set_words;
    if (!into.set.empty() && !holds(sets, into.set))
        of.refuse("goal_set", fmt::format("\"{}\" is none; there are {}",
                                          base::printable(into.set, 40), fmt::join(sets, ", ")));
    else
        check_goals(of, loaded);
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

std::vector<std::string> search_words(const search_rules& of) {
    std::vector<std::string> words{"--find-rate"};
    const auto add = [&](const char* option, std::string value) {
        words.insert(words.end(), {option, std::move(value)});
    };
    for (const std::string& one : of.goals)
        add("--goal", one);
    if (!of.set.empty()) add("--goal-set", of.set);
    if (of.width) add("--width", fmt::format("{:g}%", *of.width * 100));
    if (!of.most_rate.empty()) add("--most-rate", of.most_rate);
    return words;
}

std::optional<double> found_rate(const stats::run_record& of) {
    if (!of.search || of.search->result.limiting >= of.search->result.goals.size())
        return std::nullopt;
    const capacity::search_result& result = of.search->result;
    // "At least" is a bound, and no number that another could be held against.
    const bool both_bounds =
        result.end == capacity::search_end::found || result.end == capacity::search_end::not_closer;
    return both_bounds && result.limit().rate > 0 ? std::optional(result.limit().rate)
                                                  : std::nullopt;
}

std::string why_not_found(const stats::run_record& of) {
    if (found_rate(of)) return {};
    if (!of.search) return "its record has no search of a rate";
    return "its search ended without a rate: " + base::printable(of.search->sentence, 300);
}

std::string promises_of(const results& of) {
    for (const measured_run& run : of.runs) {
        if (run.records.size() <= of.record.verdict.program) continue;
        const auto& search = run.records[of.record.verdict.program].search;
        if (!search) continue;
        std::vector<std::string> all;
        for (const capacity::goal& one : search->goals)
            all.push_back(base::printable(one.promise, 100));
        return base::join(all, " and ");
    }
    return "what was promised";
}

}  // namespace postal::experiment
