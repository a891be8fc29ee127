// SPDX-License-Identifier: GPL-3.0-or-later
// Percentiles of one phase of a run: how many values stand behind each, and in an open loop with
// what was due and never accepted above all that was.
//
// A percentile that lies among those that were not accepted is not reached: its time is not known,
// only that it is at least so long. Nothing here fails; valid as long as the histograms are.
#pragma once

#include "stats/histogram.hpp"

#include <chrono>
#include <cstdint>
#include <optional>

namespace postal::stats {

struct percentile {
    std::chrono::nanoseconds value{};
    bool reached = true;  // otherwise the value is a lower bound
};

// How far a quantile can be trusted: it needs one value beyond it at least, and is rough with fewer
// than ten.
enum class support { none, few, enough };
[[nodiscard]] support support_of(double q, std::uint64_t count) noexcept;

// Empty where there is no value beyond it.
[[nodiscard]] std::optional<std::chrono::nanoseconds> known_quantile(const histogram& values,
                                                                     double q);

class ranking {
  public:
    // `above`: how long each that was not accepted had waited when it ended; null where only what
    // was accepted counts.
    explicit ranking(const histogram& accepted, const histogram* above = nullptr);

    [[nodiscard]] const histogram& accepted() const noexcept { return accepted_; }
    [[nodiscard]] std::uint64_t count() const noexcept { return all_.count(); }
    // All were accepted.
    [[nodiscard]] bool whole() const noexcept { return all_.count() == accepted_.count(); }
    // As histogram::quantile(); 0 when there is no value at all.
    [[nodiscard]] percentile quantile(double q) const noexcept;
    [[nodiscard]] percentile mean() const noexcept { return {all_.mean(), whole()}; }

  private:
    const histogram& accepted_;
    histogram all_;
};

}  // namespace postal::stats
