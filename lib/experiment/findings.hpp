// SPDX-License-Identifier: GPL-3.0-or-later
// What an experiment found, in words and tables, for every output: result first.
//
// Texts hold names from the experiment as they are; each renderer makes them harmless.
#pragma once

#include "experiment/analysis.hpp"
#include "report/document.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace postal::experiment {

using report::remark;

// One sentence for each comparison that carries the verdict, in the order of the variants; where
// there is only one variant, its figure.
[[nodiscard]] std::vector<std::string> verdict_sentences(const results& of, const analysis& found);

// Latency beside cost: one sentence for each comparison of an experiment that knows how soon
// readers were told, or what it costs that they wait. Of typical values; what is sure of them, the
// tables say.
[[nodiscard]] std::vector<std::string> told_sentences(const results& of, const analysis& found);

// One sentence for each gate and variant.
[[nodiscard]] std::vector<std::string> gate_sentences(const results& of, const analysis& found);

// One sentence for each figure that grows with the size that variants differ in.
[[nodiscard]] std::vector<std::string> growth_sentences(const results& of, const analysis& found);

// What must not be overlooked, gravest first: an A/A pair that was told apart, damaged files,
// blocks that a verdict rests on, voided blocks, a device whose flushes cost nothing, a drift, a
// warm-up that was too short.
[[nodiscard]] std::vector<remark> remarks(const results& of, const analysis& found);

// Of these: each pair of which blocks stand apart from its others, with what it would say without
// them, and each that lacks values of blocks.
[[nodiscard]] std::vector<remark> block_remarks(const results& of, const analysis& found);

// "6 blocks of 4 variants, 30s each with 5s warm-up, on HOST, started 2026-..."
[[nodiscard]] std::string describe(const results& of, const analysis& found);

[[nodiscard]] report::table verdict_table(const results& of, const analysis& found);
[[nodiscard]] report::table metric_table(const results& of, const analysis& found,
                                         const metric_result& one);
// What a message cost, by variant.
[[nodiscard]] report::table cost_table(const results& of, const analysis& found);
// How each figure grows with the size, and what it is at each.
[[nodiscard]] report::table growth_table(const results& of, const analysis& found);
[[nodiscard]] report::table gate_table(const results& of, const analysis& found);
[[nodiscard]] report::table block_table(const results& of, const analysis& found);
[[nodiscard]] report::table run_table(const results& of);
[[nodiscard]] report::table variant_table(const results& of);
[[nodiscard]] report::table setting_table(const results& of);

// All of these but empty ones, in this order.
[[nodiscard]] std::vector<report::table> tables(const results& of, const analysis& found);

// The verdict on the variant of that name: "faster", "undecided"; "none" without one.
[[nodiscard]] std::string verdict_on(std::string_view name, const experiment_record& record,
                                     const analysis& found);

// What a metric's values are: "messages/s", "p99 latency".
[[nodiscard]] std::string title_of(metric one);
// "+12.3 % (+10.1 % to +14.6 %)", or from a factor of 2 on "2.31 times (2.20 to 2.43)".
[[nodiscard]] std::string show_ratio(const stats::comparison& one);
// The same for a sentence: "(+12.3 %, +10.1 % to +14.6 %)".
[[nodiscard]] std::string ratio_in_brackets(const stats::comparison& one);

// Verdicts, what must not be overlooked, and all tables.
[[nodiscard]] report::document document_of(const results& of, const analysis& found,
                                           report::medium wanted);
// With the verdicts and what they cost only.
[[nodiscard]] report::document brief_document_of(const results& of, const analysis& found);

}  // namespace postal::experiment
