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

// That value, which is there, with as many digits as are known of the mean: "4,550,000".
[[nodiscard]] std::string measured_text(const rate_summary& rate,
                                        std::optional<double> rate_summary::*value);

// Of what was counted from the end of the warm-up to the stop: what was finished later has no rate.
// Empty for a time without length.
[[nodiscard]] std::optional<double> a_second(const run_record& of, std::uint64_t counts::*counted);

// Agents that had been started and ended, however.
[[nodiscard]] std::uint64_t ended(const agent_summary& agents) noexcept;

}  // namespace postal::stats
