// SPDX-License-Identifier: GPL-3.0-or-later
// Gates: by how much a variant may be worse than the first one before a build does not pass.
//
//   rate>-5%     its rate is above the first variant's less five percent
//   p99<+20%     its 99th percentile of latency is below the first variant's and a fifth of it
//
// Where earlier results are the baseline (kept_results.hpp), each variant, the first one too, is
// compared with what was kept of it instead.
//
// All gates of all variants share the experiment's 1 - confidence, as its verdicts do. A twin
// (same_as) has none.
#pragma once

#include "base/result.hpp"
#include "experiment/experiment.hpp"
#include "stats/experiment/gate.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace postal::experiment {

inline constexpr std::size_t most_gates = 32;

struct gate {
    std::string text{};             // as it was asked for
    std::optional<metric> about{};  // empty: the rate, of messages or what was found by searches
    stats::gate_bound bound{};

    [[nodiscard]] metric of(const verdict_rules& rules) const;
};

// Fails with one line that says what would be right.
[[nodiscard]] base::expected<gate> parse_gate(std::string_view text);

// What one of them came to for one variant.
struct gate_finding {
    std::string text{};
    std::size_t variant = 0;
    stats::gate_result result{};
    // Where there was never: a change that nobody can put into per cent. It misses the gate where a
    // sign test at the gate's level says that blocks are beyond the bound more often than not
    // (never is beyond every number), and against kept results where it is beyond so many of them
    // that chance would seldom have it so. Else it is no answer.
    stats::never_counts never{};
    // Blocks that are not voided and of which it is not known: with one of them no gate is kept.
    std::size_t left_out = 0;
};

struct analysis;
struct experiment_record;
struct metric_result;

// What a gate is about; nullptr where no run has it.
[[nodiscard]] const metric_result* metric_of(const gate& one, const experiment_record& record,
                                             const analysis& found);

// Of the record's gates in their order, each for every variant that has one. No answer counts
// where two variants that are the same were told apart.
[[nodiscard]] std::vector<gate_finding> judge_gates(const experiment_record& record,
                                                    const analysis& found);

// "rate>-5% of "new" is kept: -0.3 %, at least -2.1 % (8 blocks; ...)"
[[nodiscard]] std::string gate_sentence(const gate_finding& one, const experiment_record& record,
                                        const analysis& found);

}  // namespace postal::experiment
