// A listening socket and the loop that lets clients in.
//
// All doors live on the first worker; guests are handed to the workers in turn, and stay there. A
// full house (--sessions) is said with 421 4.3.2. When descriptors run out the door rests for a
// moment instead of spinning. Closing the doors is the first thing that a stop does.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <vector>

#include <boost/asio/awaitable.hpp>

#include "load/fleet.hpp"
#include "load/watched.hpp"
#include "net/listener.hpp"
#include "serve/reception.hpp"
#include "serve/visitor.hpp"

namespace postal::serve {

struct listening_place {
    net::endpoint where;
    bool required = true;  // IPv6, when all addresses are wanted, may be missing on this host
    std::optional<net::socket_rights> rights{};  // of a Unix socket's file
    bool tls = false;                            // from the first octet of each connection
};

// Opens every place in the context of the first worker; the first failure ends it.
base::expected<std::vector<net::listener>> open_listeners(
    const std::vector<listening_place>& places, boost::asio::io_context& context);

// The session of a guest, to be run in the worker of that index.
using serve_guest = std::function<boost::asio::awaitable<void>(std::size_t worker, visitor who)>;

class door final : public load::watched {
  public:
    // All must outlive it.
    door(net::listener& entrance, load::fleet& workers, reception& front, const serve_guest& serve);

    boost::asio::awaitable<void> run();

    void on_deadline() override {}
    void on_stop(load::stop_kind how) override;

  private:
    bool let_in(const net::accepted& guest);
    void turn_away(const net::accepted& guest);
    boost::asio::awaitable<void> rest();

    net::listener& entrance_;
    load::fleet& workers_;
    load::worker& first_;
    reception& front_;
    const serve_guest& serve_;
    bool closed_ = false;
};

// Runs the fleet with a door for each listener until it is stopped; the listeners are closed then.
base::expected<void> serve_all(load::fleet& workers, std::vector<net::listener>& entrances,
                               reception& front, const serve_guest& serve,
                               load::run_watcher& watcher);

}  // namespace postal::serve
