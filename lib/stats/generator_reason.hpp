// SPDX-License-Identifier: GPL-3.0-or-later
// What generator.cpp judges a span by, and the sentence that says why it judged so. Pure; nothing
// here fails.
#pragma once

#include "stats/generator.hpp"

#include <chrono>
#include <string>
#include <string_view>

namespace postal::stats {

inline constexpr double busy_limit = 0.9;  // also of what a thread did not sleep
inline constexpr std::chrono::milliseconds late_limit{10};
inline constexpr double waited_limit = 0.1;  // on a machine that is full
inline constexpr double steal_limit = 0.1;

// What the hypervisor took from that thread, as a share of its time.
[[nodiscard]] double stolen_from(const thread_share& one, const generator_load& span) noexcept;
// The share of its time in which it did not sleep.
[[nodiscard]] double occupied(const thread_share& one, const generator_load& span) noexcept;
// Processors, or they were taken away.
[[nodiscard]] bool few_idle(const generator_load& span) noexcept;
[[nodiscard]] bool schedule_late(const generator_load& span) noexcept;
[[nodiscard]] bool loop_late(const generator_load& span) noexcept;
// A worker, for a processor.
[[nodiscard]] bool waited(const generator_load& span) noexcept;

// One sentence; empty for no verdict.
[[nodiscard]] std::string reason_of(const generator_load& span, const generator_finding& found,
                                    std::string_view program);

}  // namespace postal::stats
