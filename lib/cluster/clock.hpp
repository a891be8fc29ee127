// SPDX-License-Identifier: GPL-3.0-or-later
// How far another machine's clock is from ours, from questions and answers; the arithmetic alone.
//
// We send at `asked`, the other reads its clock at `read`, we hear it at `heard`. The truth lies
// within half of the round trip of read - (asked + heard) / 2, however the way is split, so the
// fastest answer says most (as SKaMPI and NTP do it). Answers of a burst are one measurement.
//
// Away from a burst its error grows by what the two clocks may gain on each other, which each
// burst's end is told: nothing is believed of how they went between, for a slew may begin and end
// there. At any time the truth lies where what the bursts before and behind it leave open overlaps.
// Where that is nothing, one of the two was set, stood still, or ran faster than was told: a step.
// What was measured on its other side says nothing any more.
//
// Nothing here reads a clock or fails. Limits: a step that the bound hides is not seen.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace postal::cluster {

using nanoseconds = std::chrono::nanoseconds;

// Since whatever the clocks count from.
struct clock_answer {
    nanoseconds asked{};
    nanoseconds read{};  // of the other's
    nanoseconds heard{};
};

// Seconds that two clocks may gain on each other in a second of ours, where each may gain or lose
// so much in a true one.
constexpr double most_apart(double ours, double theirs) noexcept {
    constexpr double slowest = 0.5;
    return (ours + theirs) / (1 - (ours < slowest ? ours : slowest));
}

class clock_estimate {
  public:
    // Two clocks that nobody slews: each is off by what a kernel corrects at most (RFC 5905, A.1:
    // MAXFREQ).
    static constexpr double usual_drift = most_apart(500e-6, 500e-6);

    void add(const clock_answer& one) noexcept;
    // What was added since the last call is a burst of its own. `most_drift`: seconds that the two
    // may gain on each other in a second, since the burst before and until the next.
    void end_burst(double most_drift = usual_drift);

    [[nodiscard]] bool known() const noexcept { return !bursts_.empty(); }
    // The other's clock less ours, when ours says `at`; before, between or after the bursts.
    [[nodiscard]] nanoseconds offset(nanoseconds at) const noexcept;
    // The offset's error then is at most this.
    [[nodiscard]] nanoseconds bound(nanoseconds at) const noexcept;
    // Seconds that the other gained in a second of ours, on average since the last step; 0 while
    // bursts do not lie so far apart that their errors cannot explain it.
    [[nodiscard]] double drift() const noexcept;

    [[nodiscard]] std::uint64_t steps() const noexcept { return steps_; }
    [[nodiscard]] nanoseconds largest_step() const noexcept { return largest_step_; }

  private:
    // What the offset is within.
    struct range {
        nanoseconds low{};
        nanoseconds high{};

        [[nodiscard]] range wider(double drift, nanoseconds time) const noexcept;
        [[nodiscard]] range within(const range& other) const noexcept;
        [[nodiscard]] bool empty() const noexcept { return high < low; }
    };
    // The fastest answer of one burst.
    struct burst {
        nanoseconds at{};      // ours, the middle
        nanoseconds offset{};  // theirs less ours
        nanoseconds bound{};
        double most_drift = 0;
        bool stepped = false;  // since the one before
        range known{};         // by this and those before

        [[nodiscard]] range measured() const noexcept { return {offset - bound, offset + bound}; }
    };
    using place = std::vector<burst>::const_iterator;
    [[nodiscard]] range known_at(nanoseconds at) const noexcept;
    [[nodiscard]] range known_behind(place first, nanoseconds at) const noexcept;
    void follow(burst& last, const burst& before);
    void forget_one();

    burst current_{};
    bool open_ = false;
    std::vector<burst> bursts_;  // the first, and the last ones
    std::uint64_t steps_ = 0;
    nanoseconds largest_step_{};
};

// Of two lengths, whichever way they point.
[[nodiscard]] inline nanoseconds larger(nanoseconds one, nanoseconds other) noexcept {
    return std::chrono::abs(one) < std::chrono::abs(other) ? other : one;
}

}  // namespace postal::cluster
