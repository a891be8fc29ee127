// postal-audit: an experiment in; what a power cut would have lost of each of its variants out.
//
// conduct.cpp goes from variant to variant, variant_audit.cpp from cut to cut; runs are
// lib/experiment's, as postal-compare's are, and so is what the record says (audit_findings.hpp).
#include "cli/main.hpp"
#include "base/random.hpp"
#include "base/standard_output.hpp"
#include "base/text.hpp"
#include "experiment/experiment.hpp"
#include "os/child.hpp"
#include "postal-audit/conduct.hpp"
#include "postal-audit/options.hpp"

#include <fmt/format.h>

namespace {

using namespace postal;
using cli::exit_status;

constexpr const char* name = "postal-audit";

std::string plan_text(const audit::options& given, const experiment::experiment& whole) {
    std::string text;
    std::uint64_t variants = 0;
    for (const experiment::variant& one : whole.variants) {
        if (!audit::is_wanted(given, one.name)) continue;
        ++variants;
        text += fmt::format("  {}\n", base::printable(one.name, 100));
    }
    const experiment::audit& of = whole.audited;
    const std::uint64_t cuts = given.cut_at ? 1 : of.cuts;
    return fmt::format(
        "{}: two controls, then {} variants:\n{}"
        "each: {} messages recorded; {} cuts, up to {} disks at each: at most {} disks\n"
        "A disk takes half a second to some seconds: its server has to start and to be read.\n",
        base::printable(whole.title.empty() ? whole.file : whole.title, 200), variants, text,
        of.messages, cuts, of.draws, variants * cuts * of.draws);
}

exit_status run(int argc, char** argv) {
    audit::options given;
    const auto parsed = audit::parse_options(given, {argv + 1, argv + argc});
    if (!parsed) return cli::refuse(name, parsed.error(), exit_status::bad_parameters);
    if (*parsed == cli::parse_result::done) return exit_status::done;
    auto experiment = experiment::load_experiment(given.experiment, given.set);
    if (!experiment) return cli::refuse(name, experiment.error(), exit_status::bad_parameters);
    const auto applied = audit::apply(given, *experiment);
    if (!applied) return cli::refuse(name, applied.error(), exit_status::bad_parameters);
    if (given.plan) {
        base::print(plan_text(given, *experiment));
        return exit_status::done;
    }
    if (given.check) {
        const auto checked = audit::check_machine(given, *experiment);
        if (!checked) return cli::refuse(name, checked.error(), exit_status::bad_parameters);
        base::print(
            fmt::format("{}: it can be audited here\n", base::printable(experiment->file, 200)));
        return exit_status::done;
    }
    const std::uint64_t seed = experiment->offered.seed.value_or(base::fresh_entropy() >> 32U);
    return audit::conduct(given, *experiment, seed, {argv, argv + argc});
}

}  // namespace

int main(int argc, char** argv) {
    const auto prepared = postal::os::prepare_for_children();
    if (!prepared)
        return static_cast<int>(cli::refuse(name, prepared.error(), exit_status::system_error));
    return cli::run_main(name, [&] { return run(argc, argv); });
}
