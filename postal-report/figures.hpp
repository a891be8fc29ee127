// SPDX-License-Identifier: GPL-3.0-or-later
// Numbers as people read them: with separators, units and no more digits than mean something.
//
// What is not known is shown as a dash, never as 0. Nothing here fails: values from a hostile
// record that no unit fits are clamped.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "postal-report/record.hpp"

namespace postal::report {

inline constexpr const char* unknown = "–";

std::string show_latency(std::optional<double> microseconds);
std::string show_latency(std::optional<std::chrono::nanoseconds> time);  // "12.3 ms"
// The same for a figure of a phase; "not reached" where it lies among what was not accepted.
std::string show_latency(const phase* of, time_figure figure);
// "2026-01-01 00:00:00 UTC" from what a record holds; a text of another form stays as it is.
std::string show_time(const std::string& started);

// "1 message", "1,234 messages"
std::string plural(std::uint64_t count, std::string_view one, std::string_view more);
std::string show_seconds(double seconds);  // "10m", "20.5s"
// "TLSv1.3 x 90, TLSv1.2 x 10"
std::string counts_text(const stats::named_numbers& of);
std::string show_number(std::optional<double> value);  // "14,752", "9.75"
std::string show_share(double part, double whole);     // "99.68 %"
std::string show_busy(std::optional<double> share);    // "41.0 %"
// "370.7 MiB/s", of octets in the time measured: without what was finished after the stop.
std::string show_per_second(const record& one, std::uint64_t stats::counts::*octets);

// " (+7.2 %)" against the reference; empty when either is not known, the reference is 0, or the two
// are as good as equal.
std::string show_change(std::optional<double> now, std::optional<double> reference);

// The value of a threshold in the unit that its expression has.
std::string show_threshold_value(const threshold& one);

// "550 5.1.1" or the reason's word when no server sent a code.
std::string show_code(const error_entry& one);

// An option's value; several have commas between them.
std::string show_option(const stats::option_value& value);

// The command line with quotes where a shell would need them.
std::string show_command(const record& one);

}  // namespace postal::report
