// postal-audit: an experiment in; what a power cut would have lost of each of its variants out.
//
// conduct.cpp goes from variant to variant, variant_audit.cpp from cut to cut; runs are
// lib/experiment's, as postal-compare's are, and so is what the record says (audit_findings.hpp).
#include "experiment/main.hpp"
#include "base/text.hpp"
#include "postal-audit/conduct.hpp"
#include "postal-audit/options.hpp"

#include <fmt/format.h>

namespace {

using namespace postal;

std::string plan_text(const audit::options& given, const experiment::experiment& whole,
                      std::uint64_t) {
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

base::expected<void> check(const audit::options& given, const experiment::experiment& whole) {
    const auto checked = audit::check_machine(given, whole);
    if (!checked) return checked;
    base::print(fmt::format("{}: it can be audited here\n", base::printable(whole.file, 200)));
    return {};
}

}  // namespace

int main(int argc, char** argv) {
    return experiment::run_main<audit::options>({.name = "postal-audit",
                                                 .parse = audit::parse_options,
                                                 .apply = audit::apply,
                                                 .plan = plan_text,
                                                 .check = check,
                                                 .conduct = audit::conduct},
                                                argc, argv);
}
