// The report for a terminal and for a Markdown document: who ran, what must not be overlooked, and
// the tables, result first. Ends in a line feed; safe to print whatever the records hold.
#pragma once

#include <string>
#include <vector>

#include "postal-report/record.hpp"

namespace postal::report {

std::string render_text(const std::vector<record>& records);
std::string render_markdown(const std::vector<record>& records);

}  // namespace postal::report
