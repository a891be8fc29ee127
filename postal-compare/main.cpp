// SPDX-License-Identifier: GPL-3.0-or-later
// postal-compare: an experiment in, a verdict on each of its variants out.
//
// The experiment's file becomes a plan of runs; conduct.cpp runs it and keeps the record; what the
// records say is lib/experiment's business (analysis.hpp, findings.hpp), as it is postal-report's.
#include "experiment/main.hpp"
#include "base/text.hpp"
#include "base/units.hpp"
#include "experiment/check.hpp"
#include "experiment/verify.hpp"
#include "os/terminal_size.hpp"
#include "postal-compare/conduct.hpp"
#include "postal-compare/options.hpp"
#include "postal-compare/plan_text.hpp"

#include <fmt/format.h>

#include <unistd.h>

namespace {

using namespace postal;
using cli::exit_status;

constexpr const char* name = "postal-compare";

std::optional<exit_status> verify(const compare::options& given) {
    if (given.verify.empty()) return std::nullopt;
    const auto made = experiment::verify(given.verify);
    if (!made) return cli::refuse(name, made.error(), exit_status::bad_parameters);
    base::print(report::render_text(made->shown, os::terminal_columns(STDOUT_FILENO)) + "\n");
    for (const std::string& one : made->noted)
        base::print(os::fitted("noted: " + base::printable(one, 400) + "\n", STDOUT_FILENO));
    for (const std::string& one : made->found)
        base::print(os::fitted("WRONG: " + base::printable(one, 400) + "\n", STDOUT_FILENO));
    for (const std::string& one : made->differs)
        base::print(os::fitted("DIFFERS: " + base::printable(one, 400) + "\n", STDOUT_FILENO));
    if (!made->found.empty()) return exit_status::threshold_not_met;
    if (!made->differs.empty()) return exit_status::other_version;
    base::print("Nothing was left out or changed.\n");
    return exit_status::done;
}

base::expected<void> check(const compare::options& given, const experiment::experiment& whole) {
    const auto checked = experiment::check_machine(
        whole, {.out = results_folder(given), .overwrite = given.overwrite});
    if (!checked) return checked;
    base::print(fmt::format("{}: {}, {}: it can run here\n", base::printable(whole.file, 200),
                            base::format_amount(whole.variants.size(), "variant"),
                            base::format_amount(whole.offered.blocks, "block")));
    return {};
}

}  // namespace

int main(int argc, char** argv) {
    return experiment::run_main<compare::options>(
        {.name = name,
         .parse = compare::parse_options,
         .instead = verify,
         .apply = compare::apply,
         .plan = [](const compare::options&, const experiment::experiment& whole,
                    std::uint64_t seed) { return compare::plan_text(whole, seed); },
         .check = check,
         .conduct = compare::conduct},
        argc, argv);
}
