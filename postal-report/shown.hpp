// SPDX-License-Identifier: GPL-3.0-or-later
// How whatever is read becomes output: what the options ask for is printed, and the page is
// written.
#pragma once

#include <functional>
#include <string>

#include "base/result.hpp"
#include "cli/main.hpp"
#include "postal-report/csv.hpp"
#include "postal-report/options.hpp"
#include "report/document.hpp"

namespace postal::report {

inline constexpr const char* program_name = "postal-report";

// One line on standard error.
cli::exit_status refuse(const base::failure& reason, cli::exit_status status);

// What is shown, for whichever printer the options ask for.
struct subject {
    std::function<document(medium)> made;
    std::function<sheet()> figures;
};

cli::exit_status show(const options& wanted, const subject& of);

}  // namespace postal::report
