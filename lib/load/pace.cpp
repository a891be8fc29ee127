// SPDX-License-Identifier: GPL-3.0-or-later
#include "load/pace.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "base/text.hpp"
#include "base/units.hpp"

namespace postal::load {

namespace {

constexpr double forever = std::numeric_limits<double>::infinity();
constexpr double rounding = 1e-12;  // of a sum of messages, at most

base::expected<ramp_stage> parse_ramp_stage(std::string_view text) {
    const auto at = text.find('@');
    if (at == std::string_view::npos) {
        return base::fail(
            "stage '{}': the duration is missing; give RATE@DURATION, such as 100/s@30s", text);
    }
    ramp_stage result;
    const std::string_view rate = text.substr(0, at);
    if (rate != "0" && rate != "0/s") {
        auto target = base::parse_rate(rate, base::rate_unit::per_second);
        if (!target) return base::fail("stage '{}': {}", text, target.error().message);
        result.target = *target;
    }
    auto lasts = base::parse_duration(text.substr(at + 1));
    if (!lasts) return base::fail("stage '{}': {}", text, lasts.error().message);
    if (lasts->count() <= 0) return base::fail("stage '{}': the duration must be above 0", text);
    result.lasts = *lasts;
    return result;
}

}  // namespace

base::expected<std::vector<ramp_stage>> parse_stages(std::string_view text) {
    std::vector<ramp_stage> result;
    bool any_load = false;
    for (const std::string_view stage : base::split(text, ',')) {
        auto one = parse_ramp_stage(stage);
        if (!one) return one.error();
        any_load = any_load || one->target.per_second > 0;
        result.push_back(*one);
    }
    if (!any_load) return base::fail("stages '{}': no stage has a rate above 0", text);
    return result;
}

rate_curve rate_curve::constant(base::rate rate) {
    rate_curve result;
    result.pieces_.push_back({0, forever, rate.per_second, 0, 0});
    return result;
}

rate_curve rate_curve::ramp(base::rate start, const std::vector<ramp_stage>& stages) {
    rate_curve result;
    double at_s = 0;
    double rate = start.per_second;
    double before = 0;
    for (const ramp_stage& one : stages) {
        const double length_s = base::seconds_of(one.lasts);
        const double slope = (one.target.per_second - rate) / length_s;
        result.pieces_.push_back({at_s, length_s, rate, slope, before});
        before += length_s * (rate + one.target.per_second) / 2;
        at_s += length_s;
        rate = one.target.per_second;
    }
    result.pieces_.push_back({at_s, forever, rate, 0, before});
    return result;
}

void rate_curve::extend(std::chrono::nanoseconds at, std::chrono::nanoseconds lasts,
                        double messages) {
    piece& idle = pieces_.back();
    const double at_s = std::max(base::seconds_of(at), idle.start_s);
    const double length_s = base::seconds_of(lasts);
    const double before = idle.before + idle.rate * (at_s - idle.start_s);
    idle.length_s = at_s - idle.start_s;
    pieces_.push_back({at_s, length_s, messages / length_s, 0, before});
    pieces_.push_back({at_s + length_s, forever, 0, 0, before + messages});
}

double rate_curve::due_until(double t_s) const noexcept {
    auto one = pieces_.rbegin();
    while (t_s < one->start_s && std::next(one) != pieces_.rend())
        ++one;
    const double x = std::max(0.0, t_s - one->start_s);
    return one->before + one->rate * x + one->slope * x * x / 2;
}

// Solves before + rate*x + slope*x*x/2 = position for x within the piece that holds it. Sums of
// stages are rounded, so what the curve reached but for that was reached before any plateau behind
// it.
double rate_curve::time_of(double position) const noexcept {
    auto one = pieces_.rbegin();
    while (position < one->before && std::next(one) != pieces_.rend())
        ++one;
    const double wanted = position - one->before;
    if (wanted <= rounding * (1 + one->before)) {
        const auto idle_before = [&] {
            const auto earlier = std::next(one);
            return one->before > 0 && earlier != pieces_.rend() && earlier->rate == 0 &&
                   earlier->slope == 0;
        };
        while (idle_before())
            ++one;
        if (wanted <= 0 || (one->rate == 0 && one->slope == 0)) return one->start_s;
    }
    const double square = one->rate * one->rate + 2 * one->slope * wanted;
    const double divisor = one->rate + std::sqrt(std::max(square, 0.0));
    return divisor > 0 ? one->start_s + 2 * wanted / divisor : forever;
}

std::chrono::nanoseconds rate_curve::length() const noexcept {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(
        std::chrono::duration<double>(pieces_.back().start_s));
}

schedule::schedule(rate_curve curve, arrival how, std::uint64_t seed)
    : curve_(std::move(curve)),
      how_(how),
      lowest_{base::random_source(base::mix(seed, 0x7363686564756c65, 0))},
      latest_(lowest_) {}

void schedule::arrivals::go_to(std::uint64_t number) noexcept {
    for (; drawn <= number; ++drawn)
        position += random.exponential();
}

void schedule::forget_below(std::uint64_t number) noexcept {
    if (how_ == arrival::constant || lowest_.drawn > number) return;
    if (latest_.drawn <= number + 1) {
        latest_.go_to(number);
        lowest_ = latest_;
    } else {
        lowest_.go_to(number);
    }
}

// The constant schedule's first message is due at once, a Poisson one's after its first gap.
double schedule::position_of(std::uint64_t number) noexcept {
    if (how_ == arrival::constant) return static_cast<double>(number);
    if (latest_.drawn > number + 1) latest_ = lowest_;
    latest_.go_to(number);
    return latest_.position;
}

double schedule::put_off(std::uint64_t number, std::chrono::nanoseconds then) noexcept {
    return curve_.due_until(base::seconds_of(then)) - position_of(number);
}

std::chrono::nanoseconds schedule::due(std::uint64_t number, double put_off) noexcept {
    const double at_s = curve_.time_of(position_of(number) + put_off);
    constexpr double latest_s = 9e9;  // what 63 bits of nanoseconds hold
    return at_s < latest_s ? std::chrono::nanoseconds(static_cast<std::int64_t>(at_s * 1e9))
                           : std::chrono::nanoseconds::max();
}

}  // namespace postal::load
