// SPDX-License-Identifier: GPL-3.0-or-later
// What a run's summary and its reports show alike of its record. Pure; nothing here fails.
#pragma once

#include "stats/run_record.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace postal::stats {

// "messages", or of a reader what its rate is in: "visits".
[[nodiscard]] std::string_view what_is_due(const run_record& of) noexcept;
[[nodiscard]] bool reads_mail(const run_record& of) noexcept;
// What became of a message that counts: "accepted", or of a reader's "read".
[[nodiscard]] std::string_view accepted_word(const run_record& of) noexcept;

// That value with as many digits as are known of the mean: "4,550,000"; "–" where it is not known.
[[nodiscard]] std::string measured_text(const rate_summary& rate,
                                        std::optional<double> rate_summary::*value);
// The 95 % interval of the mean, which stands behind it: "± 2.1"; empty where it is not known.
[[nodiscard]] std::string confidence_text(const rate_summary& rate);
// "18 seconds from 190/s to 220/s", of a `unit` of "/s".
[[nodiscard]] std::string spread_text(const rate_summary& rate, std::string_view stretches,
                                      std::string_view unit);
// "; mean 206 ± 2.1/s at 95 %, within this run", of a `mean` of "206 "; empty without an interval.
[[nodiscard]] std::string mean_text(const rate_summary& rate, std::string_view mean,
                                    std::string_view unit);
// What the rates by second are of: `seconds`, or "stretches of 2 s".
[[nodiscard]] std::string stretches_text(const run_record& of, std::string_view seconds);

// Of what was counted from the end of the warm-up to the stop: what was finished later has no rate.
// Empty for a time without length.
[[nodiscard]] std::optional<double> a_second(const run_record& of, std::uint64_t counts::*counted);

// Whether messages waited so long for a session that the latencies leave out much of it.
[[nodiscard]] bool leaves_out_waits(const cap_summary& cap) noexcept;

// "1.20 s user, 0.34 s system"
[[nodiscard]] std::string processor_time_text(double user_s, double system_s);

// Agents that had been started and ended, however.
[[nodiscard]] std::uint64_t ended(const agent_summary& agents) noexcept;
// Processor seconds of one of them; nothing where none had ended.
[[nodiscard]] std::optional<double> processor_s_of_each(const agent_summary& agents) noexcept;

// "412 us", "0.12 %", "1,234 messages/min", or a count, below a hundred with its fraction; empty
// where nothing was measured.
[[nodiscard]] std::string threshold_value_text(const threshold_result& result);
// The same, or why there is none: of what a search was to find (--at-least) there may be bounds all
// the same.
[[nodiscard]] std::string threshold_text(const threshold_result& result);

}  // namespace postal::stats
