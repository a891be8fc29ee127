// SPDX-License-Identifier: GPL-3.0-or-later
#include "experiment/analysis.hpp"

#include "experiment/capacity.hpp"
#include "experiment/figures.hpp"
#include "experiment/run_values.hpp"

#include <algorithm>
#include <cmath>
#include <map>

namespace postal::experiment {
namespace {

constexpr double least_share_of_rate = 0.98;

// Of a load with --rate that reached it.
bool is_at_rate(const stats::run_record& one) {
    return one.cap && one.cap->reached_per_s >= one.cap->asked_per_s * least_share_of_rate;
}

std::vector<block_result> blocks_of(const results& of) {
    std::map<std::uint64_t, block_result> found;
    for (const measured_run& one : of.runs) {
        block_result& block = found[one.run.at.block];
        block.number = one.run.at.block;
        ++block.runs;
        if (block.voided.empty() && !one.voids.empty())
            block.voided = of.record.variants[one.run.at.variant].name + ": " + one.voids;
    }
    std::vector<block_result> blocks;
    for (auto& [number, block] : found)
        blocks.push_back(std::move(block));
    return blocks;
}

std::optional<std::array<std::size_t, 2>> twins_of(const experiment_record& record) {
    for (std::size_t i = 0; i < record.variants.size(); ++i)
        if (record.variants[i].same_as) return std::array{*record.variants[i].same_as, i};
    return std::nullopt;
}

// The geometric mean, as ratios go; the arithmetic one where a value is 0; and where one is never,
// which no mean can have, the value in the middle.
std::optional<double> mean_of(const std::vector<double>& values) {
    if (values.empty()) return std::nullopt;
    if (std::ranges::any_of(values, [](double one) { return is_never(one); }))
        return median(values);
    const bool positive =
        std::all_of(values.begin(), values.end(), [](double one) { return one > 0; });
    double sum = 0;
    for (const double one : values)
        sum += positive ? std::log(one) : one;
    const double mean = sum / static_cast<double>(values.size());
    return positive ? std::exp(mean) : mean;
}

// How wide the step is, in logarithms, in which the value is known: of a histogram's bucket, or
// between the two bounds of a search.
double step_of(metric which, const std::optional<double>& value, const measured_run& run,
               std::size_t program) {
    if (which == metric::capacity)
        return run.records.size() > program ? found_step(run.records[program]) : 0;
    if (!is_latency(which) || !value || !std::isfinite(*value)) return 0;
    return latency_step(*value);
}

metric_result compare_metric(const results& of, const std::vector<block_result>& blocks,
                             std::size_t program, metric which) {
    const experiment_record& record = of.record;
    metric_result to{.program = program, .about = which};
    to.table.direction = described(which).higher_is_better
                             ? stats::metric_direction::higher_is_better
                             : stats::metric_direction::lower_is_better;
    to.table.carries_verdict = program == record.verdict.program && which == record.verdict.about;
    to.table.floor = described(which).floor;
    to.table.variants = record.variants.size();
    std::map<std::uint64_t, std::size_t> index;
    for (const block_result& each : blocks) {
        index[each.number] = to.table.blocks.size();
        auto& block = to.table.blocks.emplace_back();
        block.values.resize(record.variants.size());
        block.is_run.resize(record.variants.size());
        block.steps.resize(record.variants.size());
        block.voided = !each.voided.empty();
    }
    for (const measured_run& one : of.runs) {
        if (one.loads.size() <= program) continue;
        auto& block = to.table.blocks[index[one.run.at.block]];
        block.is_run[one.run.at.variant] = true;
        const auto& value = one.loads[program].values[static_cast<std::size_t>(which)];
        block.values[one.run.at.variant] = value;
        block.steps[one.run.at.variant] = step_of(which, value, one, program);
    }
    to.compared = stats::compare(to.table, {.alpha = 1 - record.verdict.confidence,
                                            .margin = record.verdict.margin,
                                            .same = twins_of(record),
                                            .seed = record.seed,
                                            .wanted_width = record.until_width});
    to.typical = typical_of(to.table);
    return to;
}

bool says_something(const metric_result& one) {
    return std::any_of(one.typical.begin(), one.typical.end(),
                       [](const std::optional<double>& each) { return each.has_value(); });
}

// ---- growth with a size ----

std::vector<std::optional<double>> sizes_of(const experiment_record& record) {
    std::vector<std::optional<double>> sizes;
    if (record.verdict.size.empty()) return sizes;
    for (const recorded_variant& each : record.variants) {
        const auto known =
            std::find_if(each.values.begin(), each.values.end(),
                         [&](const auto& one) { return one.first == record.verdict.size; });
        sizes.push_back(known == each.values.end() ? std::nullopt
                                                   : size_of_variable(known->second));
    }
    return sizes;
}

void add_growth(const std::vector<std::optional<double>>& sizes, double alpha, growth_result one,
                const stats::metric_table& table, std::vector<growth_result>& to) {
    const auto found = stats::growth_of(table, sizes, alpha);
    if (!found) return;
    one.found = *found;
    one.typical = typical_of(table);
    to.push_back(std::move(one));
}

// The median latency of a verb of rabid's profile, in microseconds, as those of metrics.
std::optional<double> latency_of_verb(const stats::run_record& of, const std::string& verb) {
    if (!of.profile) return std::nullopt;
    for (const stats::verb_figures& each : of.profile->verbs)
        if (each.verb == verb) return latency_us(each.latency, &stats::time_figures::p50);
    return std::nullopt;
}

std::vector<std::string> verbs_of(const results& of, std::size_t program) {
    std::vector<std::string> verbs;
    for (const measured_run& run : of.runs) {
        if (run.records.size() <= program || !run.records[program].profile) continue;
        for (const stats::verb_figures& each : run.records[program].profile->verbs)
            if (std::find(verbs.begin(), verbs.end(), each.verb) == verbs.end())
                verbs.push_back(each.verb);
    }
    return verbs;
}

stats::metric_table table_of_verb(const results& of, const stats::metric_table& like,
                                  std::size_t program, const std::string& verb) {
    stats::metric_table table = like;
    std::map<std::uint64_t, std::size_t> index;
    for (const measured_run& run : of.runs)
        index.emplace(run.run.at.block, 0);
    std::size_t next = 0;
    for (auto& [number, place] : index)
        place = next++;
    for (auto& block : table.blocks) {
        std::ranges::fill(block.values, std::nullopt);
        std::ranges::fill(block.steps, 0);
    }
    for (const measured_run& run : of.runs) {
        if (run.records.size() <= program) continue;
        const auto value = latency_of_verb(run.records[program], verb);
        auto& block = table.blocks[index[run.run.at.block]];
        block.values[run.run.at.variant] = value;
        if (value && std::isfinite(*value)) block.steps[run.run.at.variant] = latency_step(*value);
    }
    return table;
}

std::vector<growth_result> growths_in(const results& of, const analysis& found) {
    std::vector<growth_result> all;
    const double alpha = 1 - of.record.verdict.confidence;
    for (const metric_result& each : found.metrics)
        add_growth(found.sizes, alpha,
                   {each.program, std::string(name_of(each.about)), is_latency(each.about), {}, {}},
                   each.table, all);
    for (std::size_t program = 0; program < of.record.programs.size(); ++program)
        for (const std::string& verb : verbs_of(of, program))
            add_growth(found.sizes, alpha, {program, verb, true, {}, {}},
                       table_of_verb(of, found.verdict().table, program, verb), all);
    return all;
}

std::optional<stats::drift> drift_in(const results& of, const analysis& found) {
    std::vector<stats::run_in_order> runs;
    const metric_result& verdict = found.verdict();
    for (std::size_t number = 0; number < of.runs.size(); ++number) {
        const measured_run& one = of.runs[number];
        if (one.loads.size() <= verdict.program || !is_counted(one, found)) continue;
        const auto value =
            one.loads[verdict.program].values[static_cast<std::size_t>(verdict.about)];
        if (value) runs.push_back({number, one.run.at.block, one.run.at.variant, *value});
    }
    return stats::drift_of(runs);
}

// Whether a load program of the run said that of itself.
bool any_generator(const measured_run& one, stats::generator_verdict verdict) {
    return std::any_of(one.records.begin(), one.records.end(), [&](const stats::run_record& each) {
        return each.generator.verdict == verdict;
    });
}

constexpr double nearly_all = 0.99;

void note_missing_sessions(analysis& to, const measured_run& of) {
    double share = 1;
    for (const load_values& one : of.loads)
        if (one.sessions_open && one.sessions_asked > 0)
            share = std::min(share, *one.sessions_open / one.sessions_asked);
    if (share >= nearly_all) return;
    ++to.with_fewer_sessions;
    to.least_share_open = std::min(to.least_share_open, share);
}

// Messages of each interval, mean over a variant's runs.
std::optional<stats::warmup_check> warmup_of(const results& of, const analysis& found,
                                             std::size_t variant) {
    if (of.record.verdict.about == metric::capacity) return std::nullopt;  // each trial settles
    std::vector<double> rates;
    std::vector<double> counted;
    std::size_t warmup = 0;
    for (const measured_run& one : of.runs) {
        if (one.run.at.variant != variant || !is_counted(one, found)) continue;
        if (one.records.size() <= of.record.verdict.program) continue;
        std::size_t at = 0;
        std::size_t warm = 0;
        for (const stats::interval_row& each : one.records[of.record.verdict.program].intervals) {
            if (each.draining || each.partial || !(each.end_s > each.start_s)) continue;
            if (at == rates.size()) {
                rates.push_back(0);
                counted.push_back(0);
            }
            rates[at] += static_cast<double>(each.messages) / (each.end_s - each.start_s);
            counted[at++] += 1;
            warm += each.warmup ? 1 : 0;
        }
        warmup = std::max(warmup, warm);
    }
    for (std::size_t i = 0; i < rates.size(); ++i)
        rates[i] /= counted[i];
    return stats::check_warmup(rates, warmup, of.record.verdict.margin / 2);
}

}  // namespace

std::vector<std::optional<double>> typical_of(const stats::metric_table& table) {
    std::vector<std::optional<double>> all;
    for (std::size_t variant = 0; variant < table.variants; ++variant) {
        std::vector<double> values;
        for (const auto& block : table.blocks)
            if (!block.voided && block.values[variant]) values.push_back(*block.values[variant]);
        all.push_back(mean_of(values));
    }
    return all;
}

bool is_counted(const measured_run& one, const analysis& found) {
    // They stand in order.
    const auto block =
        std::ranges::lower_bound(found.blocks, one.run.at.block, {}, &block_result::number);
    return block != found.blocks.end() && block->voided.empty();
}

std::size_t analysis::voided() const {
    return static_cast<std::size_t>(std::count_if(
        blocks.begin(), blocks.end(), [](const block_result& one) { return !one.voided.empty(); }));
}

analysis analyse(const results& of) {
    analysis to;
    to.blocks = blocks_of(of);
    const verdict_rules& rules = of.record.verdict;
    to.metrics.push_back(compare_metric(of, to.blocks, rules.program, rules.about));
    for (std::size_t program = 0; program < of.record.programs.size(); ++program) {
        for (std::size_t number = 0; number < metrics.size(); ++number) {
            const auto each = static_cast<metric>(number);
            if (each == rules.about && (program == rules.program || is_of_run(each))) continue;
            if (is_of_run(each) && program > 0) continue;  // the same for all programs
            auto one = compare_metric(of, to.blocks, program, each);
            if (says_something(one)) to.metrics.push_back(std::move(one));
        }
    }
    to.gates = judge_gates(of.record, to);
    to.sizes = sizes_of(of.record);
    if (!to.sizes.empty()) to.growths = growths_in(of, to);
    to.drift = drift_in(of, to);
    for (std::size_t variant = 0; variant < of.record.variants.size(); ++variant)
        to.warmups.push_back(warmup_of(of, to, variant));
    std::vector<double> flushes;
    for (const measured_run& one : of.runs) {
        if (one.run.flush_median_s) flushes.push_back(*one.run.flush_median_s);
        to.limited += any_generator(one, stats::generator_verdict::limit) ? 1 : 0;
        to.machine_full += any_generator(one, stats::generator_verdict::machine_full) ? 1 : 0;
        to.held_back += any_generator(one, stats::generator_verdict::held_back) ? 1 : 0;
        if (one.records.size() > rules.program && is_at_rate(one.records[rules.program]))
            ++to.at_rate;
    }
    for (const measured_run& one : of.runs)
        note_missing_sessions(to, one);
    to.flush_median_s = median(std::move(flushes));
    return to;
}

bool has_enough_for_width(const analysis& of) {
    return stats::may_stop(of.verdict().compared.comparisons);
}

std::optional<std::size_t> blocks_for_width(const analysis& of) {
    std::size_t most = 0;
    for (const stats::comparison& one : of.verdict().compared.comparisons) {
        if (!one.blocks_for_width) return std::nullopt;
        most = std::max(most, *one.blocks_for_width);
    }
    return most > 0 ? std::optional(most) : std::nullopt;
}

bool any_block_counts(const analysis& of) {
    const stats::experiment_result& compared = of.verdict().compared;
    const bool nothing_compared = compared.comparisons.empty() && !compared.same;
    if (nothing_compared) return of.voided() < of.blocks.size();
    const auto has_blocks = [](const stats::comparison& one) { return one.blocks > 0; };
    return std::any_of(compared.comparisons.begin(), compared.comparisons.end(), has_blocks) ||
           (compared.same && has_blocks(*compared.same));
}

}  // namespace postal::experiment
