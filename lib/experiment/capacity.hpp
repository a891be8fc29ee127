// SPDX-License-Identifier: GPL-3.0-or-later
// [capacity]: the load searches the highest rate that keeps what is promised (--find-rate of postal
// and rabid), and variants are compared by what was found.
//
// A run's value is the rate of its search, between its two bounds. One whose search found no two
// bounds has none: it voids its block, with the search's own sentence. One program searches; others
// have joined it, each with a share of the load and promises of its own.
#pragma once

#include "experiment/analysis.hpp"
#include "experiment/section.hpp"
#include "stats/run_record.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace postal::experiment {

// The defaults of a load that searches, before the file's [load] is read; its rules come behind
// that, for what may be promised depends on the program.
void expect_search(load& of);
void read_capacity(section of, load& into);
// Why a load's word has no place beside [capacity], or without it; empty where it has one.
[[nodiscard]] std::string refusal_of(std::string_view option, bool searches);

// Of one of the programs: the one that searches, or one beside it. Their sockets are in `folder`.
[[nodiscard]] std::vector<std::string> search_words(const load& of, std::size_t program,
                                                    const std::string& folder);

// Messages, or visits, a second.
[[nodiscard]] std::optional<double> found_rate(const stats::run_record& of);
// How wide the step is, in logarithms, that it lies in: from one of its two bounds to the other.
[[nodiscard]] double found_step(const stats::run_record& of);
// Why a run has no such value; empty where it has one.
[[nodiscard]] std::string why_not_found(const stats::run_record& of);
// What was promised in the searches, "p99(message)<1s and errors<0.1%".
[[nodiscard]] std::string promises_of(const results& of);

}  // namespace postal::experiment
