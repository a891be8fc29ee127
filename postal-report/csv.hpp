// SPDX-License-Identifier: GPL-3.0-or-later
// Comma-separated values for spreadsheets and scripts (RFC 4180), of any subject.
//
// Times are in the unit that ends the column's name; what is not known is an empty field; decimal
// points are points in every locale. Lines end in LF. A text that a spreadsheet would take for a
// formula (it begins with =, +, - or @) gets an apostrophe in front, and control characters are
// written as \xNN.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace postal::report {

// A header, and lines of as many fields as it has: made by csv_cell() or csv_decimal(), or whole
// numbers.
struct sheet {
    std::vector<std::string> columns = {};
    std::vector<std::vector<std::string>> rows = {};
};

std::string render_csv(const sheet& of);

// The same as a JSON list of an object for each line: numbers are numbers, what is not known is
// null.
std::string render_json(const sheet& of);

// A text as one field.
std::string csv_cell(const std::string& text);

// A number as one: whole ones as such, others with that many decimals, none with an exponent.
std::string csv_decimal(std::optional<double> value, int places = 3);

}  // namespace postal::report
