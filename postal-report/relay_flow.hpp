// SPDX-License-Identifier: GPL-3.0-or-later
// What a relay in the middle did: how much it had accepted and not yet delivered at each moment,
// and how long messages were on their way. Pure arithmetic: events or counts in, curves and figures
// out.
//
// Flow, from events: relay_flow flow; flow.add(message)...; flow.curve_in(frame); flow.transit().
//       from counts: a relay_curve with its stretches; add_up_backlog(curve).
//       then either: measure_backlog(curve).
// Events come in any order and number: they are counted in bins of a second, which become twice as
// long whenever there would be more than most_bins of them. So a flow takes at most some 100 KiB,
// and one event that is years from the others costs the resolution of all.
//
// Backlog is accepted - delivered - returned to the sender, never below 0. A message that never
// arrives and never comes back (it was thrown away, or is in the queue still) stays in it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "stats/histogram.hpp"

namespace postal::report {

// Seconds count from where the curve begins; amounts are recipients' messages, whole ones but where
// a longer interval was cut.
struct relay_stretch {
    double start_s = 0;
    double end_s = 0;
    double accepted = 0;
    double delivered = 0;
    double backlog = 0;   // at its end
    double returned = 0;  // to the sender, as undeliverable

    [[nodiscard]] double per_minute(double amount) const noexcept {
        return end_s > start_s ? amount * 60 / (end_s - start_s) : 0;
    }
};
// One stretch after the other, without gaps.
using relay_curve = std::vector<relay_stretch>;

// Fills in `backlog` from what was accepted, delivered and returned.
void add_up_backlog(relay_curve& curve) noexcept;

struct relay_backlog {
    double peak = 0;
    double peak_at_s = 0;  // the end of the first stretch that has it
    // Message-seconds, up to the last stretch with an event, so that it does not depend on what
    // else is in the frame; between its stretches' ends the curve is straight.
    double area_s = 0;
    double left = 0;  // at the end
};
[[nodiscard]] relay_backlog measure_backlog(const relay_curve& curve) noexcept;

// At most `most` stretches (1 or more), neighbours put together; `backlog` is the highest of them.
[[nodiscard]] relay_curve put_together(const relay_curve& curve, std::size_t most);

// Counts what was accepted, delivered and returned in bins of equal length.
class relay_bins {
  public:
    static constexpr std::size_t most_bins = 4096;

    // In microseconds since the epoch.
    void count_accepted(std::int64_t time_us) { ++at(time_us).accepted; }
    void count_delivered(std::int64_t time_us) { ++at(time_us).delivered; }
    void count_returned(std::int64_t time_us) { ++at(time_us).returned; }

    [[nodiscard]] bool empty() const noexcept { return bins_.empty(); }
    [[nodiscard]] std::int64_t width_s() const noexcept { return width_s_; }
    // Where the first bin begins, in seconds since the epoch.
    [[nodiscard]] std::int64_t start_s() const noexcept { return first_ * width_s_; }

    // A stretch for each bin of `frame`, which has at least all that this has.
    [[nodiscard]] relay_curve curve_in(const relay_bins& frame) const;

  private:
    struct bin {
        std::uint64_t accepted = 0;
        std::uint64_t delivered = 0;
        std::uint64_t returned = 0;
    };
    bin& at(std::int64_t time_us);
    void coarsen();

    // Bin n holds the seconds from n * width_s_ on.
    std::int64_t width_s_ = 1;
    std::int64_t first_ = 0;
    std::deque<bin> bins_;
};

// Times from sending to receipt.
class transit_times {
  public:
    // Two programs on one host may read the clock so far apart.
    static constexpr std::int64_t clock_bound_us = 1000;

    // One below 0, which clocks that differ give, counts as 0.
    void record(std::int64_t transit_us) noexcept;

    [[nodiscard]] std::uint64_t count() const noexcept { return times_.count(); }
    [[nodiscard]] double mean_us() const noexcept { return times_.mean_us(); }
    // Of that rank, from 1 to count(), in ascending order.
    [[nodiscard]] double at_rank_us(std::uint64_t rank) const noexcept;
    // Among `all`, of which those without a time lie above: nothing where one of them is reached.
    [[nodiscard]] std::optional<double> quantile_us(double q, std::uint64_t all) const noexcept;

