// SPDX-License-Identifier: GPL-3.0-or-later
#include "stats/shown.hpp"

#include "base/digits.hpp"
#include "stats/agent_counts.hpp"

#include <cmath>

namespace postal::stats {

bool reads_mail(const run_record& of) noexcept {
    return of.program == "rabid";
}

std::string_view what_is_due(const run_record& of) noexcept {
    return reads_mail(of) ? "visits" : "messages";
}

std::string measured_text(const rate_summary& rate, std::optional<double> rate_summary::*value) {
    std::optional<double> known;
    if (rate.ci95) {
        known = std::abs((*rate.ci95)[1] - (*rate.ci95)[0]) / 2;
    } else if (rate.stddev && rate.count > 1) {
        known = std::abs(*rate.stddev) / std::sqrt(static_cast<double>(rate.count));
    }
    return base::format_measured(*(rate.*value), known);
}

std::optional<double> a_second(const run_record& of, std::uint64_t counts::*counted) {
    if (!(of.measured_s > 0)) return std::nullopt;
    auto measured = static_cast<double>(of.totals.*counted);
    for (const interval_row& one : of.intervals)
        measured -= one.draining ? static_cast<double>(one.*counted) : 0;
    return measured / of.measured_s;
}

std::uint64_t ended(const agent_summary& agents) noexcept {
    std::uint64_t sum = 0;
    for (const named_count& one : agents.exits)
        sum += one.name == not_started_end ? 0 : one.count;
    return sum;
}

}  // namespace postal::stats
