// SPDX-License-Identifier: GPL-3.0-or-later
// Tables whose columns are the records, and whose rows are figures of each of them.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "postal-report/record.hpp"
#include "report/table.hpp"

namespace postal::report {

// What a row shows of a record, and the number that is compared with the first record's.
struct compared_row {
    std::string name;
    std::function<std::string(const record&)> text;
    std::function<std::optional<double>(const record&)> value = {};
};

// A first column for names and one for each record, with its label where there are several.
std::vector<column> record_columns(const std::vector<record>& records);

// Rows that no record knows anything for are left out.
void add_rows(table& to, const std::vector<record>& records, const std::vector<compared_row>& rows);

}  // namespace postal::report