    // How many lay below 0 by more than clock_bound_us, and by how much the worst did.
    [[nodiscard]] std::uint64_t before_sent() const noexcept { return before_sent_; }
    [[nodiscard]] std::int64_t furthest_before_us() const noexcept { return furthest_before_us_; }

  private:
    stats::histogram times_;
    std::uint64_t before_sent_ = 0;
    std::int64_t furthest_before_us_ = 0;
};

// What became of a message that the relay was given.
enum class relay_end : std::uint8_t {
    delivered,
    elsewhere,      // delivered to an address that it was not sent to
    refused,        // it came back: nobody will ever take it
    given_up,       // it came back: nobody took it in time
    still_owed,     // no copy was seen, and it did not come back
    not_known,      // the same, but one may have been seen by who has not said all
    not_looked_for  // the same, where nobody has looked
};

// One recipient's message.
struct relayed_message {
    std::optional<std::int64_t> accepted_us;   // nothing: that the relay accepted it is not known
    std::optional<std::int64_t> delivered_us;  // its first copy
    std::optional<std::int64_t> sent_us;
    std::optional<std::int64_t> returned_us;  // when who sent it heard that it was not delivered
    relay_end end = relay_end::delivered;
    std::uint64_t copies = 0;
};

struct relay_counts {
    std::uint64_t accepted = 0;  // what follows up to not_looked_for adds up to these
    std::uint64_t delivered = 0;
    std::uint64_t elsewhere = 0;
    std::uint64_t refused = 0;
    std::uint64_t given_up = 0;
    std::uint64_t still_owed = 0;
    std::uint64_t not_known = 0;
    std::uint64_t not_looked_for = 0;
    std::uint64_t more_than_once = 0;  // delivered in more copies than one
    std::uint64_t extra_copies = 0;
    // Delivered, and not known to be accepted: in no other figure.
    std::uint64_t unacknowledged = 0;

    [[nodiscard]] std::uint64_t arrived() const noexcept { return delivered + elsewhere; }
    [[nodiscard]] std::uint64_t returned() const noexcept { return refused + given_up; }
    // As far as anybody knows.
    [[nodiscard]] std::uint64_t owed() const noexcept {
        return still_owed + not_known + not_looked_for;
    }
};

// All mail, or that of one domain.
class relay_flow {
  public:
    void add(const relayed_message& one);

    [[nodiscard]] const relay_counts& counts() const noexcept { return counts_; }
    [[nodiscard]] const relay_bins& bins() const noexcept { return bins_; }
    [[nodiscard]] const transit_times& transit() const noexcept { return transit_; }
    // Stretches for the bins of a flow that has all of this one's messages, with backlogs.
    [[nodiscard]] relay_curve curve_in(const relay_flow& frame) const;
    // From when the last message was accepted to when the last one was delivered or returned, 0
    // when none came behind it. Nothing when none was accepted, and as long as one is owed.
    [[nodiscard]] std::optional<double> drain_s() const noexcept;

  private:
    relay_counts counts_;
    relay_bins bins_;
    transit_times transit_;
    std::optional<std::int64_t> last_accepted_us_;
    std::optional<std::int64_t> last_left_us_;  // delivered or returned
};

// Counts over a span of time, in which the events lie evenly, as a record's interval has them.
struct relay_interval {
    double start_s = 0;
    double end_s = 0;
    double count = 0;
};

// The curve of two lists of intervals, each in order and without overlaps, on one clock. It begins
// with the first interval that accepted, ends with the last that has an event, and has a stretch
// from each end of an interval to the next. What was delivered before it began is left out.
struct placed_curve {
    relay_curve curve;
    double began_s = 0;  // on that clock
    // From the end of the last interval that accepted to that of the last that delivered; nothing
    // when a message is left.
    std::optional<double> drain_s;
};
[[nodiscard]] placed_curve curve_of(const std::vector<relay_interval>& accepted,
                                    const std::vector<relay_interval>& delivered);

}  // namespace postal::report
