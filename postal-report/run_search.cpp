// SPDX-License-Identifier: GPL-3.0-or-later
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

#include "base/digits.hpp"
#include "base/text.hpp"
#include "base/units.hpp"
#include "postal-report/chart_data.hpp"
#include "postal-report/figures.hpp"
#include "postal-report/search.hpp"

namespace postal::report {

namespace {

using capacity::goal_losses;
using capacity::recorded_judgement;
using capacity::recorded_trial;
using capacity::search_record;

std::string load_text(std::optional<double> load) {
    return load ? base::format_measured(*load) : unknown;
}

std::string percent_text(double share) {
    return share <= 0 ? "0 %" : base::format_measured(share * 100) + " %";
}

std::string_view step_text(capacity::trial_step step) {
    using enum capacity::trial_step;
    switch (step) {
        case start:
            return "begin";
        case extend_up:
        case extend_down:
            return "further";
        case refine:
            return "longer";
        case bisect:
            return "between";
        case repeat:
            return "again";
        case confirm:
            break;
    }
    return "confirm";
}

// A trial that counts.
bool is_missed(const recorded_trial& of) {
    return decisive(of)->said.measured == capacity::loss_class::high;
}

// Of what was due the share that was lost in this way.
double lost_part(const recorded_judgement& of, std::uint64_t goal_losses::*how) {
    const std::uint64_t due = of.losses.due();
    return due == 0 ? 0 : static_cast<double>(of.losses.*how) / static_cast<double>(due);
}

// Ways to be lost, of those that there were.
struct way_lost {
    const char* title;
    std::uint64_t goal_losses::*how;
};
std::vector<way_lost> ways_lost(const search_record& of) {
    std::vector<way_lost> there;
    for (const way_lost& each :
         {way_lost{"late", &goal_losses::late}, way_lost{"errors", &goal_losses::errors},
          way_lost{"not begun", &goal_losses::not_started},
          way_lost{"not finished", &goal_losses::not_finished}})
        if (std::any_of(of.trials.begin(), of.trials.end(), [&](const recorded_trial& one) {
                const recorded_judgement* const by = decisive(one);
                return by != nullptr && by->losses.*each.how > 0;
            }))
            there.push_back(each);
    return there;
}

// Of the goal that decides; none where the search has no number.
capacity::goal_standing marked_bounds(const search_record& of) {
    return of.result.limiting < of.result.goals.size()
               ? capacity::standing_of(of.result, of.result.limiting)
               : capacity::goal_standing{};
}

}  // namespace

capacity::goal_standing found_in(const record& one) {
    return one.search ? marked_bounds(*one.search) : capacity::goal_standing{};
}

std::string found_text(const record& one) {
    const capacity::goal_standing stands = found_in(one);
    if (!stands.rate) return std::string(stands.result);
    std::string text = fmt::format("{} {}/s", load_text(stands.rate), one.search->unit);
    if (stands.lower && stands.upper)
        text += fmt::format(" ({} to {})", load_text(stands.lower), load_text(stands.upper));
    return text;
}

std::string found_sentence(const record& one) {
    return one.search ? one.search->sentence : std::string{};
}

table goal_table(const std::vector<record>& records) {
    const bool several = records.size() > 1;
    table made{"capacity", "The highest rate that keeps its promise", {}, {}};
    if (several) made.columns.push_back({"run"});
    for (const char* title : {"promise", "result"})
        made.columns.push_back({title});
    for (const char* title :
         {"a second", "relevant lower bound", "relevant upper bound", "conditional throughput"})
        made.columns.push_back({title, align::right});
    std::vector<std::string> notes;
    for (const record& one : records) {
        if (!one.search) continue;
        const search_record& of = *one.search;
        for (std::size_t i = 0; i < of.goals.size() && i < of.result.goals.size(); ++i) {
            const capacity::goal_result& each = of.result.goals[i];
            const capacity::goal_standing stands = capacity::standing_of(of.result, i);
            std::vector<std::string> row;
            if (several) row.push_back(one.label);
            row.insert(row.end(),
                       {capacity::promise_of(of.goals[i], of.beside), std::string(stands.result),
                        load_text(stands.rate), load_text(each.lower), load_text(each.upper),
                        load_text(stands.conditional_throughput)});
            made.rows.push_back(std::move(row));
        }
        std::string note = capacity::confirmation_text(of.result, of.unit);
        if (!note.empty()) note += "; ";
        note += fmt::format("{} in {}", base::format_amount(of.result.trials, "trial"),
                            show_seconds(of.result.took_s));
        for (const std::string& reach : capacity::reach_texts(of, one.program))
            note += "; " + reach;
        for (const std::string& busy : capacity::busy_sessions(of))
            note += fmt::format(
                "; all {} were busy where a promise was not kept, and more may carry more", busy);
        notes.push_back((several ? one.label + ": " : std::string{}) + std::move(note));
    }
    made.note = base::join(notes, ". ");
    return made;
}

table search_goal_table(const std::vector<record>& records) {
    const bool several = records.size() > 1;
    table made{"search-goals", "Search goals", {}, {}};
    if (several) made.columns.push_back({"run"});
    made.columns.push_back({"promise"});
    for (const char* title :
         {"loss ratio", "initial trial", "final trial", "duration sum", "exceed ratio", "width"})
        made.columns.push_back({title, align::right});
    std::vector<std::string> notes{
        "Goal Loss Ratio, Goal Initial and Final Trial Duration, Goal Duration Sum, Goal Exceed "
        "Ratio and Goal Width of RFC 9971"};
    for (const record& one : records) {
        if (!one.search) continue;
        const search_record& of = *one.search;
        for (const capacity::goal& each : of.goals) {
            std::vector<std::string> row;
            if (several) row.push_back(one.label);
            row.insert(row.end(),
                       {capacity::promise_of(each, of.beside), percent_text(each.loss_ratio),
                        show_seconds(each.initial_trial_s), show_seconds(each.final_trial_s),
                        show_seconds(each.duration_sum_s), show_number(each.exceed_ratio),
                        percent_text(each.width)});
            made.rows.push_back(std::move(row));
        }
        notes.push_back(fmt::format(
            "{}Min Load {} {}/s, {}, begun at {}", several ? one.label + ": " : "",
            load_text(of.min_load), of.unit,
            of.max_load ? "Max Load " + load_text(of.max_load) : std::string("no Max Load"),
            load_text(of.start_load)));
    }
    made.note = base::join(notes, ". ");
    return made;
}

table trial_table(const record& one) {
    table made{"trials", "Trials", {}, {}};
    if (!one.search) return made;
    made.columns = {{"trial", align::right},    {"a second", align::right}, {"why"},
                    {"measured", align::right}, {"p50", align::right},      {"p99", align::right},
                    {"lost", align::right},     {"at 95 %", align::right}};
    const std::vector<way_lost> ways = ways_lost(*one.search);
    for (const way_lost& each : ways)
        made.columns.push_back({each.title, align::right});
    made.columns.push_back({"backlog", align::right});
    made.bad_cell = "missed";
    for (const capacity::partner& other : one.search->beside)
        for (const char* figure : {"p99 of ", "backlog of "})
            made.columns.push_back({figure + other.program, align::right});
    made.columns.push_back({"promise"});
    std::size_t number = 0;
    for (const recorded_trial& each : one.search->trials) {
        const recorded_judgement* const by = decisive(each);
        std::vector<std::string> row{
            std::to_string(++number),
            load_text(each.asked.load),
            std::string(step_text(each.asked.step)),
            show_seconds(each.duration_s),
            show_latency(each.p50),
            show_latency(each.p99),
            by == nullptr ? unknown : percent_text(by->said.loss_ratio),
            by == nullptr
                ? unknown
                : fmt::format("{} to {}", percent_text(by->said.low), percent_text(by->said.high))};
        for (const way_lost& way : ways)
            row.push_back(by == nullptr ? unknown : percent_text(lost_part(*by, way.how)));
        row.push_back(base::format_count(each.backlog_end));
        for (std::size_t i = 0; i < one.search->beside.size(); ++i) {
            const bool known = i < each.beside.size();
            row.push_back(known ? show_latency(each.beside[i].p99) : unknown);
            row.push_back(known ? base::format_count(each.beside[i].backlog_end) : unknown);
        }
        row.push_back(verdict_text(each));
        made.rows.push_back(std::move(row));
    }
    return made;
}

std::vector<chart> search_charts(const record& one) {
    if (!one.search || one.search->trials.empty()) return {};
    return {{"chart-knee", "Latency against the rate",
             fmt::format("Of each trial the p50 and p99 of what was done meanwhile{}. A trial that "
                         "kept all promises is a circle, one that did not a cross; what says "
                         "nothing is left out. {}: {}.",
                         one.search->beside.empty() ? "" : ", of the programs beside it the p99",
                         marked_bounds(*one.search).lower
                             ? "The band is between the bounds of what was found"
                             : "No band is marked",
                         one.search->sentence)},
            {"chart-lost", "Lost and waiting, against the rate",
             "Of what was due in each trial the share that was late, failed, or not begun or not "
             "finished in time, of the promise that lost most; errors, and what was not begun, "
             "also by themselves, where "
             "there were any; and how many messages waited when it ended.",
             11}};
}

namespace {

std::string drawn_us(std::optional<std::chrono::nanoseconds> time) {
    return drawn_number(time ? std::optional(static_cast<double>(time->count()) / 1e3)
                             : std::nullopt);
}

std::string drawn_count(std::uint64_t count) {
    return drawn_number(static_cast<double>(count));
}

// Of a program beside the one that searches.
constexpr std::array<chart_column<capacity::recorded_flow>, 2> beside_columns{{
    {"p99", [](const capacity::recorded_flow& of) { return drawn_us(of.p99); }},
    {"backlog", [](const capacity::recorded_flow& of) { return drawn_count(of.backlog_end); }},
}};

// A trial that counts, by the goal that decides; shares in per cent.
constexpr std::array<chart_column<recorded_trial>, 9> trial_columns{{
    {"rate", [](const recorded_trial& of) { return drawn_number(of.asked.load); }},
    {"p50", [](const recorded_trial& of) { return drawn_us(of.p50); }},
    {"p99", [](const recorded_trial& of) { return drawn_us(of.p99); }},
    {"lost",
     [](const recorded_trial& of) { return drawn_number(decisive(of)->said.loss_ratio * 100); }},
    {"errors",
     [](const recorded_trial& of) {
         return drawn_number(lost_part(*decisive(of), &goal_losses::errors) * 100);
     }},
    {"not_begun",
     [](const recorded_trial& of) {
         return drawn_number(lost_part(*decisive(of), &goal_losses::not_started) * 100);
     }},
    {"backlog", [](const recorded_trial& of) { return drawn_count(of.backlog_end); }},
    {"missed", [](const recorded_trial& of) { return std::string(is_missed(of) ? "1" : "0"); }},
    {"beside",
     [](const recorded_trial& of) {
         return course_json<capacity::recorded_flow>(beside_columns, of.beside);
     }},
}};

}  // namespace

std::string search_data(const record& one) {
    if (!one.search) return "null";
    const search_record& of = *one.search;
    std::vector<std::string> partners;
    for (const capacity::partner& other : of.beside)
        partners.push_back(script_string(other.program));
    std::vector<recorded_trial> counted;
    std::copy_if(of.trials.begin(), of.trials.end(), std::back_inserter(counted),
                 [](const recorded_trial& each) { return decisive(each) != nullptr; });
    const capacity::goal_standing marked = marked_bounds(of);
    return object_of({{"unit", script_string(of.unit)},
                      {"columns", names_of<recorded_trial>(trial_columns)},
                      {"beside_columns", names_of<capacity::recorded_flow>(beside_columns)},
                      {"trials", course_json<recorded_trial>(trial_columns, counted)},
                      {"beside", list_of(partners)},
                      {"lower", json_number(marked.lower)},
                      {"upper", json_number(marked.upper)}});
}

}  // namespace postal::report
