// SPDX-License-Identifier: GPL-3.0-or-later
// What a ledger says of every message: the summary, on a page with examples, and the rows of one
// kind of discrepancy.
//
// The summary says the result first: how many of the acknowledged messages (one for each recipient)
// are lost or corrupt. A list has one line for each message and nothing else, in the order in which
// they were sent, written one by one, so that its length costs no memory.
#pragma once

#include <string>
#include <vector>

#include "base/result.hpp"
#include "ledger/reader.hpp"
#include "postal-report/announced.hpp"
#include "postal-report/csv.hpp"
#include "postal-report/options.hpp"
#include "report/document.hpp"
#include "stats/histogram.hpp"

namespace postal::report {

struct ledger_report {
    std::string file;
    ledger::answers found;
    stats::histogram delivery;
    announced_report announced;
};

// A failure is one line about the file. For a page it has examples.
base::expected<ledger_report> read_ledger(const options& wanted);

// Prints the list that the options ask for. True when the server has kept its word: all that it
// acknowledged is there, unharmed. A failure is one line about the file.
base::expected<bool> print_list(const options& wanted);

document document_of(const ledger_report& one, medium wanted);
// What only a page has; `result` is the sentence that says what came of it.
void add_ledger_page(document& to, const ledger_report& one, const std::string& result);
// A line for all messages, and one for those of each class of sizes.
sheet sheet_of(const ledger_report& one);
// What was found by sizes; empty where nothing was.
table sizes_table(const ledger::summary& of);
void add_sizes(sheet& to, const std::string& file, const ledger::summary& of);

// What must be known of a ledger before its figures are believed, one sentence each: that nobody
// has looked, that runs have no end, that copies belong to nothing.
std::vector<std::string> ledger_remarks(const ledger::answers& found);

// One line of a list with its end, and what stands before the first.
std::string render_discrepancy(const ledger::discrepancy_row& row, output kind);
std::string discrepancy_header(output kind);

}  // namespace postal::report
