// SPDX-License-Identifier: GPL-3.0-or-later
#include "client/opening.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <utility>

namespace postal::client {

namespace {

using std::chrono::nanoseconds;

constexpr unsigned opened_at_once = 100;
constexpr auto first_pause = std::chrono::milliseconds(100);
constexpr auto longest_pause = std::chrono::seconds(5);

}  // namespace

asio::awaitable<bool> opening::wait_for_turn() {
    const unsigned place = index_ - std::min(index_, opened_at_once);
    const std::chrono::duration<double> turn(place / shared_.of_run.connect_rate);
    if (turn > std::chrono::milliseconds(1)) {
        co_await shared_.gate.pause(place_, std::chrono::duration_cast<nanoseconds>(turn));
    }
    co_return !shared_.own.stopping();
}

asio::awaitable<bool> opening::wait_for_ticket(std::uint64_t wanted) {
    if (has_ticket()) co_return true;
    place_.wanted = wanted;
    ticket_ = shared_.gate.try_pass(std::chrono::steady_clock::now(), wanted);
    if (ticket_.what == load::pass::wait) ticket_ = co_await shared_.gate.wait(place_);
    co_return has_ticket();
}

load::ticket opening::use() {
    if (has_ticket()) shared_.gate.use(ticket_.messages);
    return std::exchange(ticket_, {});
}

void opening::return_ticket() {
    if (has_ticket()) shared_.gate.give_back(ticket_);
    ticket_ = {};
}

asio::awaitable<void> opening::back_off() {
    return_ticket();
    const unsigned doublings = std::min(failures_, 6U);
    ++failures_;
    const auto pause = std::min<nanoseconds>(first_pause * (1U << doublings), longest_pause);
    // Those that lost their connections together do not come back together, nor faster than
    // sessions may open.
    const std::chrono::duration<double, std::nano> scattered =
        pause * (0.75 + random_.uniform() / 2);
    co_await shared_.gate.rest(place_, std::chrono::duration_cast<nanoseconds>(scattered));
    const nanoseconds turn = wait_for_retry();
    if (turn.count() > 0) co_await shared_.gate.rest(place_, turn);
}

// How long until it is this session's turn.
nanoseconds opening::wait_for_retry() noexcept {
    const auto ranks = static_cast<double>(shared_.of_run.share.of);
    const auto gap = static_cast<std::int64_t>(1e9 * ranks / shared_.of_run.connect_rate);
    const std::int64_t now = std::chrono::steady_clock::now().time_since_epoch().count();
    std::atomic<std::int64_t>& next = shared_.of_run.next_retry_ns;
    std::int64_t mine = next.load(std::memory_order_relaxed);
    while (
        !next.compare_exchange_weak(mine, std::max(mine, now) + gap, std::memory_order_relaxed)) {
    }
    return nanoseconds(std::max(mine, now) - now);
}

}  // namespace postal::client
