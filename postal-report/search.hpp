// SPDX-License-Identifier: GPL-3.0-or-later
// What a run's search of the highest rate has found, as tables and a chart of the run's report.
//
// Records without a search have none of it. Nothing here fails.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "postal-report/record.hpp"
#include "report/document.hpp"

namespace postal::report {

// The Goal Results of each record that has searched, and what confirmed them.
table goal_table(const std::vector<record>& records);
// What RFC 9971 has of each Search Goal, also where nobody asked for another value.
table search_goal_table(const std::vector<record>& records);
// Each trial of one record.
table trial_table(const record& one);
// Of one record: latency, what was lost, and the backlog against the rate.
std::vector<chart> search_charts(const record& one);
std::string search_data(const record& one);
// Of the goal that decides; without a search there is no number.
capacity::goal_standing found_in(const record& one);
// "80.1 messages/s (79.2 to 81)" of what was found, or why there is no number: "unstable".
std::string found_text(const record& one);
// "406 messages/s (397 to 415), limited by errors"; empty without a search.
std::string found_sentence(const record& one);

}  // namespace postal::report
