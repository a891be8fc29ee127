// SPDX-License-Identifier: GPL-3.0-or-later
// The files of the page that are built into the program; see CMakeLists.txt.
#pragma once

#include <string_view>

namespace postal::report {

extern const std::string_view page_frame;         // page.html
extern const std::string_view page_style;         // page.css
extern const std::string_view page_script;        // page.js, what all kinds of page need
extern const std::string_view records_script;     // records.js
extern const std::string_view experiment_script;  // experiment.js
extern const std::string_view relay_script;       // relay.js
extern const std::string_view ledger_script;      // ledger.js

}  // namespace postal::report
