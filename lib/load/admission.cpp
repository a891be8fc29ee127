#include "load/admission.hpp"

#include <algorithm>
#include <utility>

namespace postal::load {

admission::admission(run_tickets& stock, steady_time start, pacing how)
    : stock_(stock), share_(stock), start_(start), how_(std::move(how)) {}

steady_time admission::due(std::uint64_t number) noexcept {
    if (number == run_tickets::none) return steady_time::max();
    const auto after = how_.when->due(number);
    return after == std::chrono::nanoseconds::max() ? steady_time::max() : start_ + after;
}

ticket admission::try_pass(steady_time now) noexcept {
    if (stopped_) return {};
    if (shut_) return none_now();
    if (how_.when) return take_due(now);
    if (stock_.take(share_)) return {pass::go, now};
    return none_now();
}

ticket admission::take_due(steady_time now) noexcept {
    if (const auto earlier = stock_.take_returned()) return {pass::go, *earlier};
    for (;;) {
        const std::uint64_t number = stock_.next();
        if (number == run_tickets::none) return none_now();
        const steady_time when = due(number);
        if (when > now) return {pass::wait, when};
        if (stock_.take(number)) return {pass::go, when, true};
    }
}

std::uint64_t admission::give_back(const ticket& unused) {
    if (!how_.when) stock_.give_back(share_);
    const bool lost = how_.when && !stock_.give_back(unused.due);
    return lost && how_.open_loop ? 1 : 0;
}

admission::place* admission::let_through(steady_time now) noexcept {
    if (over()) return dismiss();
    if (!anyone_waits()) return nullptr;
    const ticket got = try_pass(now);
    if (got.what != pass::go) return nullptr;
    queue& from = connected_.empty() ? unconnected_ : connected_;
    place& who = from.front();
    from.pop_front();
    who.got = got;
    return &who;
}

// Someone who will get nothing any more.
admission::place* admission::dismiss() noexcept {
    for (queue* each : {&connected_, &unconnected_, &resting_, &pausing_}) {
        if (each->empty() || (each == &pausing_ && !stopped_)) continue;
        place& who = each->front();
        each->pop_front();
        who.got = {};
        return &who;
    }
    return nullptr;
}

steady_time admission::look_at(steady_time now) noexcept {
    if (!anyone_waits() && resting_.empty()) return steady_time::max();
    const bool scheduled = anyone_waits() && how_.when && !shut_;
    return std::min(now + look_again, scheduled ? due(stock_.next()) : steady_time::max());
}

std::uint64_t admission::stop(steady_time now, stats::histogram& waited) {
    stopped_ = true;
    const run_tickets::remainder left = stock_.close();
    if (!how_.open_loop || left.next == run_tickets::none) return 0;
    for (const steady_time since : left.returned)
        waited.record(now - since);
    std::uint64_t number = left.next;
    for (steady_time since; stock_.has(number) && (since = due(number)) <= now; ++number)
        waited.record(now - since);
    return left.returned.size() + number - left.next;
}

}  // namespace postal::load
