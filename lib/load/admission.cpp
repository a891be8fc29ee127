#include "load/admission.hpp"

#include <algorithm>
#include <utility>

namespace postal::load {

admission::admission(run_tickets& stock, steady_time start, pacing how)
    : stock_(stock), share_(stock), start_(start), how_(std::move(how)) {}

steady_time admission::due(std::uint64_t number) noexcept {
    if (number == run_tickets::none) return steady_time::max();
    const auto after = how_.when->due(how_.part.number(number), stock_.put_off());
    return after == std::chrono::nanoseconds::max() ? steady_time::max() : start_ + after;
}

// A cap's schedule is put off for what is due longer ago.
steady_time admission::due_at_most_so_late(std::uint64_t number, steady_time now) noexcept {
    const steady_time when = due(number);
    if (!is_cap() || when >= now - made_up_for) return when;
    stock_.put_off(how_.when->put_off(how_.part.number(number), now - made_up_for - start_));
    return now - made_up_for;
}

ticket admission::try_pass(steady_time now, std::uint64_t wanted) noexcept {
    return admit(now, wanted, true);
}

ticket admission::admit(steady_time now, std::uint64_t wanted, bool was_busy) noexcept {
    if (stopped_) return {};
    if (shut_) return none_now();
    if (how_.when) return take_due(now, wanted, was_busy);
    if (const std::uint64_t got = stock_.take(share_, wanted); got > 0)
        return {pass::go, now, false, got};
    return none_now();
}

ticket admission::take_due(steady_time now, std::uint64_t wanted, bool was_busy) noexcept {
    if (const auto earlier = stock_.take_returned(wanted))
        return {pass::go, earlier->due, false, earlier->tickets};
    for (;;) {
        const std::uint64_t number = stock_.next();
        if (number == run_tickets::none) return none_now();
        const steady_time since = due(number);
        if (since > now) return {pass::wait, since};
        const steady_time when = due_at_most_so_late(number, now);
        if (const std::uint64_t got = stock_.take(number, wanted); got > 0) {
            if (was_busy && is_cap()) busy_time_ += stock_.count_busy(since, now);
            return {pass::go, when, true, got};
        }
    }
}

std::uint64_t admission::give_back(const ticket& unused) {
    if (!how_.when) stock_.give_back(share_, unused.messages);
    const bool lost = how_.when && !stock_.give_back({unused.due, unused.messages});
    return lost && how_.open_loop ? unused.messages : 0;
}

admission::place* admission::let_through(steady_time now) noexcept {
    if (over()) return dismiss();
    if (!anyone_waits()) return nullptr;
    queue& from = connected_.empty() ? unconnected_ : connected_;
    place& who = from.front();
    const ticket got = admit(now, who.wanted, false);
    if (got.what != pass::go) return nullptr;
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

void admission::finish_due(steady_time now) {
    std::uint64_t number = stock_.next();
    if (number == run_tickets::none) return;
    schedule ahead = *how_.when;  // whose numbers must not go down; ours goes on from here
    while (ahead.due(how_.part.number(number)) <= now - start_)
        ++number;
    stock_.limit(number);
}

std::uint64_t admission::stop(steady_time now, stats::histogram& waited) {
    stopped_ = true;
    const run_tickets::remainder left = stock_.close();
    if (!how_.when || left.next == run_tickets::none) return 0;
    if (is_cap()) {
        const steady_time since = stock_.has(left.next) ? due(left.next) : now;
        if (since < now) busy_time_ += stock_.count_busy(since, now);
        return 0;
    }
    const std::uint64_t before = waited.count();
    for (const run_tickets::batch& one : left.returned)
        for (std::uint64_t i = 0; i < one.tickets; ++i)
            waited.record(now - one.due);
    steady_time since;
    for (std::uint64_t number = left.next; stock_.has(number) && (since = due(number)) <= now;
         ++number)
        waited.record(now - since);
    return waited.count() - before;
}

}  // namespace postal::load
