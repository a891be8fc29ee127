// SPDX-License-Identifier: GPL-3.0-or-later
#include "experiment/metrics.hpp"

#include "base/digits.hpp"
#include "base/units.hpp"
#include "experiment/figures.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>

namespace postal::experiment {
namespace {

constexpr double largest_shown = 1e15;

std::uint64_t whole(double value) {
    return static_cast<std::uint64_t>(std::llround(std::clamp(value, 0.0, largest_shown)));
}

}  // namespace

std::string show_rate(double a_second) {
    const double a_minute = a_second * 60;
    if (a_minute < 100) return fmt::format("{:.1f}/min", a_minute);
    return base::format_count(whole(a_minute)) + "/min";
}

std::string show_capacity(double a_second) {
    return base::format_measured(a_second) + "/s";
}

std::string show_microseconds(double value) {
    return base::format_latency(
        std::chrono::nanoseconds(std::llround(std::min(value, 1e12) * 1e3)));
}

std::string show_milliseconds(double value) {
    return fmt::format("{:.3g} ms", value);
}

std::string show_kibibytes(double value) {
    return fmt::format("{:.3g} KiB", value);
}

std::string show_number(double value) {
    return fmt::format("{:.3g}", value);
}

std::string show_octets(double value) {
    return base::format_size(whole(value));
}

std::string show_count(double value) {
    return base::format_count(whole(value));
}

std::string show_value(metric which, const std::optional<double>& value) {
    if (!value) return unknown;
    return is_never(value) ? "never" : described(which).show(*value);
}

}  // namespace postal::experiment
