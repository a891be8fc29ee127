// SPDX-License-Identifier: GPL-3.0-or-later
// What comes before the conversation with a client: whom a proxy speaks for, whether he may have a
// session, and TLS; which also begins within the conversation (STARTTLS).
//
// Who has to say who he is, or to begin with TLS, does so before he hears anything. Whoever is not
// let in is counted, and the session over. Fails only for memory.
#pragma once

#include <boost/asio/awaitable.hpp>

#include "serve/client_parts.hpp"
#include "serve/departure.hpp"

namespace postal::serve {

class arrival {
  public:
    // Both outlive it.
    arrival(client_parts& of, departure& ways_out) noexcept : of_(of), departure_(ways_out) {}

    boost::asio::awaitable<void> let_in();
    boost::asio::awaitable<void> secure();

  private:
    boost::asio::awaitable<void> hear_proxy();
    void count_handshake(net::fault why, load::steady_time begun);

    client_parts& of_;
    departure& departure_;
};

}  // namespace postal::serve
