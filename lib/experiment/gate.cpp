// SPDX-License-Identifier: GPL-3.0-or-later
#include "experiment/gate.hpp"

#include "base/text.hpp"
#include "base/units.hpp"
#include "experiment/analysis.hpp"
#include "experiment/figures.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace postal::experiment {
namespace {

// Of the rate less is worse, of all others more.
struct gated {
    std::string_view name;
    std::optional<metric> about;
};
// All of which less is better.
std::vector<gated> all_gated() {
    std::vector<gated> all{{"rate", std::nullopt}};
    for (std::size_t i = 0; i < metrics.size(); ++i)
        if (!metrics[i].higher_is_better) all.push_back({metrics[i].name, static_cast<metric>(i)});
    return all;
}

constexpr double most_more = 10;  // times

base::failure no_gate(std::string_view text) {
    std::vector<std::string> names;
    for (const gated& one : all_gated())
        if (one.about) names.emplace_back(one.name);
    return base::fail(
        "\"{}\" is no gate; want rate>-5%, or one of {} as in p99<+20%: the change against the "
        "first variant, from -99% to +1000%",
        base::printable(text, 60), base::join(names, ", "));
}

// As they are compared: a positive number, or never.
std::optional<double> counted(const std::optional<double>& value, double floor) {
    const bool is_positive = value && std::max(*value, floor) > 0;
    return is_positive ? std::optional(std::max(*value, floor)) : std::nullopt;
}

std::optional<double> log_of(const std::optional<double>& value, double floor) {
    const auto known = counted(value, floor);
    return known && std::isfinite(*known) ? std::optional(std::log(*known)) : std::nullopt;
}

// Of a kept result, where never stands beside the values.
std::optional<double> kept_value(const kept_result& one, std::size_t gate, std::size_t variant) {
    const bool is_one_of = gate < one.never.size() && std::ranges::count(one.never[gate], variant);
    return is_one_of ? std::optional(never) : one.values[gate][variant];
}

// Nothing where there is no value of now.
std::optional<stats::paired_sample> sample_of_kept(const metric_result& of,
                                                   const experiment_record& record,
                                                   std::size_t gate, std::size_t variant) {
    const auto now = log_of(of.typical[variant], of.table.floor);
    if (!now) return std::nullopt;
    std::vector<double> kept;
    for (const kept_result& one : record.kept)
        if (const auto value = log_of(one.values[gate][variant], of.table.floor))
            kept.push_back(*value);
    stats::paired_sample sample = stats::sample_against(kept, *now);
    // What was kept is known in steps as what is now.
    sample.rounding = stats::log_rounding_of(of.table, variant, variant);
    return sample;
}

// As the experiment's verdicts: where the blocks followed from the first ones' scatter, it is that.
std::optional<stats::paired_sample> sample_for(const metric_result& of,
                                               const experiment_record& record,
                                               std::size_t variant) {
    return stats::sample_of(stats::log_differences(of.table, 0, variant),
                            record.until_width ? stats::pilot_blocks : stats::all_differences,
                            stats::log_rounding_of(of.table, 0, variant));
}

// Against what was kept: of how many results, and of what is now.
stats::never_counts never_for(const metric_result& of, const experiment_record& record,
                              std::size_t gate, std::size_t variant) {
    if (record.baseline.empty()) return stats::never_of(of.table, 0, variant);
    if (!counted(of.typical[variant], of.table.floor)) return {};
    stats::never_counts made{.variant = is_never(of.typical[variant]) ? 1U : 0U};
    for (const kept_result& one : record.kept) {
        const auto value = counted(kept_value(one, gate, variant), of.table.floor);
        made.blocks += value ? 1 : 0;
        made.baseline += is_never(value) ? 1 : 0;
    }
    return made;
}

// Whether `now` is beyond the bound that `then` sets; never is beyond all that is none.
bool is_beyond(double now, double then, const stats::gate_bound& bound) {
    return now > then * bound.ratio;
}

// How probable it is that so many blocks are beyond the bound, where half of them are: of those
// that say anything, which two that are both never do not.
double chance_of_blocks(const metric_result& of, std::size_t variant,
                        const stats::gate_bound& bound) {
    std::size_t beyond = 0;
    std::size_t within = 0;
    for (std::size_t block = 0; block < of.table.blocks.size(); ++block) {
        const auto then = stats::ranked_value(of.table, block, 0);
        const auto now = stats::ranked_value(of.table, block, variant);
        if (!then || !now || (is_never(then) && is_never(now))) continue;
        ++(is_beyond(*now, *then, bound) ? beyond : within);
    }
    return beyond + within > 0 ? stats::sign_tail(beyond + within, beyond) : 1;
}

// How probable it is that one of as many results as there are with this one is that far above.
double chance_of_kept(const metric_result& of, const experiment_record& record, std::size_t gate,
                      std::size_t variant, const stats::gate_bound& bound) {
    const auto now = counted(of.typical[variant], of.table.floor);
    double all = 1;
    double as_high = 1;
    for (const kept_result& one : record.kept) {
        const auto then = counted(kept_value(one, gate, variant), of.table.floor);
        if (!then || !now) continue;
        all += 1;
        as_high += is_beyond(*now, *then, bound) ? 0 : 1;
    }
    return as_high / all;
}

std::string never_text(const gate_finding& one, const experiment_record& record) {
    if (!record.baseline.empty())
        return fmt::format("never now, and never in {} of {}", one.never.baseline,
                           base::format_amount(one.never.blocks, "kept result"));
    return fmt::format("never in {} of {}, and in {} of {}", one.never.variant,
                       base::format_amount(one.never.blocks, "block"), one.never.baseline,
                       in_quotes(record.variants.front().name));
}

// A number now is better than those kept results that were never, and compared with the others: by
// chance it would be as these are.
bool is_by_rank(const gate_finding& one, const experiment_record& record) {
    return record.baseline.empty() ? one.never.any() : one.never.variant > 0;
}

// What stands behind a sentence: what a gate could not be asked of.
std::string rest_text(const gate_finding& one, const experiment_record& record) {
    std::string text;
    if (one.left_out > 0)
        text += fmt::format("; of {} it is not known", base::format_amount(one.left_out, "block"));
    if (!record.baseline.empty() && one.never.baseline > 0 && one.never.variant == 0)
        text += fmt::format("; never in {} of {}", one.never.baseline,
                            base::format_amount(one.never.blocks, "kept result"));
    return text;
}

std::string change_text(double ratio) {
    return is_large(ratio) ? factor_text(ratio) + " times" : percent(ratio);
}

}  // namespace

