// SPDX-License-Identifier: GPL-3.0-or-later
#include "cluster/clock.hpp"

#include "base/units.hpp"

#include <algorithm>
#include <cmath>

namespace postal::cluster {

namespace {

constexpr std::size_t kept_bursts = 24;
// A drift is told from the last bursts and the first ones: the best of so many of each.
constexpr std::ptrdiff_t best_of = 4;

}  // namespace

// Times that other ranks tell are plausible: they do not overflow.
clock_estimate::range clock_estimate::range::wider(double drift, nanoseconds time) const noexcept {
    const double away = std::abs(static_cast<double>(time.count()));
    const nanoseconds more(std::llround(std::ceil(drift * away)));
    return {low - more, high + more};
}

clock_estimate::range clock_estimate::range::within(const range& other) const noexcept {
    return {std::max(low, other.low), std::min(high, other.high)};
}

void clock_estimate::add(const clock_answer& one) noexcept {
    if (one.heard < one.asked) return;
    const nanoseconds way = one.heard - one.asked;
    const nanoseconds middle = one.asked + way / 2;
    const nanoseconds bound = (way + nanoseconds(1)) / 2;
    if (open_ && current_.bound <= bound) return;
    current_ = {.at = middle, .offset = one.read - middle, .bound = bound};
    open_ = true;
}

void clock_estimate::end_burst(double most_drift) {
    if (!open_) return;
    open_ = false;
    current_.most_drift = most_drift;
    // They went apart also while the answer came.
    const auto ways = static_cast<double>(current_.bound.count());
    current_.bound += nanoseconds(std::llround(std::ceil(most_drift * ways)));
    current_.known = current_.measured();
    if (known()) follow(current_, bursts_.back());
    bursts_.push_back(current_);
    if (bursts_.size() > kept_bursts) forget_one();
}

// What is known then of the offset, from before; or that the two contradict each other.
void clock_estimate::follow(burst& last, const burst& before) {
    const double drift = std::max(last.most_drift, before.most_drift);
    const range both = before.known.wider(drift, last.at - before.at).within(last.known);
    if (!both.empty()) {
        last.known = both;
        return;
    }
    last.stepped = true;
    ++steps_;
    largest_step_ = larger(largest_step_, last.offset - before.offset);
}

// The first ones stay: the start is among them, and drift shows over a long time.
void clock_estimate::forget_one() {
    const auto gone = bursts_.begin() + best_of;
    const auto next = std::next(gone);
    next->stepped = next->stepped || gone->stepped;
    next->most_drift = std::max(next->most_drift, gone->most_drift);
    bursts_.erase(gone);
}

double clock_estimate::drift() const noexcept {
    const auto whole = std::find_if(bursts_.rbegin(), bursts_.rend(),
                                    [](const burst& one) { return one.stepped; });
    const place begin = whole == bursts_.rend() ? bursts_.begin() : std::prev(whole.base());
    const std::ptrdiff_t all = bursts_.end() - begin;
    if (all < 2) return 0;
    const auto best = [](place from, place until) {
        return *std::min_element(from, until,
                                 [](const burst& a, const burst& b) { return a.bound < b.bound; });
    };
    // While there are few, none is both a first and a last one.
    const burst first = best(begin, begin + std::min(best_of, all / 2));
    const burst last = best(bursts_.end() - std::min(best_of, all - all / 2), bursts_.end());
    const nanoseconds apart = last.at - first.at;
    if (apart.count() <= 0) return 0;
    const double change = base::seconds_of(last.offset - first.offset) / base::seconds_of(apart);
    const double doubt = base::seconds_of(last.bound + first.bound) / base::seconds_of(apart);
    return std::abs(change) <= doubt ? 0 : change;
}

// By the bursts from that one on, up to the next step.
clock_estimate::range clock_estimate::known_behind(place first, nanoseconds at) const noexcept {
    place one = std::find_if(std::next(first), bursts_.end(),
                             [](const burst& each) { return each.stepped; });
    range known = (--one)->measured();
    while (one != first) {
        const place later = one--;
        known = known.wider(std::max(later->most_drift, one->most_drift), later->at - one->at)
                    .within(one->measured());
    }
    return known.wider(first->most_drift, first->at - at);
}

clock_estimate::range clock_estimate::known_at(nanoseconds at) const noexcept {
    const place behind = std::find_if(bursts_.begin(), bursts_.end(),
                                      [at](const burst& one) { return one.at >= at; });
    if (behind == bursts_.begin()) return known_behind(behind, at);
    const place before = std::prev(behind);
    if (behind == bursts_.end()) return before->known.wider(before->most_drift, at - before->at);
    const double drift = std::max(before->most_drift, behind->most_drift);
    const range left = before->known.wider(drift, at - before->at);
    const range right = known_behind(behind, at).wider(drift - behind->most_drift, behind->at - at);
    // Nobody knows on which side of a step that was.
    if (behind->stepped) return {std::min(left.low, right.low), std::max(left.high, right.high)};
    const range both = left.within(right);
    return both.empty() ? left : both;  // but for a nanosecond that was rounded
}

nanoseconds clock_estimate::offset(nanoseconds at) const noexcept {
    if (!known()) return {};
    const range truth = known_at(at);
    return truth.low + (truth.high - truth.low) / 2;
}

nanoseconds clock_estimate::bound(nanoseconds at) const noexcept {
    if (!known()) return {};
    const range truth = known_at(at);
    return (truth.high - truth.low + nanoseconds(1)) / 2;
}

}  // namespace postal::cluster
