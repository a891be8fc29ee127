// SPDX-License-Identifier: GPL-3.0-or-later
#include "stats/capacity/record.hpp"

#include "base/digits.hpp"
#include "base/units.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace postal::capacity {

recorded_trial recorded(const search_trial& of) {
    const trial_output& seen = of.seen;
    recorded_trial made{.start_s = of.start_s,
                        .asked = of.asked,
                        .duration_s = seen.duration_s,
                        .took_s = seen.took_s,
                        .intended = seen.intended,
                        .backlog_start = seen.backlog_start,
                        .backlog_end = seen.backlog_end(),
                        .began_with_backlog = seen.began_with_backlog,
                        .validity = seen.validity,
                        .p50 = seen.p50,
                        .p99 = seen.p99,
                        .generator_busy = seen.generator_busy};
    if (seen.queue_counted && !seen.batches.empty()) made.queued_end = seen.batches.back().queued;
    for (const trial_flow& one : seen.beside)
        made.beside.push_back({.intended = one.intended,
                               .backlog_start = one.backlog_start,
                               .backlog_end = one.backlog_end(),
                               .p50 = one.p50,
                               .p99 = one.p99,
                               .generator_busy = one.generator_busy});
    for (std::size_t i = 0; i < of.judgements.size(); ++i)
        made.goals.push_back({seen.goals[i], of.judgements[i]});
    return made;
}

const recorded_judgement* decisive(const recorded_trial& of) {
    const auto rank = [](const recorded_judgement& one) {
        const int grave = one.said.shown == loss_class::high        ? 2
                          : one.said.shown == loss_class::not_known ? 1
                                                                    : 0;
        return std::pair(grave, one.said.loss_ratio);
    };
    const auto most = std::max_element(
        of.goals.begin(), of.goals.end(),
        [&](const auto& one, const auto& other) { return rank(one) < rank(other); });
    return most == of.goals.end() ? nullptr : &*most;
}

std::string verdict_text(const recorded_trial& of) {
    if (of.began_with_backlog) return "says nothing: it began with a backlog";
    if (of.validity == trial_validity::machine_full) return "says nothing: the machine was full";
    const recorded_judgement* const by = decisive(of);
    if (by == nullptr) return "says nothing: the generator was the limit";
    if (by->said.shown == loss_class::high) return "missed";
    if (by->said.shown == loss_class::low) return "kept";
    return by->said.measured == loss_class::high ? "missed, perhaps by chance"
                                                 : "kept, perhaps by chance";
}

namespace {

std::string_view result_text(const search_result& of, std::size_t goal) {
    const bool limits = goal == of.limiting;
    // Only the limiting goal is tried once more, and tells of the server that all have.
    if (of.end == search_end::unstable) return limits ? "unstable" : "not confirmed";
    if (of.end == search_end::at_least && limits) return "at least";
    const bool confirmed = !limits || of.confirmed || of.confirmation.empty();
    switch (of.goals.at(goal).end) {
        case goal_end::regular:
            return confirmed ? "found" : "found, not confirmed";
        case goal_end::at_least:
            return "at least";
        case goal_end::doomed:
            return "doomed";
        case goal_end::not_closer:
            if (!of.goals.at(goal).upper) return confirmed ? "at least" : "at least, not confirmed";
            return confirmed ? "not decided between the bounds"
                             : "not decided between the bounds, not confirmed";
        case goal_end::unfinished:
            break;
    }
    return "not finished";
}

}  // namespace

goal_standing standing_of(const search_result& of, std::size_t goal) {
    const goal_result& found = of.goals.at(goal);
    goal_standing made{.result = result_text(of, goal)};
    if (of.end == search_end::unstable) return made;
    made.lower = found.lower;
    made.conditional_throughput = found.conditional_throughput;
    if (of.end == search_end::at_least && goal == of.limiting) {
        made.rate = found.lower;
        return made;
    }
    made.upper = found.upper;
    if (found.rate > 0) made.rate = found.rate;
    return made;
}

namespace {

// Of a trial that kept its promises, and left no more behind than it had found: so much a second
// was finished at least; 0 of others.
double finished_as_promised(const recorded_trial& of) {
    double most_lost = 0;
    for (const recorded_judgement& one : of.goals) {
        if (one.said.measured != loss_class::low || one.said.growth > 0) return 0;
        most_lost = std::max(most_lost, one.said.loss_ratio);
    }
    return of.goals.empty() ? 0 : of.asked.load * std::max(0.0, 1 - most_lost);
}

}  // namespace

std::optional<generator_reach> reach_of(const search_record& of) {
    std::optional<generator_reach> highest;
    for (const recorded_trial& one : of.trials) {
        const double finished = finished_as_promised(one);
        if (!(finished > 0) || !one.generator_busy || !(*one.generator_busy > 0)) continue;
        if (!highest || finished >= highest->load)
            highest = generator_reach{finished, *one.generator_busy};
    }
    return highest;
}

std::vector<std::string> reach_texts(const search_record& of, std::string_view program) {
    const auto evidence = [&](std::string_view how, double load, double busy) {
        return fmt::format("{}: {} {}/s took {} % of its busiest worker", how,
                           base::format_measured(load), of.unit, base::format_measured(busy * 100));
    };
    if (const auto& alone = of.alone) {
        std::vector<std::string> all{fmt::format("{} could do {} {}/s by itself", program,
                                                 base::format_measured(alone->rate), of.unit),
                                     evidence("measured", alone->load, alone->busy)};
        if (!alone->left_out.empty()) all.push_back("left out of that: " + alone->left_out);
        return all;
    }
    const auto reach = reach_of(of);
    if (!reach) return {};
    return {fmt::format("{} could do about {} {}/s or more by itself", program,
                        base::format_measured(reach->rate()), of.unit),
            evidence("by a trial", reach->load, reach->busy)};
}

std::vector<std::string> busy_sessions(const search_record& of) {
    std::vector<std::string> all;
    if (of.sessions_busy) all.push_back(base::format_amount(*of.sessions_busy, "session"));
    for (const partner& one : of.beside)
        if (one.sessions_busy)
            all.push_back(base::format_amount(*one.sessions_busy, "session") + " of " +
                          one.program);
    return all;
}

std::uint64_t trials_that_say_nothing(const search_record& of) {
    return static_cast<std::uint64_t>(
        std::count_if(of.trials.begin(), of.trials.end(), [](const recorded_trial& one) {
            return one.began_with_backlog || one.validity != trial_validity::valid;
        }));
}

search_record record_of(const search& of, std::string_view unit, const partners& beside) {
    const search_input& given = of.input();
    search_record made{.goals = of.goals(),
                       .start_load = given.loads.start,
                       .min_load = given.loads.min,
                       .seed = given.seed,
                       .unit = std::string(unit),
                       .sentence = sentence_of(of.result(), of.goals(), unit, beside),
                       .beside = beside,
                       .result = of.result()};
    if (std::isfinite(given.loads.max)) made.max_load = given.loads.max;
    for (const search_trial& one : of.trials())
        made.trials.push_back(recorded(one));
    return made;
}

}  // namespace postal::capacity