metric gate::of(const verdict_rules& rules) const {
    if (about) return *about;
    return rules.about == metric::capacity ? metric::capacity : metric::messages;
}

base::expected<gate> parse_gate(std::string_view text) {
    const auto sign = text.find_first_of("<>");
    if (sign == text.npos || !text.ends_with('%')) return no_gate(text);
    const auto gates = all_gated();
    const auto named = std::ranges::find(gates, text.substr(0, sign), &gated::name);
    if (named == gates.end()) return no_gate(text);
    gate made{.text = std::string(text), .about = named->about};
    made.bound.is_above = text[sign] == '>';
    if (made.bound.is_above != !named->about.has_value())
        return base::fail("\"{}\": {} of it is worse; want {}{}", base::printable(text, 60),
                          named->about ? "more" : "less", named->name,
                          named->about ? "<+5%" : ">-5%");
    std::string_view change = text.substr(sign + 1, text.size() - sign - 2);
    const bool is_less = change.starts_with('-');
    if (is_less || change.starts_with('+')) change.remove_prefix(1);
    const auto share = base::parse_number(change);
    if (!share || *share > (is_less ? 99 : most_more * 100)) return no_gate(text);
    made.bound.ratio = 1 + (is_less ? -*share : *share) / 100;
    return made;
}

const metric_result* metric_of(const gate& one, const experiment_record& record,
                               const analysis& found) {
    const metric wanted = one.of(record.verdict);
    const std::size_t program = is_of_run(wanted) ? 0 : record.verdict.program;
    const auto at = std::ranges::find_if(found.metrics, [&](const metric_result& each) {
        return each.about == wanted && each.program == program;
    });
    return at == found.metrics.end() ? nullptr : &*at;
}

