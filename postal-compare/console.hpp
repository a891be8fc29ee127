// SPDX-License-Identifier: GPL-3.0-or-later
// What an experiment says while it goes on, on standard error: a live line on a terminal, and a
// line for each run that has ended.
#pragma once

#include "experiment/analysis.hpp"
#include "experiment/experiment.hpp"
#include "experiment/live_console.hpp"
#include "experiment/plan.hpp"
#include "experiment/run.hpp"

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace postal::compare {

class console {
  public:
    // `line` outlives it.
    explicit console(experiment::live_console& line) : line_(line) {}

    void begin(const experiment::planned_run& one, const experiment::experiment& whole,
               std::uint64_t blocks);

    // For run_once(); of the run that was begun last. Valid as long as this.
    [[nodiscard]] experiment::progress progress();

    // "block 2 of 6, 3 of 5: barrier=0: 2,875/min (12.3 s with all steps)"; of the run that was
    // noted last in the record.
    void ended(const experiment::results& of, const experiment::planned_run& one);

  private:
    void show(std::string_view step, std::optional<std::chrono::seconds> left);

    experiment::live_console& line_;
    std::string where_;                 // "block 2/6  barrier=0"
    std::uint64_t runs_left_ = 0;       // after this one
    std::chrono::nanoseconds a_run_{};  // how long one takes, as far as that is known
    std::chrono::steady_clock::time_point begun_{};
    std::chrono::nanoseconds spent_{};  // on runs that have ended
    std::uint64_t ended_runs_ = 0;
};

}  // namespace postal::compare
