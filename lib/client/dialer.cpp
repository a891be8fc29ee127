// SPDX-License-Identifier: GPL-3.0-or-later
#include "client/dialer.hpp"

#include <boost/asio/ip/tcp.hpp>

#include <memory>
#include <string>
#include <utility>

namespace postal::client {

namespace {

// What a look-up finds, for a session that may have given up on it by then.
struct looked_up {
    std::vector<net::address> addresses;
    bool done = false;
    bool awaited = true;
};

}  // namespace

asio::awaitable<net::fault> dialer::look_up(const target& server,
                                            std::chrono::nanoseconds timeout) {
    auto found = std::make_shared<looked_up>();
    auto resolver = std::make_shared<asio::ip::tcp::resolver>(whose_.own.context());
    load::worker& own = whose_.own;
    resolver->async_resolve(
        server.where.host, std::to_string(server.where.port),
        asio::ip::tcp::resolver::numeric_service,
        [this, &own, found, resolver](const boost::system::error_code&, const auto& entries) {
            own.lookup_ended();
            for (const auto& entry : entries)
                found->addresses.emplace_back(entry.endpoint());
            found->done = true;
            if (found->awaited) whose_.gate.wake(whose_.place);
        });
    own.lookup_began();
    co_await whose_.gate.pause(whose_.place, timeout);
    found->awaited = false;
    fresh_ = std::move(found->addresses);
    if (!fresh_.empty()) {
        const bool allowed = server.allowed.allow(server.where, fresh_);
        co_return allowed ? net::fault::none : net::fault::not_allowed;
    }
    if (whose_.own.stopping()) co_return net::fault::stopped;
    co_return found->done ? net::fault::unresolved : net::fault::timeout;
}

asio::awaitable<net::fault> dialer::open(const target& server,
                                         const std::optional<net::address>& local,
                                         std::chrono::nanoseconds timeout) {
    net::fault why = net::fault::none;
    if (server.where.fresh_lookup) why = co_await look_up(server, timeout);
    if (why != net::fault::none) co_return why;
    const std::vector<net::address>& all = server.where.fresh_lookup ? fresh_ : server.addresses;
    why = net::fault::stopped;
    for (std::size_t tried = 0; tried < all.size() && !whose_.own.stopping(); ++tried) {
        const std::size_t which = (good_address_ + tried) % all.size();
        whose_.watched.set_deadline(std::chrono::steady_clock::now() + timeout);
        why = co_await line_.open(all[which], local);
        if (why != net::fault::none) continue;
        good_address_ = which;
        break;
    }
    whose_.watched.clear_deadline();
    co_return why;
}

}  // namespace postal::client
