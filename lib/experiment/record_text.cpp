// SPDX-License-Identifier: GPL-3.0-or-later
// The text of an experiment's record, with what follows from the runs for its readers: names stand
// there for indices, so each part of the analysis is told beside the record.
#include "experiment/analysis.hpp"
#include "experiment/record_fields.hpp"
#include "stats/json_writer.hpp"

namespace postal::experiment {
namespace {

struct context {
    const experiment_record& record;
    const analysis& found;
};

template <class T>
struct told {
    const T& one;
    const context& in;
};

template <class T>
std::vector<told<T>> all_of(const std::vector<T>& list, const context& in) {
    std::vector<told<T>> all;
    for (const T& one : list)
        all.push_back({one, in});
    return all;
}

template <class T>
std::optional<told<T>> where_known(const std::optional<T>& one, const context& in) {
    return one ? std::optional(told<T>{*one, in}) : std::nullopt;
}

template <class Archive>
void verdict_field(Archive& each, stats::comparison_verdict one) {
    each("verdict", std::string(name_of(one)), "", as{.empty_null = true});
}

template <class Archive>
void fields(Archive& each, const told<stats::without_outliers>& of) {
    std::vector<std::uint64_t> blocks;
    for (const std::size_t block : of.one.blocks)
        blocks.push_back(of.in.found.blocks[block].number);
    plain_fields(each, "blocks_apart", blocks, "ratio", of.one.ratio, "interval", of.one.interval);
    verdict_field(each, of.one.verdict);
}

template <class Archive>
void fields(Archive& each, const told<stats::comparison>& of) {
    const stats::comparison& one = of.one;
    plain_fields(each, "variant", of.in.record.variants[one.variant].name, "against",
                 of.in.record.variants[one.baseline].name);
    verdict_field(each, one.verdict);
    plain_fields(each, "few", one.few, "ratio", one.ratio, "interval", one.interval, "level",
                 one.level, "blocks", one.blocks, "voided", one.voided, "left_out", one.left_out,
                 "p_t", one.probability, "p_signs",
                 one.flipped ? std::optional(one.flipped->probability) : std::nullopt,
                 "smallest_detectable", one.smallest_detectable, "blocks_as_seen",
                 one.blocks_as_seen, "needed_blocks", one.needed_blocks, "blocks_for_width",
                 one.blocks_for_width, "without_outliers", where_known(one.without, of.in));
    const stats::never_counts& never = one.never;
    each("never",
         never.any() ? std::vector{never.variant, never.baseline} : std::vector<std::size_t>{}, "",
         where_there);
}

// The variants whose value is infinite, for which JSON has no number.
std::vector<std::uint64_t> never_in(const std::vector<std::optional<double>>& values) {
    std::vector<std::uint64_t> which;
    for (std::size_t variant = 0; variant < values.size(); ++variant)
        if (is_never(values[variant])) which.push_back(variant);
    return which;
}

template <class Archive>
void fields(Archive& each, const told<metric_result>& of) {
    const metric_result& one = of.one;
    auto comparisons = one.compared.comparisons;
    for (stats::comparison& compared : comparisons)
        if (one.compared.voided) compared.verdict = stats::comparison_verdict::none;
    std::vector<std::vector<std::optional<double>>> blocks;
    std::vector<std::vector<std::uint64_t>> never_told;
    bool any = false;
    for (const auto& block : one.table.blocks) {
        blocks.push_back(block.values);
        any = !never_told.emplace_back(never_in(block.values)).empty() || any;
    }
    if (!any) never_told.clear();
    plain_fields(each, "metric", one.about, "program", of.in.record.programs[one.program],
                 "carries_verdict", one.table.carries_verdict, "comparisons",
                 all_of(comparisons, of.in), "same", where_known(one.compared.same, of.in),
                 "typical", one.typical, "blocks", blocks);
    each("never", never_told, "", where_there);
    each("typical_never", never_in(one.typical), "", where_there);
}

template <class Archive>
void fields(Archive& each, const told<gate_finding>& of) {
    const stats::gate_result& one = of.one.result;
    plain_fields(each, "gate", of.one.text, "variant", of.in.record.variants[of.one.variant].name);
    each("verdict", std::string(name_of(one.verdict)), "", as{.empty_null = true});
    plain_fields(each, "ratio", one.ratio, "limits", one.limits, "blocks", one.blocks, "shown_from",
                 one.shown_from);
    each("left_out", of.one.left_out > 0 ? std::optional(of.one.left_out) : std::nullopt, "",
         where_there);
}

template <class Archive>
void fields(Archive& each, const told<growth_result>& of) {
    plain_fields(each, "figure", of.one.what, "program", of.in.record.programs[of.one.program],
                 "exponent", of.one.found.exponent, "interval", of.one.found.interval,
                 "coefficient", of.one.found.coefficient, "blocks", of.one.found.blocks);
}

template <class Archive>
void fields(Archive& each, const told<block_result>& of) {
    plain_fields(each, "block", of.one.number, "runs", of.one.runs);
    each("voided", of.one.voided, "", as{.empty_null = true});
}

template <class Archive>
void fields(Archive& each, const told<stats::drift>& of) {
    plain_fields(each, "change", of.one.change, "interval", of.one.interval);
}

template <class Archive>
void fields(Archive& each, const told<analysis>& of) {
    plain_fields(each, "voided", of.one.verdict().compared.voided, "blocks",
                 all_of(of.one.blocks, of.in), "metrics", all_of(of.one.metrics, of.in));
    each("gates", all_of(of.one.gates, of.in), "", where_there);
    each("growths", all_of(of.one.growths, of.in), "", where_there);
    plain_fields(each, "drift", where_known(of.one.drift, of.in), "flush_median_s",
                 of.one.flush_median_s);
}

}  // namespace

std::string record_text(const experiment_record& record, const analysis& found) {
    const context in{record, found};
    stats::json_writer to(1, {}, stats::decimals::all);
    to("schema", experiment_schema);
    head_fields(to, record);
    to("analysis", told<analysis>{found, in});
    rest_fields(to, record);
    return to.take() + "\n";
}

}  // namespace postal::experiment
