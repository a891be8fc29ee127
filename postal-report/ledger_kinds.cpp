// SPDX-License-Identifier: GPL-3.0-or-later
#include "postal-report/ledger_kinds.hpp"

#include <algorithm>
#include <utility>

#include "base/units.hpp"

namespace postal::report {

using ledger::discrepancy;

const std::array<kind_words, ledger::discrepancy_count> kinds{
    {{discrepancy::lost, "lost", "Lost", true},
     {discrepancy::vanished, "vanished", "Vanished", true},
     {discrepancy::corrupt, "corrupt", "Corrupt", true},
     {discrepancy::misplaced, "misplaced", "Misplaced", true},
     {discrepancy::duplicated, "duplicated", "Duplicated: each copy too many", false},
     {discrepancy::misdelivered, "misdelivered", "Misdelivered", false},
     {discrepancy::bounced, "bounced", "Bounced", false},
     {discrepancy::missed, "missed-notification",
      "Missed notifications: there, and not told of in IDLE", false},
     {discrepancy::unacknowledged, "unacknowledged", "Delivered without being acknowledged", false},
     {discrepancy::out_of_order, "out-of-order", "Out of order", false},
     {discrepancy::not_known, "not-known", "Not known yet", false},
     {discrepancy::not_looked_for, "not-looked-for", "Not looked for", false}}};

std::string name_of(const kind_words& of) {
    std::string name = of.word;
    std::replace(name.begin(), name.end(), '-', ' ');
    return name;
}

std::uint64_t count_of(const ledger::discrepancy_counts& counts, const kind_words& of) {
    return counts[static_cast<std::size_t>(of.what)];
}

table counted_table(std::string name, std::string title, std::string first,
                    const found_kinds& found) {
    table made{std::move(name), std::move(title), {{std::move(first)}}, {}};
    for (const kind_words* each : found)
        made.columns.push_back({name_of(*each), align::right});
    return made;
}

void add_counts(std::vector<std::string>& row, const ledger::discrepancy_counts& counts,
                const found_kinds& found) {
    for (const kind_words* each : found) {
        const std::uint64_t count = count_of(counts, *each);
        row.push_back(count == 0 ? "" : base::format_count(count));
    }
}

}  // namespace postal::report
