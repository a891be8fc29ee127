#include "cluster/clock.hpp"

#include <algorithm>
#include <cmath>

namespace postal::cluster {

namespace {

constexpr std::size_t kept_bursts = 24;
// A drift is told from the last bursts and the first ones: the best of so many of each.
constexpr std::size_t best_of = 4;

double seconds(nanoseconds time) {
    return std::chrono::duration<double>(time).count();
}

}  // namespace

void clock_estimate::add(const clock_answer& one) noexcept {
    if (one.heard < one.asked) return;
    const nanoseconds way = one.heard - one.asked;
    const nanoseconds middle = one.asked + way / 2;
    const nanoseconds bound = (way + nanoseconds(1)) / 2;
    if (open_ && current_.bound <= bound) return;
    current_ = {middle, one.read - middle, bound};
    open_ = true;
}

void clock_estimate::end_burst() {
    if (!open_) return;
    open_ = false;
    bursts_.push_back(current_);
    // The first ones stay: drift shows over a long time.
    if (bursts_.size() > kept_bursts)
        bursts_.erase(bursts_.begin() + static_cast<std::ptrdiff_t>(best_of));
}

const clock_estimate::burst& clock_estimate::best(std::size_t from, std::size_t until) const {
    const auto begin = bursts_.begin();
    return *std::min_element(begin + static_cast<std::ptrdiff_t>(from),
                             begin + static_cast<std::ptrdiff_t>(until),
                             [](const burst& a, const burst& b) { return a.bound < b.bound; });
}

clock_estimate::slope clock_estimate::measured_slope() const noexcept {
    const std::size_t all = bursts_.size();
    if (all < 2) return {};
    // While there are few, none is both a first and a last one.
    const burst& first = best(0, std::min(best_of, all / 2));
    const burst& last = best(all - std::min(best_of, all - all / 2), all);
    const nanoseconds apart = last.at - first.at;
    if (apart.count() <= 0) return {};
    const double change = seconds(last.offset - first.offset) / seconds(apart);
    const double doubt = seconds(last.bound + first.bound) / seconds(apart);
    if (std::abs(change) <= doubt) return {0, std::min(std::abs(change) + doubt, most_drift)};
    return {change, doubt};
}

double clock_estimate::drift() const noexcept {
    return measured_slope().drift;
}

nanoseconds clock_estimate::bound_of(const burst& one, nanoseconds at) const noexcept {
    const double away = std::abs(static_cast<double>((at - one.at).count()));
    return one.bound + nanoseconds(std::llround(std::ceil(measured_slope().doubt * away)));
}

const clock_estimate::burst& clock_estimate::best_for(nanoseconds at) const noexcept {
    return *std::min_element(bursts_.begin(), bursts_.end(), [&](const burst& a, const burst& b) {
        return bound_of(a, at) < bound_of(b, at);
    });
}

nanoseconds clock_estimate::offset(nanoseconds at) const noexcept {
    if (!known()) return {};
    const burst& one = best_for(at);
    const double gained = drift() * static_cast<double>((at - one.at).count());
    return one.offset + nanoseconds(std::llround(gained));
}

nanoseconds clock_estimate::bound(nanoseconds at) const noexcept {
    return known() ? bound_of(best_for(at), at) : nanoseconds{};
}

}  // namespace postal::cluster
