// SPDX-License-Identifier: GPL-3.0-or-later
// The one line that changes on a terminal while a run goes on.
//
//   0:42  518,490 messages  12,345/s  p99 18.2 ms  3 errors  12 open  ETA 9:18
//   0:42  trial 7: 412/s  411/s  p99 18.2 ms  3 errors  12 open  ETA 9:18
//
// Without a line end and without control characters: the caller decides when, and puts the CR and
// the erasing in front. Never wider than width. Nothing here fails.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace postal::stats {

// Of run_description::session_states.
inline constexpr std::size_t most_session_states = 24;

// Of a search of the highest rate.
struct live_trial {
    std::uint64_t number = 0;
    double load = 0;  // a second
    std::string why;  // "412/s for 20 s: between 400 and 424"; not in the line
};

struct live_state {
    std::chrono::nanoseconds elapsed{};
    double messages_per_second = 0;
    std::uint64_t messages = 0;
    std::uint64_t errors = 0;
    std::uint64_t open_connections = 0;
    std::optional<std::chrono::nanoseconds> remaining;  // empty: runs until it is stopped
    std::uint64_t appended = 0;                         // by a reader; shown where there are any
    std::uint64_t started = 0;                          // not shown
    // By run_description::session_states; not shown.
    std::array<std::uint64_t, most_session_states> sessions{};
    bool heard = false;  // anything from a peer; not shown
    // Of the messages of the last second, as far as these are enough: the first of them is shown.
    std::optional<std::chrono::nanoseconds> p99{};
    std::optional<std::chrono::nanoseconds> p50{};
    std::optional<live_trial> trial{};
};

[[nodiscard]] std::string format_live_line(const live_state& state, std::size_t width = 79);

// How long it will still take, from a limit of time, of messages, or of both (0: none); empty when
// nothing limits the run, or only a number of messages does and none has come through yet.
[[nodiscard]] std::optional<std::chrono::nanoseconds> estimate_remaining(
    const live_state& state, std::chrono::nanoseconds duration, std::uint64_t messages);

}  // namespace postal::stats
