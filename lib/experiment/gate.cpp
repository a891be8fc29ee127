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
constexpr std::array<gated, 6> all_gated{{{"rate", std::nullopt},
                                          {"p50", metric::p50},
                                          {"p99", metric::p99},
                                          {"cpu", metric::cpu},
                                          {"written", metric::written},
                                          {"flushes", metric::flushes}}};
constexpr double most_more = 10;  // times

base::failure no_gate(std::string_view text) {
    return base::fail(
        "\"{}\" is no gate; want rate>-5%, or p50, p99, cpu, written or flushes as in p99<+20%: "
        "the change against the first variant, from -99% to +1000%",
        base::printable(text, 60));
}

std::optional<double> log_of(const std::optional<double>& value) {
    return value && *value > 0 && std::isfinite(*value) ? std::optional(std::log(*value))
                                                        : std::nullopt;
}

// Nothing where there is no value of now.
std::optional<stats::paired_sample> sample_of_kept(const metric_result& of,
                                                   const experiment_record& record,
                                                   std::size_t gate, std::size_t variant) {
    const auto now = log_of(of.typical[variant]);
    if (!now) return std::nullopt;
    std::vector<double> kept;
    for (const kept_result& one : record.kept)
        if (const auto value = log_of(one.values[gate][variant])) kept.push_back(*value);
    return stats::sample_against(kept, *now);
}

// As the experiment's verdicts: where the blocks followed from the first ones' scatter, it is that.
std::optional<stats::paired_sample> sample_for(const metric_result& of,
                                               const experiment_record& record,
                                               std::size_t variant) {
    return stats::sample_of(stats::log_differences(of.table, 0, variant),
                            record.until_width ? stats::pilot_blocks : stats::all_differences);
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
    const auto named = std::ranges::find(all_gated, text.substr(0, sign), &gated::name);
    if (named == all_gated.end()) return no_gate(text);
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
    const metric about = one.of(record.verdict);
    const std::size_t program = is_cost(about) ? 0 : record.verdict.program;
    const auto at = std::ranges::find_if(found.metrics, [&](const metric_result& each) {
        return each.about == about && each.program == program;
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
            gate_finding& one =
                all.emplace_back(record.gates[number], variant, stats::gate_result{});
            if (of == nullptr) continue;
            const auto sample = is_against_kept ? sample_of_kept(*of, record, number, variant)
                                                : sample_for(*of, record, variant);
            if (sample) one.result = stats::judge_gate(*sample, asked->bound, alpha);
            if (found.verdict().compared.voided) one.result.verdict = stats::gate_verdict::none;
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
    if (result.verdict == stats::gate_verdict::none)
        return fmt::format("{} has no answer: {}", what,
                           found.verdict().compared.voided
                               ? "variants that are the same were told apart"
                               : fmt::format("{} of which it is known, and {} are needed", blocks,
                                             stats::fewest_blocks));
    const std::string change = change_text(*result.ratio);
    const std::string least = change_text((*result.limits)[0]);
    const std::string most = change_text((*result.limits)[1]);
    const std::string sees =
        fmt::format("{} see {} in 4 of 5 experiments", blocks, change_text(*result.shown_from));
    const bool is_above = parse_gate(one.text)->bound.is_above;
    switch (result.verdict) {
        case stats::gate_verdict::kept:
            return fmt::format("{} is kept: {}, {}; {}", what, change,
                               is_above ? "at least " + least : "at most " + most, sees);
        case stats::gate_verdict::missed:
            return fmt::format("{} is missed: {}, {}; {}", what, change,
                               is_above ? "at most " + most : "at least " + least, sees);
        default:
            return fmt::format("{} is open: {}, between {} and {}; {}", what, change, least, most,
                               sees);
    }
}

}  // namespace postal::experiment