std::vector<gate_finding> judge_gates(const experiment_record& record, const analysis& found) {
    const bool is_against_kept = !record.baseline.empty();
    std::vector<std::size_t> variants;
    for (std::size_t i = is_against_kept ? 0 : 1; i < record.variants.size(); ++i)
        if (!record.variants[i].same_as) variants.push_back(i);
    const auto answers = static_cast<double>(record.gates.size() * variants.size());
    const double alpha = (1 - record.verdict.confidence) / std::max(answers, 1.0);
    std::vector<gate_finding> all;
    for (std::size_t number = 0; number < record.gates.size(); ++number) {
        const auto asked = parse_gate(record.gates[number]);
        if (!asked) continue;  // no record that was read has such a one
        const metric_result* const of = metric_of(*asked, record, found);
        for (const std::size_t variant : variants) {
            gate_finding& one = all.emplace_back(record.gates[number], variant);
            if (of == nullptr) continue;
            one.never = never_for(*of, record, number, variant);
            one.left_out = stats::left_out_of(of->table, is_against_kept ? variant : 0, variant);
            using enum stats::gate_verdict;
            stats::gate_verdict& answer = one.result.verdict;
            if (is_by_rank(one, record)) {
                const double chance =
                    is_against_kept ? chance_of_kept(*of, record, number, variant, asked->bound)
                                    : chance_of_blocks(*of, variant, asked->bound);
                one.result.blocks = one.never.blocks;
                if (chance <= alpha) answer = missed;
            } else {
                const auto sample = is_against_kept ? sample_of_kept(*of, record, number, variant)
                                                    : sample_for(*of, record, variant);
                if (sample) one.result = stats::judge_gate(*sample, asked->bound, alpha);
                // What is typical of the kept ones is never then.
                if (answer == missed && 2 * one.never.baseline >= one.never.blocks &&
                    one.never.any())
                    answer = open;
            }
            // A variant would be the better for blocks of which nothing is known.
            if (answer == kept && one.left_out > 0) answer = none;
            if (found.verdict().compared.voided) answer = none;
        }
    }
    return all;
}

std::string gate_sentence(const gate_finding& one, const experiment_record& record,
                          const analysis& found) {
    const std::string what =
        fmt::format("{} of {}", one.text, in_quotes(record.variants[one.variant].name));
    const stats::gate_result& result = one.result;
    const std::string blocks =
        base::format_amount(result.blocks, record.baseline.empty() ? "block" : "kept result");
    const std::string rest = rest_text(one, record);
    if (found.verdict().compared.voided)
        return fmt::format("{} has no answer: variants that are the same were told apart", what);
    if (is_by_rank(one, record))
        return fmt::format(
            "{} {}: {}{}", what,
            result.verdict == stats::gate_verdict::missed ? "is missed" : "has no answer",
            never_text(one, record), rest);
    if (result.verdict == stats::gate_verdict::none && result.blocks < stats::fewest_blocks)
        return fmt::format("{} has no answer: {} of which it is known, and {} are needed{}", what,
                           blocks, stats::fewest_blocks, rest);
    if (result.verdict == stats::gate_verdict::none)
        return fmt::format("{} has no answer: {} in {}{}", what, change_text(*result.ratio), blocks,
                           rest);
    const std::string change = change_text(*result.ratio);
    const std::string least = change_text((*result.limits)[0]);
    const std::string most = change_text((*result.limits)[1]);
    const std::string sees =
        fmt::format("{} see {} in 4 of 5 experiments", blocks, change_text(*result.shown_from));
    const bool is_above = parse_gate(one.text)->bound.is_above;
    switch (result.verdict) {
        case stats::gate_verdict::kept:
            return fmt::format("{} is kept: {}, {}; {}{}", what, change,
                               is_above ? "at least " + least : "at most " + most, sees, rest);
        case stats::gate_verdict::missed:
            return fmt::format("{} is missed: {}, {}; {}{}", what, change,
                               is_above ? "at most " + most : "at least " + least, sees, rest);
        default:
            return fmt::format("{} is open: {}, between {} and {}; {}{}", what, change, least, most,
                               sees, rest);
    }
}

}  // namespace postal::experiment
