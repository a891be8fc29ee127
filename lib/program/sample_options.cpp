// SPDX-License-Identifier: GPL-3.0-or-later
#include "program/sample_options.hpp"

#include "base/text.hpp"
#include "base/units.hpp"
#include "cli/binders.hpp"
#include "sampling/sampler.hpp"
#include "stats/threshold.hpp"

namespace postal::program {

using base::expected;

namespace {

template <class Parse>
cli::setter added(sampling::choice& target, Parse parse) {
    return [&target, parse](const std::string& given) -> expected<void> {
        auto one = parse(given);
        if (!one) return one.error();
        return sampling::add(target, std::move(*one));
    };
}

}  // namespace

cli::group sample_group(sampling::choice& target) {
    using namespace std::chrono_literals;
    cli::option queue{"--queue",
                      "SERVER[:DIRECTORY]",
                      "",
                      "sample how many messages wait in a mail server's queue on this machine",
                      added(target, sampling::parse_queue),
                      true};
    for (const std::string_view one : sampling::queue_kinds)
        queue.known_values.emplace_back(one);
    return {"Samples beside the run",
            {
                std::move(queue),
                {"--sample-command", "NAME=COMMAND", "",
                 "sample what a command prints: a number, or lines of a name and a number",
                 added(target, sampling::parse_sample), true},
                {"--sample-every", "DURATION", base::format_duration(sampling::choice::usual),
                 "time from one sample to the next",
                 [&target](const std::string& given) -> expected<void> {
                     return cli::duration(target.every.emplace(), 100ms, 1h)(given);
                 }},
            }};
}

expected<void> check(const sampling::choice& chosen, const std::vector<std::string>& thresholds) {
    for (const std::string& expression : thresholds) {
        // Those on a phase are known to be right, and none of their bounds is a number.
        const auto asked = stats::threshold::parse(expression, {});
        if (!asked || asked->sampled().empty()) continue;
        const auto known = stats::check_sampled(asked->sampled(), sampling::names_of(chosen));
        if (!known)
            return base::at("--threshold: " + base::printable(expression, 80), known.error());
    }
    if (!chosen.every || chosen.any()) return {};
    return base::fail("--sample-every: nothing is sampled; give --queue or --sample-command too");
}

}  // namespace postal::program
