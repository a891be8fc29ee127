// SPDX-License-Identifier: GPL-3.0-or-later
// Single figures of a whole run that are no counters, and the one description of each.
//
// Everything that shows or stores such a figure goes through the rows: the record in both
// directions, its schema and manual, postal-report's tables and CSV, and --metrics. A new figure is
// a member of run_record and its row in figures.cpp. What it is measured from is a tally, which
// travels from rank to rank. Nothing here fails.
#pragma once

#include <optional>
#include <span>
#include <string_view>

namespace postal::stats {

struct run_record;
struct tally;

// In seconds; empty where it is not known.
struct figure {
    std::string_view name;   // in records and CSV, ends in _s
    std::string_view title;  // for people
    std::string_view meaning;
    std::optional<double> run_record::*value;
    std::optional<double> (*measure)(const tally& whole);  // the warm-up included
};

[[nodiscard]] std::span<const figure> all_figures() noexcept;

}  // namespace postal::stats
