// SPDX-License-Identifier: GPL-3.0-or-later
// When messages are due: a rate that may change over time, and how arrivals scatter around it.
//
// Flow:
//   rate_curve curve = rate_curve::constant(10/s)  or  rate_curve::ramp(start, stages)
//   schedule s(curve, arrival::poisson, seed);
//   while (s.due(n) <= now) { ...start the n-th message of the run...; ++n; }
//
// When a message is due depends on its number alone: where the curve's integral reaches that number
// (constant), or the sum of so many unit exponentials (Poisson). So each worker may have a schedule
// of its own: equal seeds agree on every number, whoever starts which. Nothing here reads a clock.
#pragma once

#include <chrono>
#include <cstdint>
#include <string_view>
#include <vector>

#include "base/random.hpp"
#include "base/result.hpp"
#include "base/units.hpp"

namespace postal::load {

enum class arrival : std::uint8_t { constant, poisson };

// Reaches `target` at the end of `lasts`, linearly from the rate before.
struct ramp_stage {
    base::rate target;
    std::chrono::nanoseconds lasts{0};
};

// `100/s@30s,500/s@1m`; a failure names the stage.
base::expected<std::vector<ramp_stage>> parse_stages(std::string_view text);

class rate_curve {
  public:
    static rate_curve constant(base::rate rate);
    // After the last stage the rate stays at its target.
    static rate_curve ramp(base::rate start, const std::vector<ramp_stage>& stages);

    // From then on, behind all that there was before, so many messages fall due in that time, at an
    // even rate; after it nothing does.
    void extend(std::chrono::nanoseconds at, std::chrono::nanoseconds lasts, double messages);

    // Messages due until t seconds after the start.
    double due_until(double t_s) const noexcept;
    // Seconds after the start at which the curve first reaches so many messages: before a plateau
    // of rate 0, not behind it. Infinity if that never comes. Nothing falls due in a plateau that
    // the curve begins with.
    double time_of(double position) const noexcept;
    // Sum of the stages, 0 for a constant rate.
    std::chrono::nanoseconds length() const noexcept;

  private:
    struct piece {
        double start_s;
        double length_s;  // infinite for the last
        double rate;      // a second, at the start
        double slope;     // a second, each second
        double before;    // messages due until the start
    };
    std::vector<piece> pieces_;
};

class schedule {
  public:
    schedule(rate_curve curve, arrival how, std::uint64_t seed);

    // When message `number` of the run, counted from 0, is due after the start;
    // nanoseconds::max() if never. A schedule that was put off is as if so many messages had been
    // begun before.
    std::chrono::nanoseconds due(std::uint64_t number, double put_off = 0) noexcept;
    // By how much to put it off for that message to be due then.
    double put_off(std::uint64_t number, std::chrono::nanoseconds then) noexcept;
    // As the curve.
    void extend(std::chrono::nanoseconds at, std::chrono::nanoseconds lasts, double messages) {
        curve_.extend(at, lasts, messages);
    }
    // Lower numbers are never asked for again: arrivals at random are drawn one after the other.
    void forget_below(std::uint64_t number) noexcept;

  private:
    struct arrivals {
        base::random_source random;
        std::uint64_t drawn = 0;  // gaps
        double position = 0;      // their sum, in messages

        void go_to(std::uint64_t number) noexcept;
    };
    double position_of(std::uint64_t number) noexcept;

    rate_curve curve_;
    arrival how_;
    arrivals lowest_;  // as far as nobody asks for less
    arrivals latest_;  // as far as was asked for last
};

}  // namespace postal::load
