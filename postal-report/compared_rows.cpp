// SPDX-License-Identifier: GPL-3.0-or-later
#include "postal-report/compared_rows.hpp"

#include <utility>

#include "postal-report/figures.hpp"

namespace postal::report {

std::vector<column> record_columns(const std::vector<record>& records) {
    std::vector<column> columns{{""}};
    for (const record& one : records) {
        columns.push_back({records.size() == 1 ? "" : one.label, align::right});
    }
    return columns;
}

void add_rows(table& to, const std::vector<record>& records,
              const std::vector<compared_row>& rows) {
    for (const compared_row& shown : rows) {
        std::vector<std::string> row{shown.name};
        bool known = false;
        for (const record& one : records) {
            std::string cell = shown.text(one);
            known = known || cell != unknown;
            if (shown.value && &one != &records.front()) {
                cell += show_change(shown.value(one), shown.value(records.front()));
            }
            row.push_back(std::move(cell));
        }
        if (known) to.rows.push_back(std::move(row));
    }
}

}  // namespace postal::report
