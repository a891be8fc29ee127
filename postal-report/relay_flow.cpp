// SPDX-License-Identifier: GPL-3.0-or-later
#include "postal-report/relay_flow.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <limits>
#include <utility>

namespace postal::report {

namespace {

constexpr std::int64_t us_a_second = 1'000'000;

// Rounded down, also below 0.
std::int64_t divide(std::int64_t value, std::int64_t by) noexcept {
    return value / by - (value % by < 0 ? 1 : 0);
}

// Of times that may be anything without leaving the range.
std::int64_t time_difference(std::int64_t later_us, std::int64_t earlier_us) noexcept {
    constexpr std::int64_t far = std::int64_t{1} << 61U;
    return std::clamp(later_us, -far, far) - std::clamp(earlier_us, -far, far);
}

void keep_latest(std::optional<std::int64_t>& latest, std::int64_t time_us) noexcept {
    latest = std::max(latest.value_or(time_us), time_us);
}

// What of an interval's events lies in a stretch from `from_s` to `to_s`, one behind the other.
class spread {
  public:
    explicit spread(const std::vector<relay_interval>& over)
        : next_(over.begin()), end_(over.end()) {}

    double take(double from_s, double to_s) {
        while (next_ != end_ && next_->end_s <= from_s)
            ++next_;
        if (next_ == end_ || next_->start_s >= to_s) return 0;
        return next_->count * (to_s - from_s) / (next_->end_s - next_->start_s);
    }

