// SPDX-License-Identifier: GPL-3.0-or-later
// A Trial (RFC 9971): a load for a while, and what became of it. The search says which, whoever
// asked performs it and hands back what was seen.
//
// Loads are messages a second (visits, with a reader). What is lost for a goal is late, an error,
// not started or not finished: the four together, and what was on time, are all that was due in the
// trial's measured part, of the program whose goal it is: several programs may perform a trial
// together, each with a flow of its own.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace postal::capacity {

// Why a trial is asked for.
enum class trial_step : std::uint8_t {
    start,        // the first of a search
    extend_up,    // no load is known yet that fails
    extend_down,  // none is known that holds
    refine,       // what shorter trials said, again with longer ones
    bisect,       // between the two bounds
    repeat,       // this load is not decided
    confirm       // what was found, once more
};
inline constexpr std::array<std::string_view, 7> trial_step_words{
    "start", "extend_up", "extend_down", "refine", "bisect", "repeat", "confirm"};
constexpr std::span<const std::string_view> words_of(trial_step) {
    return trial_step_words;
}

// Trial Input.
struct trial_input {
    double load = 0;        // Trial Load
    double settle_s = 0;    // so long under this load first, and not measured
    double duration_s = 0;  // Trial Duration, behind that
    double drain_s = 0;     // so long at most, behind that, for the server's queue to become empty
    // And then, without what has not begun, so long at most, unless it becomes no less for a while.
    double rest_s = 0;
    double patience_s = 5;    // which is that long
    std::size_t batches = 0;  // to count in, of equal length
    trial_step step = trial_step::start;
    std::size_t goal = 0;  // in focus
};

// A trial that is not valid says nothing about the server.
enum class trial_validity : std::uint8_t { valid, generator_limited, machine_full };
inline constexpr std::array<std::string_view, 3> trial_validity_words{"valid", "generator_limited",
                                                                      "machine_full"};
constexpr std::span<const std::string_view> words_of(trial_validity) {
    return trial_validity_words;
}

// A stretch of a trial's measured part.
struct trial_batch {
    std::uint64_t due = 0;
    // At its end: due, and neither finished nor failed, or in the server's queue where that is
    // counted.
    std::uint64_t backlog = 0;
    // Of those that were due in it, for each goal of the search: 0 where it is another flow's.
    std::vector<std::uint64_t> lost;
    // Of those on time the ones that took more than half of what the goal allows; none where it is
    // no time.
    std::vector<std::uint64_t> near;
    std::uint64_t queued = 0;  // of the backlog, in the server's queue
};

// What became, for one goal, of what was due.
struct goal_losses {
    std::uint64_t on_time = 0;
    std::uint64_t late = 0;
    std::uint64_t errors = 0;
    std::uint64_t not_started = 0;   // intended, and not offered: nobody was free to begin it
    std::uint64_t not_finished = 0;  // begun, and under way when nobody waited any longer

    [[nodiscard]] std::uint64_t due() const noexcept { return on_time + lost(); }
    [[nodiscard]] std::uint64_t lost() const noexcept {
        return late + errors + not_started + not_finished;
    }
};

// One program's part of a trial.
struct trial_flow {
    std::uint64_t intended = 0;  // messages that its schedule has: by load and duration
    std::vector<trial_batch> batches;
    std::uint64_t backlog_start = 0;  // when measuring began
    // Of the messages that were accepted meanwhile, settling too, where enough were. Nothing is
    // judged by them.
    std::optional<std::chrono::nanoseconds> p50{};
    std::optional<std::chrono::nanoseconds> p99{};
    // Of its busiest worker the processor time, as a share of the trial's time.
    std::optional<double> generator_busy{};

    [[nodiscard]] std::uint64_t backlog_end() const noexcept {
        return batches.empty() ? backlog_start : batches.back().backlog;
    }
};

// Trial Output: with the flow of the program that searches, and those of others.
struct trial_output : trial_flow {
    double duration_s = 0;  // that was measured: the Trial Effective Duration
    double took_s = 0;      // with settling, and until the queue was empty
    std::vector<goal_losses> goals;
    bool queue_counted = false;
    bool began_with_backlog = false;  // of an earlier trial: it is irregular, and does not count
    bool failed_to_connect = false;   // a session of the program that searches
    trial_validity validity = trial_validity::valid;
    std::vector<trial_flow> beside{};

    // 0: of the program that searches; `beside` from 1 on.
    [[nodiscard]] const trial_flow& flow(std::size_t which) const {
        return which == 0 ? *this : beside.at(which - 1);
    }
    [[nodiscard]] bool counts() const noexcept {
        return validity == trial_validity::valid && !began_with_backlog;
    }
};

}  // namespace postal::capacity
