// When messages are due: a rate that may change over time, and how arrivals scatter around it.
//
// Flow:
//   rate_curve curve = rate_curve::constant(10/s)  or  rate_curve::ramp(start, stages)
//   schedule s(curve, arrival::poisson, seed, part{worker, workers});
//   while (s.due() <= now) { ...start one...; s.advance(); }
//
// A pure function of position and time: the n-th message of a run is due where the curve's integral
// reaches n (constant), or the sum of n unit exponentials (Poisson). With several workers each
// takes its part of the same schedule, so that the whole has the rate that was asked for. Nothing
// here reads a clock.
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
struct stage {
    base::rate target;
    std::chrono::nanoseconds lasts{0};
};

// `100/s@30s,500/s@1m`; a failure names the stage.
base::expected<std::vector<stage>> parse_stages(std::string_view text);

class rate_curve {
  public:
    static rate_curve constant(base::rate rate);
    // After the last stage the rate stays at its target.
    static rate_curve ramp(base::rate start, const std::vector<stage>& stages);

    // Messages due until t seconds after the start.
    double due_until(double t_s) const noexcept;
    // Seconds after the start at which `position` messages are due; infinity if that never comes.
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

// Which worker's share of the schedule it is.
struct part {
    unsigned index = 0;
    unsigned of = 1;
};

class schedule {
  public:
    schedule(rate_curve curve, arrival how, std::uint64_t seed, part share);

    // When the next message of this share is due, after the start of the run;
    // nanoseconds::max() if never.
    std::chrono::nanoseconds due() const noexcept { return due_; }
    void advance() noexcept;

  private:
    rate_curve curve_;
    arrival how_;
    part share_;
    base::random_source random_;
    double position_;
    std::chrono::nanoseconds due_{0};
};

}  // namespace postal::load
