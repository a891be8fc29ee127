// SPDX-License-Identifier: GPL-3.0-or-later
// TLS on one session's connections: the handshake, and tickets for resumption.
//
// After the handshake whatever the server offered before is void and has to be asked for again
// (RFC 3207 4.2, RFC 2595 4, RFC 3501 6.2.1): that is the dialogue's business.
#pragma once

#include <boost/asio/awaitable.hpp>

#include <cstddef>
#include <memory>
#include <string_view>
#include <vector>

#include "base/random.hpp"
#include "client/load_plan.hpp"
#include "net/connection.hpp"
#include "net/endpoint.hpp"
#include "stats/tally.hpp"

namespace postal::client {

// The phases of tally::latency in which handshakes count.
struct handshake_phases {
    std::size_t full = 0;
    std::size_t resumed = 0;
};

class handshaker {
  public:
    handshaker(const security& of_run, handshake_phases phases)
        : of_run_(of_run), phases_(phases) {}

    // Decides for the next connection.
    void choose(base::random_source& random);
    // Whether the connection in hand shall have TLS at once, or in the dialogue.
    bool at_once() const noexcept { return wanted_ && of_run_.mode == tls_mode::implicit; }
    bool in_dialogue() const noexcept { return wanted_ && of_run_.mode == tls_mode::starttls; }

    // The deadline is the caller's to set; `server` must outlive the session. Counts the handshake
    // in `counts`, but no failure.
    asio::awaitable<net::fault> shake(net::connection& line, const net::endpoint& server,
                                      stats::tally& counts);
    // Before the connection is closed: takes the ticket that the server gave, if they are wanted.
    void keep_ticket(net::connection& line);

  private:
    const security& of_run_;
    handshake_phases phases_;
    // Of each server that was talked to, the latest.
    struct kept_ticket {
        const net::endpoint* server;
        std::unique_ptr<net::tls_ticket> ticket;
    };
    std::unique_ptr<net::tls_ticket> take_ticket(const net::endpoint& server);

    std::vector<kept_ticket> tickets_;
    const net::endpoint* server_ = nullptr;  // of the connection in hand
    bool wanted_ = false;
    bool resume_ = false;
};

// What an error entry says of a fault: TLS has its own names and words.
struct explanation {
    std::string_view reason;
    std::string_view sample;
};
explanation explain(net::fault why, const net::connection& line, std::string_view otherwise);

}  // namespace postal::client
