// SPDX-License-Identifier: GPL-3.0-or-later
// postal-audit: an experiment in; what a power cut would have lost of each of its variants out.
//
// conduct.cpp goes from variant to variant, variant_audit.cpp from cut to cut; runs are
// lib/experiment's, as postal-compare's are; what the record says is lib/audit/findings.hpp's.
#include "experiment/main.hpp"
#include "base/text.hpp"
#include "base/units.hpp"
#include "postal-audit/check.hpp"
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
        "{}: two controls, then {}:\n{}"
        "each: {} recorded; {}, up to {} at each: at most {}\n"
        "A disk takes half a second to some seconds: its server has to start and to be read.\n",
        base::printable(whole.title.empty() ? whole.file : whole.title, 200),
        base::format_amount(variants, "variant"), text, base::format_amount(of.messages, "message"),
        base::format_amount(cuts, "cut"), base::format_amount(of.draws, "disk"),
        base::format_amount(variants * cuts * of.draws, "disk"));
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
