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

const clock_estimate::burst& clock_estimate::latest() const noexcept {
    return best(bursts_.size() - std::min(best_of, bursts_.size()), bursts_.size());
}

double clock_estimate::drift() const noexcept {
    const std::size_t all = bursts_.size();
    if (all < 2) return 0;
    // While there are few, none is both a first and a last one.
    const burst& first = best(0, std::min(best_of, all / 2));
    const burst& last = best(all - std::min(best_of, all - all / 2), all);
    const nanoseconds apart = last.at - first.at;
    const nanoseconds change = last.offset - first.offset;
    const nanoseconds doubt = last.bound + first.bound;
    const nanoseconds size = change.count() < 0 ? -change : change;
    if (apart.count() <= 0 || size <= doubt) return 0;
    return seconds(change) / seconds(apart);
}

nanoseconds clock_estimate::offset(nanoseconds at) const noexcept {
    if (!known()) return {};
    const burst& last = latest();
    const double gained = drift() * static_cast<double>((at - last.at).count());
    return last.offset + nanoseconds(std::llround(gained));
}

nanoseconds clock_estimate::bound() const noexcept {
    return known() ? latest().bound : nanoseconds{};
}

}  // namespace postal::cluster
