// SPDX-License-Identifier: GPL-3.0-or-later
#include "experiment/void_runs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <variant>
#include <vector>

#include "base/units.hpp"
#include "experiment/capacity.hpp"
#include "experiment/gate.hpp"
#include "experiment/run_values.hpp"

namespace postal::experiment {
namespace {

using namespace std::chrono_literals;

// A run that is shorter than asked for was cut short; a load's clock may begin a little late.
constexpr double least_share_of_duration = 0.98;

// What the program itself was asked for: readers that watch may linger.
double asked_duration_s(const stats::run_record& of, double otherwise) {
    const stats::option_value* const value = option_of(of, "duration");
    const auto* text = value != nullptr ? std::get_if<std::string>(value) : nullptr;
    const auto asked = text != nullptr ? base::parse_duration(*text)
                                       : base::expected<std::chrono::nanoseconds>(0ns);
    if (!asked || *asked <= 0ns) return otherwise;
    return std::max(otherwise, std::chrono::duration<double>(*asked).count());
}

bool is_about_telling(metric one) {
    return one == metric::announced_p50 || one == metric::announced_p99;
}

std::string errors_text(double share, double most) {
    return fmt::format("{:.1f} % errors, more than {:.1f} %", share * 100, most * 100);
}

}  // namespace

bool asks_who_was_told(const experiment_record& of) {
    return is_about_telling(of.verdict.about) ||
           std::ranges::any_of(of.gates, [&](const std::string& text) {
               const auto one = parse_gate(text);
               return one && is_about_telling(one->of(of.verdict));
           });
}

std::string why_untold(const measured_run& run, const experiment_record& of) {
    for (std::size_t i = 0; i < run.loads.size(); ++i) {
        const load_values& one = run.loads[i];
        if (!one.sessions_open) continue;
        if (!(*one.sessions_open > 0))
            return fmt::format("{}: no session was open", of.programs[i]);
        if (one.errors > of.verdict.max_errors)
            return fmt::format("{}: {}", of.programs[i],
                               errors_text(one.errors, of.verdict.max_errors));
    }
    return {};
}

std::string why_void(const measured_run& run, bool untold_counts, const experiment_record& of) {
    if (run.run.end == run_end::failed) return run.run.reason;
    const std::vector<load_values>& loads = run.loads;
    for (std::size_t i = 0; i < run.records.size(); ++i) {
        const stats::run_record& one = run.records[i];
        // Errors and a limit belong to a search: it says itself what it could not find because of
        // them.
        if (of.verdict.about == metric::capacity) {
            if (i != of.verdict.program) continue;
            const std::string why = why_not_found(one);
            if (!why.empty()) return fmt::format("{}: {}", of.programs[i], why);
            continue;
        }
        const bool is_excused = untold_counts && loads[i].sessions_open;
        if (loads[i].sessions_open) {
            if (!(*loads[i].sessions_open > 0) && !is_excused)
                return fmt::format("{}: no session was open", of.programs[i]);
        } else if (loads[i].messages <= 0) {
            return fmt::format("{}: no message came through", of.programs[i]);
        }
        if (one.generator.verdict == stats::generator_verdict::limit)
            return fmt::format("{}: the load generator was the limit", of.programs[i]);
        if (loads[i].errors > of.verdict.max_errors && !is_excused)
            return fmt::format("{}: {}", of.programs[i],
                               errors_text(loads[i].errors, of.verdict.max_errors));
        const double asked_s = watches(one) ? asked_duration_s(one, of.duration_s) : of.duration_s;
        if (one.duration_s < asked_s * least_share_of_duration)
            return fmt::format("{}: ended after {:.1f} s of {:.1f} s", of.programs[i],
                               one.duration_s, asked_s);
    }
    return {};
}

}  // namespace postal::experiment
