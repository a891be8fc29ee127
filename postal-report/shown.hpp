// How whatever is read becomes output: what the options ask for is printed, and the page is written.
#pragma once

#include <functional>
#include <string>

#include "base/result.hpp"
#include "cli/main.hpp"
#include "postal-report/html.hpp"
#include "postal-report/options.hpp"

namespace postal::report {

inline constexpr const char* program_name = "postal-report";

// One line on standard error.
cli::exit_status refuse(const base::failure& reason, cli::exit_status status);

// What is shown, in every form.
struct forms {
    std::function<std::string()> text;
    std::function<std::string()> markdown;
    std::function<std::string()> csv;
    std::function<std::string(const page_parts&)> page;
};

cli::exit_status show(const options& wanted, const forms& of);

}  // namespace postal::report
