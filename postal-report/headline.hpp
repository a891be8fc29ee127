// What stands at the top of the page: the result in large type, what became of the messages, and
// what must not be overlooked. Returns HTML; every text from a record is escaped.
#pragma once

#include <string>
#include <vector>

#include "postal-report/record.hpp"

namespace postal::report {

std::string headline_html(const std::vector<record>& records);
std::string remarks_html(const std::vector<record>& records);

}  // namespace postal::report
