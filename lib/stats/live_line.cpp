// SPDX-License-Identifier: GPL-3.0-or-later
// The live line, and the estimate of the time that is left.
//
// Numbers that make no sense (a rate over no time) are shown as 0 rather than as "nan". The
// estimate by messages supposes that the rest goes as fast as what has been done; with both limits
// the one that ends first counts. ASCII only, so that cutting at the width never cuts a character.
#include "stats/live_line.hpp"

#include "base/digits.hpp"
#include "base/units.hpp"

#include <algorithm>
#include <cmath>

namespace postal::stats {
namespace {

std::string whole_amount(double value) {
    const bool sane = std::isfinite(value) && value > 0 && value < 1e15;
    return base::format_count(sane ? static_cast<std::uint64_t>(std::llround(value)) : 0);
}

}  // namespace

std::string format_live_line(const live_state& state, std::size_t width) {
    const std::string what = state.trial ? fmt::format("trial {}: {}/s", state.trial->number,
                                                       base::format_measured(state.trial->load))
                                         : base::format_amount(state.messages, "message");
    std::string text = fmt::format("{}  {}  {}/s  ", base::format_clock(state.elapsed), what,
                                   whole_amount(state.messages_per_second));
    if (state.appended > 0)
        text += fmt::format("{} appended  ", base::format_count(state.appended));
    if (state.p99) {
        text += fmt::format("p99 {}  ", base::format_latency(*state.p99));
    } else if (state.p50) {
        text += fmt::format("p50 {}  ", base::format_latency(*state.p50));
    }
    text += fmt::format("{}  {} open", base::format_amount(state.errors, "error"),
                        base::format_count(state.open_connections));
    if (state.remaining) text += "  ETA " + base::format_clock(*state.remaining);
    if (text.size() > width) text.resize(width);
    return text;
}

std::optional<std::chrono::nanoseconds> estimate_remaining(const live_state& state,
                                                           std::chrono::nanoseconds duration,
                                                           std::uint64_t messages) {
    std::optional<std::chrono::nanoseconds> remaining;
    if (duration.count() > 0) {
        remaining = std::max(std::chrono::nanoseconds{0}, duration - state.elapsed);
    }
    const double elapsed = static_cast<double>(state.elapsed.count());
    if (messages == 0 || state.messages == 0 || elapsed <= 0) return remaining;
    const auto left = static_cast<double>(messages - std::min(messages, state.messages));
    // Longer than a century is no estimate.
    const double ns = std::min(left * elapsed / static_cast<double>(state.messages), 3.2e18);
    const std::chrono::nanoseconds by_count{static_cast<std::int64_t>(ns)};
    return remaining ? std::min(*remaining, by_count) : by_count;
}

}  // namespace postal::stats
