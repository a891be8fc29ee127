// SPDX-License-Identifier: GPL-3.0-or-later
// Results of experiments that never took place, for what is computed and said from them.
#pragma once

#include "experiment/analysis.hpp"

#include <string>
#include <vector>

namespace test {

using namespace postal;

inline experiment::experiment_record made_up_record(std::vector<std::string> names,
                                                    experiment::metric about) {
    experiment::experiment_record made;
    made.title = "made up";
    made.seed = 7;
    made.duration_s = 10;
    made.started = "2026-01-01T00:00:00.000Z";
    made.ended = "2026-01-01T01:00:00.000Z";
    made.end = experiment::all_blocks_done;
    made.programs = {"postal"};
    made.verdict.about = about;
    for (std::string& name : names)
        made.variants.push_back({.name = std::move(name)});
    return made;
}

// `values` are those of the metric, by block and variant.
inline experiment::results made_up(std::vector<std::string> names, experiment::metric about,
                                   const std::vector<std::vector<double>>& values) {
    experiment::results made{.record = made_up_record(std::move(names), about)};
    made.record.blocks = values.size();
    for (std::size_t block = 0; block < values.size(); ++block) {
        for (std::size_t variant = 0; variant < values[block].size(); ++variant) {
            experiment::measured_run run;
            run.run.at = {block + 1, variant, variant};
            run.records.resize(1);
            run.loads.resize(1);
            run.loads[0].messages = 1000;
            run.loads[0].values[static_cast<std::size_t>(about)] = values[block][variant];
            made.record.runs.push_back(run.run);
            made.runs.push_back(run);
        }
    }
    return made;
}

// A baseline of 1 and a variant at about this ratio to it.
inline experiment::results made_up(experiment::metric about, double ratio, std::size_t blocks,
                                   double scatter = 0.001) {
    std::vector<std::vector<double>> values;
    for (std::size_t i = 0; i < blocks; ++i)
        values.push_back({1, ratio * (i % 2 == 0 ? 1 + scatter : 1 / (1 + scatter))});
    return made_up({"a", "b"}, about, values);
}

// What a load of 10 s recorded: an interval a second, the first two of which are the warm-up's.
inline stats::run_record recorded_load(std::uint64_t messages_a_second) {
    stats::run_record made;
    made.program = "postal";
    made.started = "2026-01-01T00:00:00.000Z";
    made.duration_s = 10;
    made.warmup_s = 1.5;
    made.measured_s = 8.5;
    for (int second = 0; second < 10; ++second) {
        auto& one = made.intervals.emplace_back();
        one.start_s = second;
        one.end_s = second + 1;
        one.messages = messages_a_second;
        one.warmup = second < 2;
    }
    made.totals.messages = messages_a_second * 8;
    made.totals.started = made.totals.messages;
    return made;
}

// The same of a search that found this rate, between bounds 2 % apart, for these promises.
inline stats::run_record recorded_search(double rate, const std::vector<std::string>& promises) {
    stats::run_record made = recorded_load(50);
    capacity::search_record& search = made.search.emplace();
    for (const std::string& one : promises) {
        search.goals.push_back({.promise = one, .metric = one});
        search.result.goals.push_back({.end = capacity::goal_end::regular,
                                       .lower = rate * 0.99,
                                       .upper = rate * 1.01,
                                       .rate = rate});
    }
    search.result.end = capacity::search_end::found;
    search.sentence = capacity::sentence_of(search.result, search.goals);
    return made;
}

}  // namespace test
