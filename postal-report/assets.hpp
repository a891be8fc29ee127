// The files of the page that are built into the program; see CMakeLists.txt.
#pragma once

#include <string_view>

namespace postal::report {

extern const std::string_view page_frame;   // page.html
extern const std::string_view page_style;   // page.css
extern const std::string_view page_script;  // page.js

}  // namespace postal::report
