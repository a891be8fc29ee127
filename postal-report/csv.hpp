// One line of comma-separated values for each record, for spreadsheets and scripts (RFC 4180).
//
// The columns and their order stay, and those of counters follow them; those of phases, TLS and
// agents, at the end, are there when any record has such. Times are in the unit that ends
// the column's name; what is not known is an empty field; decimal points are points in every
// locale. Lines end in LF. A text that a spreadsheet would take for a formula (it begins with =, +,
// - or @) gets an apostrophe in front, and control characters are written as \xNN.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "postal-report/record.hpp"

namespace postal::report {

std::string render_csv(const std::vector<record>& records);

// A text as one field.
std::string csv_cell(const std::string& text);

// A number as one: whole ones as such, others with that many decimals, none with an exponent.
std::string csv_decimal(std::optional<double> value, int places = 3);

// The names of the columns, in order; at the end those of what any of the records has: phases, TLS,
// agents, and a rate that was asked for.
std::vector<std::string> csv_columns(const std::vector<record>& records);

}  // namespace postal::report
