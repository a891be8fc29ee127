// SPDX-License-Identifier: GPL-3.0-or-later
#include "load/turnstile.hpp"

#include <boost/asio/async_result.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <utility>

namespace postal::load {

using std::chrono::steady_clock;

namespace {

pacing until(steady_time end, pacing how) {
    how.until = end;
    return how;
}

}  // namespace

turnstile::turnstile(worker& own, run_tickets& stock, pacing how)
    : own_(own),
      rules_(stock, own.start(), until(own.planned_end(), std::move(how))),
      alarm_(own.context()) {}

asio::awaitable<ticket> turnstile::wait(waiter& who) {
    if (rules_.stopped()) co_return ticket{};
    who.got = {};
    rules_.wait(who);
    arm();
    co_await sleep(who, steady_time::max());
    co_return std::move(who.got);
}

void turnstile::give_back(const ticket& unused) {
    if (!rules_.give_back(unused)) never_begun(unused);
    serve();
}

void turnstile::never_begun(const ticket& unused) {
    const steady_time now = steady_clock::now();
    for (std::size_t i = 0; i < unused.each.size(); ++i) {
        own_.tally().unserved.record(now - unused.each[i]);
        own_.tally().trial.ended(unused.each[i], now, stats::trial_end::not_started);
    }
    never_begun(unused.each.size());
}

void turnstile::never_begun(std::uint64_t messages) noexcept {
    own_.tally().not_started += messages;
    own_.tally().due += messages;
}

asio::awaitable<void> turnstile::pause(waiter& who, std::chrono::nanoseconds how_long) {
    if (rules_.stopped()) return sleep(who, steady_clock::now());
    rules_.pause(who);
    return sleep(who, steady_clock::now() + how_long);
}

asio::awaitable<void> turnstile::rest(waiter& who, std::chrono::nanoseconds how_long) {
    if (rules_.over()) return sleep(who, steady_clock::now());
    rules_.rest(who);
    arm();
    return sleep(who, steady_clock::now() + how_long);
}

// Neither this nor pause() or rest() is a coroutine: each session that waits would keep the frame.
asio::awaitable<void> turnstile::sleep(waiter& who, steady_time until) {
    const auto begin = [&who, until](auto resume) {
        who.wake_.expires_at(until);
        who.wake_.async_wait(
            [&who, resume = std::move(resume)](const boost::system::error_code&) mutable {
                who.unlink();
                std::move(resume)();
            });
    };
    return asio::async_initiate<const asio::use_awaitable_t<>, void()>(begin, asio::use_awaitable);
}

void turnstile::hold_shut(bool shut) {
    rules_.hold_shut(shut);
    if (!shut) serve();
}

void turnstile::extend(std::chrono::nanoseconds at, std::chrono::nanoseconds lasts,
                       double messages) {
    rules_.extend(at, lasts, messages);
    arm();
}

void turnstile::arm() {
    const steady_time at = rules_.look_at(steady_clock::now());
    if (at >= armed_for_) return;
    armed_for_ = at;
    alarm_.expires_at(at);
    alarm_.async_wait([this](const boost::system::error_code& error) {
        if (error) return;  // armed anew, or stopped
        armed_for_ = steady_time::max();
        serve();
    });
}

// Wakes all whose wait is over.
void turnstile::serve() {
    const steady_time now = steady_clock::now();
    while (admission::place* const next = rules_.let_through(now)) {
        waiter& who = static_cast<waiter&>(*next);
        if (who.got.from_schedule) own_.tally().slip.record(now - who.got.due);
        who.wake_.cancel();
    }
    arm();
}

// All workers are told, and each ticket is taken by one of them.
void turnstile::drop_due() {
    const steady_time now = steady_clock::now();
    for (ticket late; (late = rules_.take_late(now)).what == pass::go;) {
        rules_.use(late.messages);
        never_begun(late);
    }
}

void turnstile::finish_due() {
    rules_.finish_due(own_.stopped_at());
    serve();
}

void turnstile::stop() {
    never_begun(rules_.stop(steady_clock::now(), own_.tally().unserved));
    own_.tally().all_busy += rules_.take_busy_time();
    serve();
}

}  // namespace postal::load
