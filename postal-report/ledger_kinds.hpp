// SPDX-License-Identifier: GPL-3.0-or-later
// What can be found of a message in a ledger, in the words of reports, and tables that count it.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "ledger/findings.hpp"
#include "report/table.hpp"

namespace postal::report {

struct kind_words {
    ledger::discrepancy what;
    const char* word;  // of --list
    const char* title;
    bool grave;  // a broken promise
};

using found_kinds = std::vector<const kind_words*>;

// In the order in which people want to know.
extern const std::array<kind_words, ledger::discrepancy_count> kinds;
std::string name_of(const kind_words& of);
std::uint64_t count_of(const ledger::discrepancy_counts& counts, const kind_words& of);

// A column for each kind that there is.
table counted_table(std::string name, std::string title, std::string first,
                    const found_kinds& found);
void add_counts(std::vector<std::string>& row, const ledger::discrepancy_counts& counts,
                const found_kinds& found);

}  // namespace postal::report
