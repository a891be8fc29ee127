#include "load/turnstile.hpp"

#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <algorithm>
#include <utility>

namespace postal::load {

namespace asio = boost::asio;

namespace {

// How often those who wait for tickets to come back look whether that can still happen.
constexpr auto look_again = std::chrono::milliseconds(50);

}  // namespace

turnstile::turnstile(worker& own, std::optional<schedule> pace, budget& pot)
    : own_(own), pace_(std::move(pace)), share_(pot), alarm_(own.context()) {}

steady_time turnstile::next_due() const noexcept {
    if (shut_) return steady_time::max();
    if (!returned_.empty()) return returned_.back();
    if (used_up()) return std::chrono::steady_clock::now() + look_again;
    if (!pace_) return std::chrono::steady_clock::now();
    const auto due = pace_->due();
    return due == std::chrono::nanoseconds::max() ? steady_time::max() : own_.start() + due;
}

ticket turnstile::try_pass(steady_time now) noexcept {
    if (over()) return {pass::over, now};
    if (shut_) return {pass::wait, now};
    if (!returned_.empty()) {
        const steady_time due = returned_.back();
        returned_.pop_back();
        return {pass::go, due};
    }
    if (used_up()) return {pass::wait, now};
    steady_time due = now;
    if (pace_) {
        due = next_due();
        if (due > now) return {pass::wait, due};
    }
    if (!share_.take_one()) return {pass::wait, now};
    if (pace_) pace_->advance();
    // Who waits for a due time that will never be used is to hear of it.
    if (used_up() && anyone_waits()) arm_anew();
    return {pass::go, due};
}

asio::awaitable<ticket> turnstile::wait(waiter& who) {
    if (stopped_) co_return ticket{};
    who.got_ = {pass::wait, {}};
    // The one that waited last is served first: its connection is the warmest.
    (who.connected ? connected_ : unconnected_).push_front(who);
    arm();
    boost::system::error_code woken;
    who.wake_.expires_at(steady_time::max());
    co_await who.wake_.async_wait(asio::redirect_error(asio::use_awaitable, woken));
    co_return who.got_.what == pass::wait ? ticket{} : who.got_;
}

void turnstile::give_back(const ticket& unused) {
    if (pace_) {
        returned_.push_back(unused.due);
    } else {
        share_.put_back(1);
    }
    share_.release();
    if (anyone_waits()) arm_anew();
}

asio::awaitable<void> turnstile::pause(waiter& who, std::chrono::nanoseconds how_long) {
    if (stopped_) co_return;
    boost::system::error_code woken;
    pausing_.push_back(who);
    who.wake_.expires_after(how_long);
    co_await who.wake_.async_wait(asio::redirect_error(asio::use_awaitable, woken));
    who.unlink();
}

void turnstile::hold_shut(bool shut) {
    shut_ = shut;
    if (!shut && anyone_waits()) arm_anew();
}

void turnstile::arm() {
    if (armed_) return;
    steady_time due = next_due();
    // Another worker may take the last message meanwhile.
    if (share_.limited()) due = std::min(due, std::chrono::steady_clock::now() + look_again);
    if (due == steady_time::max()) return;
    armed_ = true;
    alarm_.expires_at(due);
    alarm_.async_wait([this](const boost::system::error_code& error) {
        if (error) return;  // armed anew, or stopped
        armed_ = false;
        if (!stopped_) serve();
    });
}

// Lets through as many as are due and wait.
void turnstile::serve() {
    const steady_time now = std::chrono::steady_clock::now();
    while (anyone_waits()) {
        const bool scheduled = pace_ && returned_.empty();
        const ticket got = try_pass(now);
        if (got.what == pass::over) return stop();
        if (got.what == pass::wait) return arm();
        queue& from = connected_.empty() ? unconnected_ : connected_;
        waiter& who = from.front();
        from.pop_front();
        if (scheduled) own_.tally().slip.record(now - got.due);
        who.got_ = got;
        who.wake_.cancel();
    }
}

void turnstile::stop() noexcept {
    stopped_ = true;
    alarm_.cancel();
    for (queue* each : {&connected_, &unconnected_, &pausing_}) {
        while (!each->empty()) {
            waiter& who = each->front();
            each->pop_front();
            who.got_ = ticket{};
            who.wake_.cancel();
        }
    }
}

std::uint64_t turnstile::overdue(steady_time now) const {
    std::uint64_t count = returned_.size();
    if (!pace_) return count;
    schedule rest = *pace_;
    while (rest.due() != std::chrono::nanoseconds::max() && own_.start() + rest.due() <= now) {
        rest.advance();
        ++count;
    }
    return count;
}

}  // namespace postal::load
