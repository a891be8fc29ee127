// SPDX-License-Identifier: GPL-3.0-or-later
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/digits.hpp"
#include "base/text.hpp"
#include "base/units.hpp"
#include "postal-report/chart_data.hpp"
#include "postal-report/figures.hpp"
#include "postal-report/search.hpp"

namespace postal::report {

namespace {

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

// What a point of the charts is drawn as.
unsigned point_kind(const recorded_trial& of) {
    const recorded_judgement* const by = decisive(of);
    if (by == nullptr) return 2;
    return by->said.measured == capacity::loss_class::high ? 1 : 0;
}

// Of the goal that decides; none where the search has no number.
capacity::goal_standing marked_bounds(const search_record& of) {
    return of.result.limiting < of.result.goals.size()
               ? capacity::standing_of(of.result, of.result.limiting)
               : capacity::goal_standing{};
}

}  // namespace

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
        if (const std::string reach = capacity::reach_text(of, one.program); !reach.empty())
            note += "; " + reach;
        for (const std::string& busy : capacity::busy_sessions(of))
            note += fmt::format(
                "; all {} were busy where a promise was not kept, and more may carry more", busy);
        notes.push_back((several ? one.label + ": " : std::string{}) + std::move(note));
    }
    made.note = base::join(notes, ". ");
    return made;
}

table trial_table(const record& one) {
    table made{"trials", "Trials", {}, {}};
    if (!one.search) return made;
    made.columns = {
        {"trial", align::right},    {"a second", align::right}, {"why"},
        {"measured", align::right}, {"p50", align::right},      {"p99", align::right},
        {"lost", align::right},     {"at 95 %", align::right},  {"backlog", align::right}};
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
                : fmt::format("{} to {}", percent_text(by->said.low), percent_text(by->said.high)),
            base::format_count(each.backlog_end)};
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
             "Of what was due in each trial the share that was late, failed or not begun, of the "
             "promise that lost "
             "most, and how many messages waited when it ended.",
             11}};
}

std::string search_data(const record& one) {
    if (!one.search) return "null";
    const search_record& of = *one.search;
    std::vector<std::string> points, partners;
    for (const capacity::partner& other : of.beside)
        partners.push_back(script_string(other.program));
    for (const recorded_trial& each : of.trials) {
        const recorded_judgement* const by = decisive(each);
        if (by == nullptr) continue;
        const auto us = [](std::optional<std::chrono::nanoseconds> time) {
            return drawn_number(time ? std::optional(static_cast<double>(time->count()) / 1e3)
                                     : std::nullopt);
        };
        std::vector<std::string> beside;
        for (const capacity::recorded_flow& other : each.beside)
            beside.push_back(
                list_of({us(other.p99), drawn_number(static_cast<double>(other.backlog_end))}));
        points.push_back(list_of({drawn_number(each.asked.load), us(each.p50), us(each.p99),
                                  drawn_number(by->said.loss_ratio * 100),
                                  drawn_number(static_cast<double>(each.backlog_end)),
                                  std::to_string(point_kind(each)), list_of(beside)}));
    }
    const capacity::goal_standing marked = marked_bounds(of);
    return object_of({{"unit", script_string(of.unit)},
                      {"trials", list_of(points)},
                      {"beside", list_of(partners)},
                      {"lower", json_number(marked.lower)},
                      {"upper", json_number(marked.upper)}});
}

}  // namespace postal::report
