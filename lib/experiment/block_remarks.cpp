// SPDX-License-Identifier: GPL-3.0-or-later
// Which blocks a verdict rests on: those that stand apart from the others, and whose run that was,
// and those that it lacks.
#include "base/text.hpp"
#include "base/units.hpp"
#include "experiment/figures.hpp"
#include "experiment/findings.hpp"

#include <fmt/format.h>

#include <cmath>
#include <utility>

namespace postal::experiment {

using stats::comparison;
using stats::comparison_verdict;

namespace {

// Whose run it was that made a block stand apart, where other variants tell how the block was.
std::optional<std::size_t> who_stands_apart(const stats::metric_table& table, std::size_t block,
                                            const comparison& one) {
    const auto log_of = [&](std::size_t number, std::size_t which) {
        const auto value = stats::ranked_value(table, number, which);
        return value && std::isfinite(*value) ? std::optional(std::log(*value)) : std::nullopt;
    };
    std::vector<double> away(table.variants);  // of each variant in the block, from its own middle
    std::vector<double> known;
    for (std::size_t variant = 0; variant < table.variants; ++variant) {
        std::vector<double> all;
        for (std::size_t each = 0; each < table.blocks.size(); ++each)
            if (const auto log = log_of(each, variant)) all.push_back(*log);
        const auto here = log_of(block, variant);
        if (!here) continue;
        away[variant] = *here - *median(std::move(all));
        known.push_back(away[variant]);
    }
    if (known.size() < 3) return std::nullopt;
    const double level = *median(known);
    return std::abs(away[one.variant] - level) >= std::abs(away[one.baseline] - level)
               ? one.variant
               : one.baseline;
}

std::string describe_block(const results& of, const analysis& found, const comparison& one,
                           std::size_t block) {
    const stats::metric_table& table = found.verdict().table;
    const auto& values = table.blocks[block].values;
    const auto who = who_stands_apart(table, block, one);
    return fmt::format("block {} ({}{})", found.blocks[block].number,
                       who ? "a run of " + in_quotes(of.record.variants[*who].name) + ", " : "",
                       percent(*values[one.variant] / *values[one.baseline]));
}

void add_outlier(std::vector<remark>& to, const results& of, const analysis& found,
                 const comparison& one) {
    if (!one.without || one.verdict == comparison_verdict::none) return;
    std::vector<std::string> blocks;
    for (const std::size_t block : one.without->blocks)
        blocks.push_back(describe_block(of, found, one, block));
    const std::string pair =
        fmt::format("{} against {}", in_quotes(of.record.variants[one.variant].name),
                    in_quotes(of.record.variants[one.baseline].name));
    comparison others = one;
    others.ratio = one.without->ratio;
    others.interval = one.without->interval;
    if (one.without->verdict == one.verdict)
        to.push_back(
            {"note", fmt::format("{}: {} {} apart; without, the verdict is the same {}", pair,
                                 base::join(blocks, ", "), blocks.size() == 1 ? "stands" : "stand",
                                 ratio_in_brackets(others))});
    else
        to.push_back(
            {"limit", fmt::format("{}: the verdict rests on {}; without, it would be {} "
                                  "{}",
                                  pair, base::join(blocks, ", "), name_of(one.without->verdict),
                                  ratio_in_brackets(others))});
}

// A variant whose bad runs have no value would be the better for them.
void add_left_out(std::vector<remark>& to, const results& of, const comparison& one) {
    if (one.left_out == 0) return;
    to.push_back(
        {"limit", fmt::format("{} against {}: in {} of {} that are not voided a value is "
                              "not known, and the verdict is of the others",
                              in_quotes(of.record.variants[one.variant].name),
                              in_quotes(of.record.variants[one.baseline].name), one.left_out,
                              base::format_amount(one.blocks + one.left_out, "block"))});
}

}  // namespace

std::vector<remark> block_remarks(const results& of, const analysis& found) {
    std::vector<remark> all;
    std::vector<comparison> pairs = found.verdict().compared.comparisons;
    if (found.verdict().compared.same) pairs.push_back(*found.verdict().compared.same);
    for (const comparison& one : pairs)
        add_outlier(all, of, found, one);
    for (const comparison& one : pairs)
        add_left_out(all, of, one);
    return all;
}

}  // namespace postal::experiment
