// SPDX-License-Identifier: GPL-3.0-or-later
// What the list of fields cannot say of an experiment's record: what must fit together.
#include "experiment/record.hpp"

#include "base/text.hpp"
#include "experiment/gate.hpp"
#include "experiment/record_fields.hpp"
#include "stats/json_fields.hpp"

#include <algorithm>
#include <filesystem>

namespace postal::experiment {
namespace {

// Far beyond what anybody has waited for; what is done for each variant in each block, and for
// each device of a run, has an end.
constexpr std::size_t most_programs = 100;
constexpr std::size_t most_devices = 1000;

// What a record names is read: nothing outside its own folder.
bool is_below(const std::filesystem::path& path) {
    // As texts: "a//b" and "a/b" are equal as paths, and one file would have two names.
    return !path.is_absolute() && path.native() == path.lexically_normal().native() &&
           (path.empty() || *path.begin() != "..");
}

void check_run(const recorded_run& one, const std::string& place, std::size_t variants,
               stats::complaint& problems) {
    if (one.at.variant >= variants) problems.add(place + ".variant", "the index of a variant");
    for (std::size_t i = 0; i < one.loads.size(); ++i)
        if (!is_below(one.loads[i].path))
            problems.add(fmt::format("{}.loads[{}].path", place, i),
                         "a path below the record's folder");
    if (one.devices.size() > most_devices)
        problems.add(place + ".devices", fmt::format("a list of at most {}", most_devices));
    if (one.costs && !is_below(one.costs->path))
        problems.add(place + ".costs.path", "a path below the record's folder");
    if (one.announced && !is_below(one.announced->path))
        problems.add(place + ".announced.path", "a path below the record's folder");
}

void check_record(const experiment_record& of, stats::complaint& problems) {
    const auto check = [&](bool well, const std::string& key, std::string_view wanted) {
        if (!well) problems.add(key, wanted);
    };
    const auto is_share = [](double value) { return value > 0 && value < 1; };
    check(of.verdict.program < of.programs.size(), "verdict.program", "the index of a program");
    check(is_share(of.verdict.margin), "verdict.margin", "between 0 and 1");
    check(of.verdict.confidence >= least_confidence && of.verdict.confidence <= most_confidence,
          "verdict.confidence", "from 0.5 to 0.9999");
    check(!of.variants.empty(), "variants", "a list of at least one variant");
    for (std::size_t i = 0; i < of.variants.size(); ++i)
        check(!of.variants[i].same_as || *of.variants[i].same_as < i,
              fmt::format("variants[{}].same_as", i), "the index of an earlier variant");
    check(of.gates.size() <= most_gates, "gates",
          fmt::format("a list of at most {} gates", most_gates));
    check(of.kept.size() <= most_kept, "kept",
          fmt::format("a list of at most {} results", most_kept));
    for (std::size_t i = 0; i < of.gates.size(); ++i)
        check(parse_gate(of.gates[i]).has_value(), fmt::format("gates[{}]", i), "a gate");
    for (std::size_t i = 0; i < of.kept.size(); ++i) {
        const auto& values = of.kept[i].values;
        const bool fits =
            values.size() == of.gates.size() && std::ranges::all_of(values, [&](const auto& each) {
                return each.size() == of.variants.size();
            });
        check(fits, fmt::format("kept[{}].values", i), "a list of variants for each gate");
        const auto& never = of.kept[i].never;
        const bool named =
            never.empty() ||
            (never.size() == of.gates.size() && std::ranges::all_of(never, [&](const auto& each) {
                 return std::ranges::all_of(each,
                                            [&](auto one) { return one < of.variants.size(); });
             }));
        check(named, fmt::format("kept[{}].never", i),
              "a list of indices of variants for each gate");
    }
    check(of.variants.size() <= most_variants, "variants",
          fmt::format("a list of at most {}", most_variants));
    check(of.programs.size() <= most_programs, "programs",
          fmt::format("a list of at most {}", most_programs));
    check(of.runs.size() <= most_runs, "runs", fmt::format("a list of at most {}", most_runs));
    for (std::size_t i = 0; i < of.runs.size(); ++i)
        check_run(of.runs[i], fmt::format("runs[{}]", i), of.variants.size(), problems);
}

}  // namespace

bool is_whole(const experiment_record& of) {
    return of.end == all_blocks_done || of.end == enough_for_width;
}

std::vector<recorded_variant> recorded_variants(const experiment& whole) {
    std::vector<recorded_variant> all;
    for (const variant& one : whole.variants) {
        recorded_variant& kept = all.emplace_back();
        kept.name = one.name;
        kept.same_as = one.same_as;
        for (const auto& [name, words] : one.values)
            kept.values.emplace_back(name, base::join(words, " "));
    }
    return all;
}

base::expected<experiment_record> parse_experiment_record(std::string_view text) {
    return stats::parse_fields<experiment_record>(text, experiment_schema, check_record);
}

}  // namespace postal::experiment
