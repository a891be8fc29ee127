// SPDX-License-Identifier: GPL-3.0-or-later
// When a session may open its next connection, and what becomes of the ticket for it.
//
// Flow, in the session:
//   bool open = co_await opening.wait_for_turn();         sessions open one after the other
//   while (open && co_await opening.wait_for_ticket()) {
//     ... connect: it failed: co_await opening.back_off(); the ticket went back
//     ... it is there: opening.use(), then the work that was due at the ticket's time
//     ... the server was fine: opening.succeeded()
//   }
//   opening.return_ticket();
//
// A connection that fails is tried again after a pause that doubles from about 100 ms, and in its
// turn by the rate at which connections may open; its ticket goes back, because nothing was started
// with it.
#pragma once

#include <boost/asio/awaitable.hpp>

#include <utility>

#include "base/random.hpp"
#include "client/worker_context.hpp"
#include "load/turnstile.hpp"

namespace postal::client {

class opening {
  public:
    // `index` counts the sessions of the whole run.
    opening(worker_context& shared, unsigned index)
        : shared_(shared),
          place_(shared.own),
          random_(base::mix(shared.of_run.seed, retries, index)),
          index_(index) {}

    // Sessions open one after the other, but for the first hundred, so that the server's accept
    // queue does not overflow. False when the run stops meanwhile.
    asio::awaitable<bool> wait_for_turn();

    // True with a ticket in hand, for as many messages if there are so many; false when there will
    // be none any more.
    asio::awaitable<bool> wait_for_ticket(std::uint64_t wanted = 1);
    bool has_ticket() const noexcept { return ticket_.what == load::pass::go; }
    // The connection is there; gives the ticket, if there is one.
    load::ticket use();
    // One that has come when the connection turned out to be lost: nothing was started with it.
    void keep(load::ticket&& unused) noexcept { ticket_ = std::move(unused); }
    void return_ticket();

    asio::awaitable<void> back_off();
    void succeeded() noexcept {
        failures_ = 0;
        shared_.own.made_progress();
    }
    bool failing() const noexcept { return failures_ > 0; }

    // Where the session waits.
    load::turnstile::waiter& place() noexcept { return place_; }

  private:
    static constexpr std::uint64_t retries = 0x7265747269657321;  // keeps its numbers apart

    std::chrono::nanoseconds wait_for_retry() noexcept;

    worker_context& shared_;
    load::turnstile::waiter place_;
    load::ticket ticket_;
    base::random_source random_;
    unsigned index_;
    unsigned failures_ = 0;  // connections in a row that brought nothing
};

}  // namespace postal::client
