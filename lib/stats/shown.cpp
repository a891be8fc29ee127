// SPDX-License-Identifier: GPL-3.0-or-later
#include "stats/shown.hpp"

#include "base/digits.hpp"
#include "base/units.hpp"
#include "stats/agent_counts.hpp"
#include "stats/rate.hpp"
#include "stats/samples.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>

namespace postal::stats {

bool reads_mail(const run_record& of) noexcept {
    return of.program == "rabid";
}

std::string_view what_is_due(const run_record& of) noexcept {
    return reads_mail(of) ? "visits" : "messages";
}

std::string_view accepted_word(const run_record& of) noexcept {
    return reads_mail(of) ? "read" : "accepted";
}

std::string measured_text(const rate_summary& rate, std::optional<double> rate_summary::*value) {
    if (!(rate.*value) || !std::isfinite(*(rate.*value))) return "–";
    std::optional<double> known;
    if (rate.ci95) {
        known = std::abs((*rate.ci95)[1] - (*rate.ci95)[0]) / 2;
    } else if (rate.stddev && rate.count > 1) {
        known = std::abs(*rate.stddev) / std::sqrt(static_cast<double>(rate.count));
    }
    return base::format_measured(*(rate.*value), known);
}

std::string confidence_text(const rate_summary& rate) {
    if (!rate.ci95) return {};
    const auto [low, high] = *rate.ci95;
    if (!std::isfinite(high - low) || high < low) return {};
    return confidence_text(low, high);
}

std::string spread_text(const rate_summary& rate, std::string_view stretches,
                        std::string_view unit) {
    return fmt::format("{} {} from {}{} to {}{}", rate.count, stretches,
                       measured_text(rate, &rate_summary::min), unit,
                       measured_text(rate, &rate_summary::max), unit);
}

std::string mean_text(const rate_summary& rate, std::string_view mean, std::string_view unit) {
    const std::string confidence = confidence_text(rate);
    if (confidence.empty()) return {};
    return fmt::format("; mean {}{}{} at 95 %, within this run", mean, confidence, unit);
}

std::string stretches_text(const run_record& of, std::string_view seconds) {
    const double width_s = of.seconds.width_s;
    return width_s > 1 ? fmt::format("stretches of {:.0f} s", width_s) : std::string(seconds);
}

std::optional<double> a_second(const run_record& of, std::uint64_t counts::*counted) {
    if (!(of.measured_s > 0)) return std::nullopt;
    auto measured = static_cast<double>(of.totals.*counted);
    for (const interval_row& one : of.intervals)
        measured -= one.draining ? static_cast<double>(one.*counted) : 0;
    return measured / of.measured_s;
}

bool leaves_out_waits(const cap_summary& cap) noexcept {
    constexpr double busy_share = 0.01;  // of the time, all sessions
    return cap.all_busy >= busy_share;
}

std::string processor_time_text(double user_s, double system_s) {
    return fmt::format("{:.2f} s user, {:.2f} s system", user_s, system_s);
}

std::uint64_t ended(const agent_summary& agents) noexcept {
    std::uint64_t sum = 0;
    for (const named_count& one : agents.exits)
        sum += one.name == not_started_end ? 0 : one.count;
    return sum;
}

std::optional<double> processor_s_of_each(const agent_summary& agents) noexcept {
    const std::uint64_t all = ended(agents);
    if (all == 0) return std::nullopt;
    return (agents.cpu_user_s + agents.cpu_system_s) / static_cast<double>(all);
}

std::string threshold_value_text(const threshold_result& result) {
    constexpr double longest_us = 1e15;
    if (!result.value) return {};
    if (result.unit == "us") {
        const double us = std::clamp(*result.value, 0.0, longest_us);
        return (result.reached ? "" : "not reached; at least ") +
               base::format_latency(std::chrono::nanoseconds{std::llround(us * 1e3)});
    }
    const bool is_sampled = result.unit.empty() && *result.value != std::floor(*result.value);
    if (is_sampled) return sample_text(*result.value);
    if (result.unit == "%") return fmt::format("{:.2f} %", *result.value);
    return base::format_number(*result.value) + (result.unit.empty() ? "" : " ") + result.unit;
}

std::string threshold_text(const threshold_result& result) {
    if (result.value) return threshold_value_text(result);
    return result.expression.starts_with("find-rate") ? "no rate was found"
                                                      : "nothing was measured";
}

}  // namespace postal::stats
