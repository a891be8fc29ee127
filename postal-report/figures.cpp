// SPDX-License-Identifier: GPL-3.0-or-later
#include "postal-report/figures.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include "base/digits.hpp"
#include "base/text.hpp"
#include "base/units.hpp"
#include "stats/rate.hpp"
#include "stats/shown.hpp"

namespace postal::report {

namespace {

// Some 31 years: far above what is measured, far below what nanoseconds can hold.
constexpr double longest_s = 1e9;

std::chrono::nanoseconds to_nanoseconds(double seconds) {
    const double within = std::clamp(seconds, 0.0, longest_s);
    return std::chrono::nanoseconds{std::llround(within * 1e9)};
}

}  // namespace

std::string show_latency(std::optional<double> microseconds) {
    if (!microseconds) return unknown;
    return base::format_latency(to_nanoseconds(*microseconds / 1e6));
}

std::string show_time(const std::string& started) {
    const bool utc = started.size() >= 20 && started[10] == 'T' && started.ends_with('Z');
    return utc ? started.substr(0, 10) + ' ' + started.substr(11, 8) + " UTC" : started;
}

std::string plural(std::uint64_t count, std::string_view one, std::string_view more) {
    return fmt::format("{} {}", base::format_count(count), count == 1 ? one : more);
}

std::string counts_text(const stats::named_numbers& of) {
    std::vector<std::string> pieces;
    for (const stats::named_count& one : of)
        pieces.push_back(fmt::format("{} x {}", one.name, base::format_count(one.count)));
    return base::join(pieces, ", ");
}

std::string show_seconds(double seconds) {
    // Finer than a tenth says nothing about a run, and a millisecond matters only in a short one.
    const double step = seconds < 1 ? 1e-3 : 1e-1;
    return base::format_duration(to_nanoseconds(std::round(seconds / step) * step));
}

std::string show_number(std::optional<double> value) {
    return value && std::isfinite(*value) ? base::format_number(*value) : unknown;
}

std::string show_share(double part, double whole) {
    if (!(whole > 0)) return unknown;
    const double percent = part / whole * 100;
    if (part > 0 && percent < 0.01) return "< 0.01 %";
    // 99.999 % must not read as all of them.
    if (part < whole && percent > 99.99) return "> 99.99 %";
    return fmt::format("{:.2f} %", percent);
}

std::string show_busy(std::optional<double> share) {
    return share ? fmt::format("{:.1f} %", std::min(*share, 1e6) * 100) : unknown;
}

std::string show_latency(std::optional<std::chrono::nanoseconds> time) {
    return show_latency(us(time));
}

std::string show_latency(const phase* of, time_figure figure) {
    const auto value = value_of(of, figure);
    return value || of == nullptr || of->not_accepted == 0 ? show_latency(value) : "not reached";
}

std::string show_per_second(const record& one, std::uint64_t stats::counts::*octets) {
    const auto rate = stats::a_second(one, octets);
    return rate ? base::format_octet_rate(std::clamp(*rate, 0.0, 1e18)) : unknown;
}

std::string show_change(std::optional<double> now, std::optional<double> reference) {
    if (!now || !reference || !(*reference > 0)) return {};
    const double percent = (*now / *reference - 1) * 100;
    if (!std::isfinite(percent) || std::abs(percent) < 0.05) return {};
    const double times = *now / *reference;
    if (times >= 999.5) return fmt::format(" ({} times)", show_number(times));
    if (percent >= 1000) return fmt::format(" ({:.3g} times)", times);
    return fmt::format(" ({:+.1f} %)", percent);
}

std::string show_threshold_value(const threshold& one) {
    return one.value ? stats::threshold_value_text(one) : unknown;
}

std::string show_code(const error_entry& one) {
    if (one.code == 0) return one.detail.empty() ? unknown : one.detail;
    return fmt::format("{}{}{}", one.code, one.detail.empty() ? "" : " ", one.detail);
}

std::string show_option(const stats::option_value& value) {
    if (const auto* text = std::get_if<std::string>(&value)) return *text;
    if (const auto* texts = std::get_if<std::vector<std::string>>(&value))
        return base::join(*texts, ", ");
    return std::to_string(std::get<std::uint64_t>(value));
}

std::string show_command(const record& one) {
    return base::shell_line(one.argv, [](char c) {
        return base::is_shell_plain(c) || c == '[' || c == ']' || c == '^';
    });
}

}  // namespace postal::report
