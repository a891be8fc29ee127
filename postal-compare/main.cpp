// postal-compare: an experiment in, a verdict on each of its variants out.
//
// The experiment's file becomes a plan of runs; conduct.cpp runs it and keeps the record; what the
// records say is lib/experiment's business (analysis.hpp, findings.hpp), as it is postal-report's.
#include "cli/main.hpp"
#include "base/random.hpp"
#include "base/standard_output.hpp"
#include "base/text.hpp"
#include "experiment/check.hpp"
#include "experiment/experiment.hpp"
#include "os/child.hpp"
#include "postal-compare/conduct.hpp"
#include "postal-compare/options.hpp"
#include "postal-compare/plan_text.hpp"
#include "postal-compare/verify.hpp"

#include <fmt/format.h>

#include <cstdio>

namespace {

using namespace postal;
using cli::exit_status;

constexpr const char* name = "postal-compare";

void print(const std::string& text) {
    base::print(text);
}

exit_status verify(const std::string& folder) {
    const auto made = compare::verify(folder);
    if (!made) return cli::refuse(name, made.error(), exit_status::bad_parameters);
    print(made->text + "\n");
    for (const std::string& one : made->noted)
        print("noted: " + base::printable(one, 400) + "\n");
    for (const std::string& one : made->found)
        print("WRONG: " + base::printable(one, 400) + "\n");
    if (!made->found.empty()) return exit_status::threshold_not_met;
    print("Nothing was left out or changed.\n");
    return exit_status::done;
}

exit_status check(const compare::options& given, const experiment::experiment& whole) {
    const auto checked = experiment::check_machine(
        whole, {.out = compare::results_folder(given), .overwrite = given.overwrite});
    if (!checked) return cli::refuse(name, checked.error(), exit_status::bad_parameters);
    print(fmt::format("{}: {} variants, {} blocks: it can run here\n",
                      base::printable(whole.file, 200), whole.variants.size(),
                      whole.offered.blocks));
    return exit_status::done;
}

exit_status run(int argc, char** argv) {
    compare::options given;
    const auto parsed = compare::parse_options(given, {argv + 1, argv + argc});
    if (!parsed) return cli::refuse(name, parsed.error(), exit_status::bad_parameters);
    if (*parsed == cli::parse_result::done) return exit_status::done;
    if (!given.verify.empty()) return verify(given.verify);
    auto experiment = experiment::load_experiment(given.experiment, given.set);
    if (!experiment) return cli::refuse(name, experiment.error(), exit_status::bad_parameters);
    const auto applied = compare::apply(given, *experiment);
    if (!applied) return cli::refuse(name, applied.error(), exit_status::bad_parameters);
    const std::uint64_t seed = experiment->offered.seed.value_or(base::fresh_entropy() >> 32U);
    if (given.plan) {
        print(compare::plan_text(*experiment, seed));
        return exit_status::done;
    }
    if (given.check) return check(given, *experiment);
    return compare::conduct(given, *experiment, seed, {argv, argv + argc});
}

}  // namespace

int main(int argc, char** argv) {
    const auto prepared = postal::os::prepare_for_children();
    if (!prepared)
        return static_cast<int>(cli::refuse(name, prepared.error(), exit_status::system_error));
    return cli::run_main(name, [&] { return run(argc, argv); });
}
