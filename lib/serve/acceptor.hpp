// SPDX-License-Identifier: GPL-3.0-or-later
// A listening socket and the loop that lets clients in.
//
// All acceptors live on the first worker; clients are handed to the workers in turn, and stay
// there. A client too many (--sessions) is told 421 4.3.2. When descriptors or memory run out the
// acceptor rests for a moment instead of spinning, which needs neither. Closing the listeners is
// the first thing that a stop does.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include <boost/asio/awaitable.hpp>

#include "load/watched.hpp"
#include "load/worker_pool.hpp"
#include "net/listener.hpp"
#include "serve/accepted_client.hpp"
#include "serve/session_slots.hpp"

namespace postal::serve {

struct listening_endpoint {
    net::endpoint where;
    bool required = true;  // IPv6, when all addresses are wanted, may be missing on this host
    std::optional<net::socket_rights> rights{};  // of a Unix socket's file
    bool tls = false;                            // from the first octet of each connection
};

// Listens on every endpoint in the context of the first worker; the first failure ends it.
base::expected<std::vector<net::listener>> open_listeners(
    const std::vector<listening_endpoint>& endpoints, boost::asio::io_context& context);

// The session of a client, to be run in the worker of that index.
using client_handler =
    std::function<boost::asio::awaitable<void>(std::size_t worker, accepted_client who)>;

class acceptor final : public load::watched {
  public:
    // All must outlive it.
    acceptor(net::listener& listener, std::span<load::worker* const> workers, session_slots& slots,
             const client_handler& serve);

    // Lets clients in from now on until a stop; in the first worker's thread, before one.
    void wait();

    void on_deadline() override { wait(); }
    void on_stop(load::stop_kind how) override;

  private:
    void ready(net::fault why);
    void rest(net::fault why);
    void count() noexcept;
    net::fault accept_all();
    void hand_over(net::accepted client, session_slot place);
    void refuse(const net::accepted& client);

    net::listener& listener_;
    const std::span<load::worker* const> workers_;
    load::worker& first_;
    session_slots& slots_;
    const client_handler& serve_;
    net::fault uncounted_ = net::fault::none;
    bool closed_ = false;
};

// Runs the worker pool with an acceptor for each listener until it is stopped; the listeners are
// closed then.
base::expected<void> serve_all(load::worker_pool& workers, std::vector<net::listener>& listeners,
                               session_slots& slots, const client_handler& serve,
                               load::run_watcher& watcher);

}  // namespace postal::serve
