// SPDX-License-Identifier: GPL-3.0-or-later
// Makes a client's connections: looks names up anew where that is wanted, tries each address of a
// server, and remembers which one answered.
//
// One a session. The deadline is the caller's watched object's: it is set before each attempt, and
// whoever runs out of it cancels the connection. A look-up cannot be interrupted, so it is left
// alone when the time for a connection is over. A name that has got an address which load may not
// be sent to is connected to at none of its addresses (net/allowed_targets.hpp). Fails with the
// fault of the last address tried.
#pragma once

#include <boost/asio/awaitable.hpp>

#include <chrono>
#include <cstddef>
#include <optional>
#include <vector>

#include "client/load_plan.hpp"
#include "load/turnstile.hpp"
#include "load/watched.hpp"
#include "load/worker.hpp"
#include "net/connection.hpp"
#include "net/fault.hpp"

namespace postal::client {

class dialer {
  public:
    struct owner {
        load::worker& own;
        load::turnstile& gate;  // pauses end with the run
        load::turnstile::waiter& place;
        load::watched& watched;  // whose deadline it is
    };

    dialer(owner whose, net::connection& line) : whose_(whose), line_(line) {}

    // none when the connection is made; `stopped` when the run stops meanwhile.
    asio::awaitable<net::fault> open(const target& server, const std::optional<net::address>& local,
                                     std::chrono::nanoseconds timeout);

  private:
    asio::awaitable<net::fault> look_up(const target& server, std::chrono::nanoseconds timeout);

    owner whose_;
    net::connection& line_;
    std::vector<net::address> fresh_;
    std::size_t good_address_ = 0;  // of the server's, the one that answered last
};

}  // namespace postal::client
