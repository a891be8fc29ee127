// SPDX-License-Identifier: GPL-3.0-or-later
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

// What never falls due, behind the end of a ramp to nothing, keeps nobody waiting.
admission::group admission::group_from(std::uint64_t number, std::uint64_t wanted) noexcept {
    how_.when->forget_below(how_.part.number(number));
    group these{number, 1, due(number)};
    while (these.messages < wanted && stock_.has(number + these.messages)) {
        const steady_time next = due(number + these.messages);
        if (next == steady_time::max()) break;
        these.last = next;
        ++these.messages;
    }
    return these;
}

// A cap's schedule is put off for what is due longer ago.
due_times admission::due_at_most_so_late(const group& these, steady_time now) {
    const std::uint64_t last = these.first + these.messages - 1;
    steady_time last_due = these.last;
    if (is_cap() && last_due < now - made_up_for) {
        last_due = now - made_up_for;
        stock_.put_off(how_.when->put_off(how_.part.number(last), last_due - start_));
    }
    due_times each;
    for (std::uint64_t number = these.first; number < last; ++number)
        each.add(std::min(due(number), last_due));
    each.add(last_due);
    return each;
}

ticket admission::try_pass(steady_time now, std::uint64_t wanted) {
    return admit(now, wanted, true);
}

ticket admission::admit(steady_time now, std::uint64_t wanted, bool was_busy) {
    if (stopped_) return {};
    if (shut_) return none_now();
    if (how_.when) return take_due(now, wanted, was_busy);
    if (const std::uint64_t got = stock_.take(share_, wanted); got > 0)
        return {pass::go, now, false, got, {}};
    return none_now();
}

ticket admission::take_due(steady_time now, std::uint64_t wanted, bool was_busy) {
    wanted_last_ = wanted;
    if (auto earlier = stock_.take_returned(wanted)) {
        const std::uint64_t got = earlier->size();
        return {pass::go, earlier->last(), false, got, std::move(*earlier)};
    }
    for (;;) {
        const std::uint64_t number = stock_.next();
        if (number == run_tickets::none) return none_now();
        const group these = group_from(number, wanted);
        if (these.last > now) return {pass::wait, these.last};
        if (these.last >= how_.until) return {pass::wait, steady_time::max()};
        due_times each = due_at_most_so_late(these, now);
        if (const std::uint64_t got = stock_.take(number, these.messages); got > 0) {
            if (was_busy && is_cap()) busy_time_ += stock_.count_busy(these.last, now);
            each.keep(got);
            return {pass::go, each.last(), true, got, std::move(each)};
        }
    }
}

bool admission::give_back(const ticket& unused) {
    if (how_.when && unused.due <= late_) {
        use(unused.messages);
        return false;
    }
    if (how_.when) return stock_.give_back(unused.each) || !how_.open_loop;
    stock_.give_back(share_, unused.messages);
    return true;
}

// By who is let through next, or who is most like that one.
std::uint64_t admission::wanted_next() const noexcept {
    if (!connected_.empty()) return connected_.front().wanted;
    return unconnected_.empty() ? wanted_last_ : unconnected_.front().wanted;
}

admission::place* admission::let_through(steady_time now) {
    if (over()) return dismiss();
    if (!anyone_waits()) return nullptr;
    queue& from = connected_.empty() ? unconnected_ : connected_;
    place& who = from.front();
    ticket got = admit(now, who.wanted, false);
    if (got.what != pass::go) return nullptr;
    from.pop_front();
    who.got = std::move(got);
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
    const std::uint64_t number = scheduled ? stock_.next() : run_tickets::none;
    if (number == run_tickets::none) return now + look_again;
    return std::min(now + look_again, group_from(number, wanted_next()).last);
}

void admission::finish_due(steady_time now) {
    std::uint64_t number = stock_.next();
    if (number == run_tickets::none) return;
    schedule ahead = *how_.when;  // whose numbers must not go down; ours goes on from here
    while (ahead.due(how_.part.number(number), stock_.put_off()) < now - start_)
        ++number;
    stock_.limit(number);
}

std::uint64_t admission::stop(steady_time now, stats::histogram& waited) {
    stopped_ = true;
    const run_tickets::remainder left = stock_.close();
    if (!how_.when || left.next == run_tickets::none) return 0;
    if (is_cap()) {
        const steady_time since =
            stock_.has(left.next) ? group_from(left.next, wanted_next()).last : now;
        if (since < now) busy_time_ += stock_.count_busy(since, now);
        return 0;
    }
    const std::uint64_t before = waited.count();
    for (const steady_time one : left.returned)
        waited.record(now - one);
    steady_time since;
    for (std::uint64_t number = left.next; stock_.has(number) && (since = due(number)) <= now;
         ++number)
        waited.record(now - since);
    return waited.count() - before;
}

}  // namespace postal::load
