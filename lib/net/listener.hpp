// SPDX-License-Identifier: GPL-3.0-or-later
// Sockets that servers listen on, TCP and Unix alike.
//
// listen() opens every address of an endpoint with SO_REUSEADDR and the longest queue the kernel
// gives; what becomes of a Unix socket's file is in socket_file.hpp.
// Failures are one line that names the endpoint.
//
// Flow, in one thread:
//   while ((f = co_await wait_for_connection(one, asio::use_awaitable)) == fault::none)
//       while ((a = accept_now(one, why)).descriptor.is_open()) any thread may adopt it
#pragma once

#include <boost/asio/async_result.hpp>
#include <boost/asio/basic_socket_acceptor.hpp>
#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/io_context.hpp>

#include <optional>
#include <utility>
#include <vector>

#include "base/result.hpp"
#include "net/connection.hpp"
#include "net/endpoint.hpp"
#include "net/socket_file.hpp"

namespace postal::net {

using acceptor = boost::asio::basic_socket_acceptor<asio::generic::stream_protocol>;

struct listener {
    acceptor socket;
    address where;     // with the port that the kernel gave
    socket_file file;  // of a Unix socket; to be removed at the end
    bool tls = false;  // clients begin with TLS: the owner's note
};

base::expected<std::vector<listener>> listen(asio::io_context& context, const endpoint& where,
                                             std::optional<socket_rights> rights = {});

// Takes a stream socket that listens already, as a service manager hands it over.
base::expected<listener> adopt_listener(asio::io_context& context, int descriptor);

// Waits until somebody connects, and tells the token, a handler of a fault or use_awaitable, say;
// the fault is `stopped` when the listener was closed meanwhile.
template <typename Token>
auto wait_for_connection(listener& one, Token&& token) {
    const auto begin = [&one](auto handler) {
        one.socket.async_wait(
            asio::socket_base::wait_read,
            [handler = std::move(handler)](const boost::system::error_code& error) mutable {
                std::move(handler)(
                    classify(error, error ? cancelled_by::stop : cancelled_by::nobody));
            });
    };
    return asio::async_initiate<Token, void(fault)>(begin, token);
}

// Takes one waiting connection without waiting; no descriptor, and the reason in `why`, when there
// is none (fault::none) or it failed.
accepted accept_now(listener& one, fault& why) noexcept;

// Stops listening and removes the Unix socket's file.
void close(listener& one) noexcept;

}  // namespace postal::net
