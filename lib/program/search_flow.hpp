// SPDX-License-Identifier: GPL-3.0-or-later
// One program's part of the trials of a search: what falls due of it when, what became of that, and
// what its generator did meanwhile. Its load is a share of the search's.
//
// Flow, for each trial: begin() gives what the program is to be told; note() each time slice that
// it has counted; then part() has its part of what was seen. When messages fall due it computes as
// each worker does, from arrival and seed. Nothing here fails, or reads a clock.
#pragma once

#include "load/pace.hpp"
#include "load/trial.hpp"
#include "stats/capacity/trial.hpp"
#include "stats/generator.hpp"
#include "stats/run_report.hpp"
#include "stats/trial_counts.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace postal::program {

class search_flow {
  public:
    // `phases`: of its tallies; `sessions`: of all; `unit`: what falls due, "messages".
    struct plan {
        std::string program{};
        std::string unit = "messages";
        double share = 1;  // so many for each message of the search's load
        load::arrival arrival = load::arrival::constant;
        std::uint64_t seed = 0;
        std::size_t phases = 0;
        std::size_t due_phase = 0;
        std::uint64_t sessions = 1;
        std::uint64_t at_once = 1;  // messages that a session may have under way
        std::vector<stats::trial_promise> promises{};
    };
    explicit search_flow(plan of);
    [[nodiscard]] const plan& of() const noexcept { return of_; }

    // By how much the schedule is put off, in messages: the first of a trial is due half a step
    // after its begin, so that each trial has as many as its load says.
    static constexpr double put_off = 0.5;

    // Of a trial of the search that has so many messages.
    load::trial begin(const stats::trial_times& times, double messages,
                      std::chrono::steady_clock::time_point start);
    // Nothing more of the trial that goes on is to be begun.
    [[nodiscard]] load::trial end() const;
    // Of the trial that goes on; what comes later than `until` says nothing of its generator.
    void note(const stats::time_slice& counted, std::chrono::nanoseconds until);
    // Of what was due so much has not ended.
    [[nodiscard]] std::uint64_t left() const;
    [[nodiscard]] bool all_ended() const { return left() == 0; }
    [[nodiscard]] std::uint64_t due() const noexcept { return all_due_; }

    // Its part, and the losses of its goals, from `first_goal` on. `queued`: how many messages wait
    // in the server's queue at the end of so many batches.
    capacity::trial_flow part(std::vector<capacity::goal_losses>& goals, std::size_t first_goal,
                              const std::function<std::uint64_t(std::size_t)>& queued) const;
    [[nodiscard]] stats::generator_verdict verdict() const;

    // A session of the trial that goes on, or was the last, had no connection.
    [[nodiscard]] bool failed_to_connect() const;

    // What it missed says, where all its sessions were busy, that more of them may carry more.
    void note_missed(const capacity::trial_flow& seen);
    [[nodiscard]] std::optional<std::uint64_t> sessions_busy() const {
        return all_were_busy_ ? std::optional(of_.sessions) : std::nullopt;
    }

  private:
    [[nodiscard]] stats::generator_load span() const;

    plan of_;
    load::schedule schedule_;  // as every worker has it
    std::uint64_t next_number_ = 0;
    stats::trial_times times_;
    std::vector<std::uint64_t> due_;  // by stretch
    std::uint64_t all_due_ = 0;
    stats::trial_counts seen_;
    stats::time_slice generator_;  // what it did meanwhile
    // An attempt has failed, and none has come about since: between two there may be a whole trial.
    bool unreached_ = false;
    bool all_were_busy_ = false;  // in a trial that was not kept
};

}  // namespace postal::program
