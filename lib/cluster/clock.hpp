// How far another machine's clock is from ours, from questions and answers; the arithmetic alone.
//
// We send at `asked`, the other reads its clock at `read`, we hear it at `heard`. The truth lies
// within half of the round trip of read - (asked + heard) / 2, however the way is split, so the
// fastest answer says most (as SKaMPI and NTP do it). Answers of a burst are one measurement; two
// and more bursts that lie apart say how the clocks drift, too. Away from a burst its error grows, by
// what is not known of the drift. Clocks are taken to go evenly, at rates that differ by most_drift or
// less. Nothing here reads a clock or fails.
#pragma once

#include <chrono>
#include <cstddef>
#include <vector>

namespace postal::cluster {

using nanoseconds = std::chrono::nanoseconds;

// Since whatever the clocks count from.
struct clock_answer {
    nanoseconds asked{};
    nanoseconds read{};  // of the other's
    nanoseconds heard{};
};

class clock_estimate {
  public:
    // What the kernel's clocks are slewed by at most (RFC 5905, A.1: MAXFREQ).
    static constexpr double most_drift = 500e-6;

    void add(const clock_answer& one) noexcept;
    // What was added since the last call is a burst of its own.
    void end_burst();

    [[nodiscard]] bool known() const noexcept { return !bursts_.empty(); }
    // The other's clock less ours, when ours says `at`; before, between or after the bursts.
    [[nodiscard]] nanoseconds offset(nanoseconds at) const noexcept;
    // The offset's error then is at most this: half of a round trip, and what drift may have added.
    [[nodiscard]] nanoseconds bound(nanoseconds at) const noexcept;
    // Seconds that the other gains in a second of ours; 0 while bursts do not lie so far apart that
    // their errors cannot explain it.
    [[nodiscard]] double drift() const noexcept;

  private:
    // The fastest answer of one burst.
    struct burst {
        nanoseconds at{};      // ours, the middle
        nanoseconds offset{};  // theirs less ours
        nanoseconds bound{};
    };
    // The fastest of the bursts from one number to another.
    [[nodiscard]] const burst& best(std::size_t from, std::size_t until) const;
    // The drift as it is measured, and by how much it may be another.
    struct slope {
        double drift = 0;
        double doubt = most_drift;
    };
    [[nodiscard]] slope measured_slope() const noexcept;
    [[nodiscard]] nanoseconds bound_of(const burst& one, nanoseconds at) const noexcept;
    // The burst that says most about that time.
    [[nodiscard]] const burst& best_for(nanoseconds at) const noexcept;

    burst current_{};
    bool open_ = false;
    std::vector<burst> bursts_;  // the first, and the last ones
};

}  // namespace postal::cluster
