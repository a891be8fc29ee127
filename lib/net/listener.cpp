// SPDX-License-Identifier: GPL-3.0-or-later
#include "net/listener.hpp"

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ip/v6_only.hpp>

#include <cerrno>
#include <utility>

#include <sys/socket.h>

#include "base/interrupted.hpp"

namespace postal::net {

namespace {

constexpr int longest_queue = 65535;  // the kernel cuts it to net.core.somaxconn
// So many that have left before they were accepted are passed over at once (ECONNABORTED); a stop
// is heard behind them.
constexpr unsigned most_gone = 1000;

base::expected<listener> listen_at_path(asio::io_context& context, const endpoint& text,
                                        const address& where,
                                        const std::optional<socket_rights>& rights) {
    boost::system::error_code error;
    acceptor socket(context);
    socket.open(where.protocol(), error);
    if (!error) socket.non_blocking(true, error);
    if (error) return base::fail("{}: cannot listen: {}", text.text, error.message());
    auto file = socket_file::listen(socket.native_handle(), text.unix_path, rights, longest_queue);
    if (!file) return base::fail("{}: cannot listen: {}", text.text, file.error().message);
    return listener{std::move(socket), where, std::move(*file)};
}

base::expected<listener> listen_at(asio::io_context& context, const endpoint& text,
                                   const address& where) {
    boost::system::error_code error;
    acceptor socket(context);
    socket.open(where.protocol(), error);
    if (!error) socket.set_option(asio::socket_base::reuse_address(true), error);
    if (!error && where.protocol().family() == AF_INET6) {
        socket.set_option(asio::ip::v6_only(true), error);
    }
    if (!error) socket.bind(where, error);
    if (!error) socket.listen(longest_queue, error);
    if (!error) socket.non_blocking(true, error);
    address bound = error ? where : socket.local_endpoint(error);
    if (error) {
        return base::fail("{}: cannot listen on {}: {}", text.text, to_text(where),
                          error.message());
    }
    return listener{std::move(socket), std::move(bound), {}};
}

}  // namespace

base::expected<std::vector<listener>> listen(asio::io_context& context, const endpoint& where,
                                             std::optional<socket_rights> rights) {
    auto addresses = resolve(where);
    if (!addresses) return addresses.error();
    std::vector<listener> result;
    for (const address& one : *addresses) {
        auto opened = where.is_unix() ? listen_at_path(context, where, one, rights)
                                      : listen_at(context, where, one);
        if (!opened) return opened.error();
        result.push_back(std::move(*opened));
    }
    return result;
}

base::expected<listener> adopt_listener(asio::io_context& context, int descriptor) {
    int family = 0;
    socklen_t size = sizeof family;
    boost::system::error_code error;
    acceptor socket(context);
    if (getsockopt(descriptor, SOL_SOCKET, SO_DOMAIN, &family, &size) != 0) {
        error.assign(errno, boost::system::system_category());
    }
    if (!error) socket.assign({family, 0}, descriptor, error);
    if (!error) socket.non_blocking(true, error);
    address bound = error ? address() : socket.local_endpoint(error);
    if (error) return base::fail("descriptor {}: cannot listen: {}", descriptor, error.message());
    // The file of a Unix socket stays: it belongs to whoever made it.
    return listener{std::move(socket), std::move(bound), {}};
}

accepted accept_now(listener& one, fault& why) noexcept {
    why = fault::none;
    const int family = one.where.protocol().family();
    for (unsigned gone = 0;; ++gone) {
        base::file_descriptor descriptor(base::uninterrupted([&] {
            return ::accept4(one.socket.native_handle(), nullptr, nullptr,
                             SOCK_NONBLOCK | SOCK_CLOEXEC);
        }));
        if (descriptor.is_open()) return {std::move(descriptor), family};
        if (errno == ECONNABORTED && gone < most_gone) continue;
        if (errno != EAGAIN) {
            why = classify({errno, boost::system::system_category()}, cancelled_by::nobody);
        }
        return {{}, family};
    }
}

void close(listener& one) noexcept {
    if (!one.socket.is_open()) return;
    one.file.remove();  // first: as long as it listens no successor takes its place
    boost::system::error_code ignored;
    one.socket.close(ignored);
}

}  // namespace postal::net