  private:
    std::vector<relay_interval>::const_iterator next_;
    std::vector<relay_interval>::const_iterator end_;
};

// Those with events; a moment without length cannot be cut, and gets one.
std::vector<relay_interval> with_events(const std::vector<relay_interval>& all) {
    constexpr double moment_s = 1e-3;
    std::vector<relay_interval> result;
    for (relay_interval one : all) {
        if (!(one.count > 0)) continue;
        if (!result.empty()) one.start_s = std::max(one.start_s, result.back().end_s);
        one.end_s = std::max(one.end_s, one.start_s + moment_s);
        result.push_back(one);
    }
    return result;
}

// Nothing is delivered before anything was accepted: what an interval around that moment has came
// behind it, and what came earlier is other mail.
std::vector<relay_interval> not_before(double began_s, std::vector<relay_interval> all) {
    std::erase_if(all, [&](const relay_interval& one) { return one.end_s <= began_s; });
    if (!all.empty()) all.front().start_s = std::max(all.front().start_s, began_s);
    return all;
}

}  // namespace

void add_up_backlog(relay_curve& curve) noexcept {
    double accepted = 0;
    double left = 0;
    for (relay_stretch& one : curve) {
        accepted += one.accepted;
        left += one.delivered + one.returned;
        one.backlog = std::max(0.0, accepted - left);
    }
}

relay_backlog measure_backlog(const relay_curve& curve) noexcept {
    relay_backlog result;
    const auto has_event = [](const relay_stretch& one) {
        return one.accepted > 0 || one.delivered > 0 || one.returned > 0;
    };
    const auto end = std::find_if(curve.rbegin(), curve.rend(), has_event).base();
    for (auto each = curve.begin(); each != end; ++each) {
        const relay_stretch& one = *each;
        const double length_s = one.end_s - one.start_s;
        result.area_s += (result.left + one.backlog) / 2 * length_s;
        result.left = one.backlog;
        if (one.backlog <= result.peak) continue;
        result.peak = one.backlog;
        result.peak_at_s = one.end_s;
    }
    return result;
}

relay_curve put_together(const relay_curve& curve, std::size_t most) {
    const std::size_t together = std::max<std::size_t>(1, (curve.size() + most - 1) / most);
    relay_curve result;
    for (std::size_t each = 0; each < curve.size(); ++each) {
        if (each % together == 0) {
            result.push_back(curve[each]);
            continue;
        }
        relay_stretch& whole = result.back();
        whole.end_s = curve[each].end_s;
        whole.accepted += curve[each].accepted;
        whole.delivered += curve[each].delivered;
        whole.returned += curve[each].returned;
        whole.backlog = std::max(whole.backlog, curve[each].backlog);
    }
    return result;
}

relay_bins::bin& relay_bins::at(std::int64_t time_us) {
    const std::int64_t second = divide(time_us, us_a_second);
    std::int64_t index = divide(second, width_s_);
    if (bins_.empty()) {
        first_ = index;
        bins_.emplace_back();
    }
    const auto last = [this] { return first_ + static_cast<std::int64_t>(bins_.size()) - 1; };
    constexpr auto most = static_cast<std::int64_t>(most_bins);
    while (std::max(index, last()) - std::min(index, first_) >= most) {
        coarsen();
        index = divide(second, width_s_);
    }
    if (index < first_) {
        bins_.insert(bins_.begin(), static_cast<std::size_t>(first_ - index), bin{});
        first_ = index;
    } else if (index > last()) {
        bins_.resize(static_cast<std::size_t>(index - first_) + 1);
    }
    return bins_[static_cast<std::size_t>(index - first_)];
}

void relay_bins::coarsen() {
    const std::int64_t first = divide(first_, 2);
    std::deque<bin> merged;
    for (std::size_t each = 0; each < bins_.size(); ++each) {
        const std::int64_t index = divide(first_ + static_cast<std::int64_t>(each), 2);
        if (static_cast<std::size_t>(index - first) == merged.size()) merged.emplace_back();
        merged.back().accepted += bins_[each].accepted;
        merged.back().delivered += bins_[each].delivered;
        merged.back().returned += bins_[each].returned;
    }
    bins_ = std::move(merged);
    first_ = first;
    width_s_ *= 2;
}

relay_curve relay_bins::curve_in(const relay_bins& frame) const {
    relay_bins wide = *this;
    while (wide.width_s_ < frame.width_s_)
        wide.coarsen();
    relay_curve result;
    const auto width_s = static_cast<double>(frame.width_s_);
    for (std::size_t each = 0; each < frame.bins_.size(); ++each) {
        const std::int64_t mine = frame.first_ + static_cast<std::int64_t>(each) - wide.first_;
        const bool has = mine >= 0 && mine < static_cast<std::int64_t>(wide.bins_.size());
        const bin counted = has ? wide.bins_[static_cast<std::size_t>(mine)] : bin{};
        result.push_back({.start_s = static_cast<double>(each) * width_s,
                          .end_s = static_cast<double>(each + 1) * width_s,
                          .accepted = static_cast<double>(counted.accepted),
                          .delivered = static_cast<double>(counted.delivered),
                          .returned = static_cast<double>(counted.returned)});
    }
    return result;
}

void transit_times::record(std::int64_t transit_us) noexcept {
    if (transit_us < -clock_bound_us) {
        ++before_sent_;
        furthest_before_us_ = std::max(furthest_before_us_, -transit_us);
    }
    constexpr std::int64_t longest_us = std::numeric_limits<std::int64_t>::max() / 1000;
    times_.record(std::chrono::microseconds(std::clamp<std::int64_t>(transit_us, 0, longest_us)));
}

double transit_times::at_rank_us(std::uint64_t rank) const noexcept {
    return static_cast<double>(times_.at_rank(rank).count()) / 1e3;
}

std::optional<double> transit_times::quantile_us(double q, std::uint64_t all) const noexcept {
    if (count() == 0) return std::nullopt;
    const std::uint64_t rank = stats::histogram::rank_of(q, std::max(all, count()));
    if (rank > count()) return std::nullopt;
    return at_rank_us(rank);
}

namespace {

std::uint64_t relay_counts::*count_of(relay_end what) noexcept {
    constexpr std::array members{&relay_counts::delivered,     &relay_counts::elsewhere,
                                 &relay_counts::refused,       &relay_counts::given_up,
                                 &relay_counts::still_owed,    &relay_counts::not_known,
                                 &relay_counts::not_looked_for};
    return members[static_cast<std::size_t>(what)];
}

}  // namespace

void relay_flow::add(const relayed_message& one) {
    if (!one.accepted_us) {
        ++counts_.unacknowledged;
        return;
    }
    ++counts_.accepted;
    if (one.copies > 1) {
        ++counts_.more_than_once;
        counts_.extra_copies += one.copies - 1;
    }
    ++(counts_.*count_of(one.end));
    bins_.count_accepted(*one.accepted_us);
    keep_latest(last_accepted_us_, *one.accepted_us);
    if (one.returned_us) {
        bins_.count_returned(*one.returned_us);
        keep_latest(last_left_us_, *one.returned_us);
    }
    if (!one.delivered_us) return;
    bins_.count_delivered(*one.delivered_us);
    keep_latest(last_left_us_, *one.delivered_us);
    if (one.sent_us) transit_.record(time_difference(*one.delivered_us, *one.sent_us));
}

relay_curve relay_flow::curve_in(const relay_flow& frame) const {
    relay_curve result = bins_.curve_in(frame.bins_);
    add_up_backlog(result);
    return result;
}

std::optional<double> relay_flow::drain_s() const noexcept {
    if (!last_accepted_us_ || !last_left_us_ || counts_.owed() > 0) return std::nullopt;
    const std::int64_t took_us = time_difference(*last_left_us_, *last_accepted_us_);
    return std::max(0.0, static_cast<double>(took_us) / 1e6);
}

placed_curve curve_of(const std::vector<relay_interval>& accepted,
                      const std::vector<relay_interval>& delivered) {
    const std::vector<relay_interval> in = with_events(accepted);
    placed_curve result;
    if (in.empty()) return result;
    result.began_s = in.front().start_s;
    const std::vector<relay_interval> out = not_before(result.began_s, with_events(delivered));
    if (!out.empty()) result.drain_s = std::max(0.0, out.back().end_s - in.back().end_s);
    std::vector<double> edges;
    for (const auto* list : {&in, &out}) {
        for (const relay_interval& one : *list) {
            edges.push_back(one.start_s);
            edges.push_back(one.end_s);
        }
    }
    std::sort(edges.begin(), edges.end());
    edges.erase(std::unique(edges.begin(), edges.end()), edges.end());
    spread entering(in);
    spread leaving(out);
    for (std::size_t each = 0; each + 1 < edges.size(); ++each) {
        const double from_s = edges[each];
        const double to_s = edges[each + 1];
        result.curve.push_back({.start_s = from_s - result.began_s,
                                .end_s = to_s - result.began_s,
                                .accepted = entering.take(from_s, to_s),
                                .delivered = leaving.take(from_s, to_s)});
    }
    add_up_backlog(result.curve);
    if (std::llround(measure_backlog(result.curve).left) > 0) result.drain_s.reset();
    return result;
}

}  // namespace postal::report
