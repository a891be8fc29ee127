#include "net/listener.hpp"

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ip/v6_only.hpp>
#include <boost/asio/local/stream_protocol.hpp>

#include <cerrno>
#include <utility>

#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

namespace postal::net {

namespace {

constexpr int longest_queue = 65535;  // the kernel cuts it to net.core.somaxconn

// A leftover of a server that died may be replaced, a living one's socket may not.
base::expected<void> make_way_for(asio::io_context& context, const endpoint& where) {
    struct stat found {};
    if (lstat(where.unix_path.c_str(), &found) != 0) return {};
    if (!S_ISSOCK(found.st_mode)) {
        return base::fail("{}: cannot listen: a file that is not a socket is there", where.text);
    }
    boost::system::error_code error;
    asio::local::stream_protocol::socket probe(context);
    probe.open({}, error);
    probe.non_blocking(true, error);
    probe.connect(asio::local::stream_protocol::endpoint(where.unix_path), error);
    if (!error || error == asio::error::try_again) {
        return base::fail("{}: cannot listen: another server does", where.text);
    }
    // Only a refusal says that nobody listens any more.
    if (error != asio::error::connection_refused) {
        return base::fail("{}: cannot listen: {}", where.text, error.message());
    }
    unlink(where.unix_path.c_str());
    return {};
}

int set_rights(const std::string& path, const socket_rights& wanted) {
    if (chmod(path.c_str(), wanted.mode) != 0) return errno;
    if (chown(path.c_str(), wanted.user, wanted.group) != 0) return errno;
    return 0;
}

base::expected<listener> listen_at(asio::io_context& context, const endpoint& text,
                                   const address& where,
                                   const std::optional<socket_rights>& rights) {
    boost::system::error_code error;
    acceptor socket(context);
    const bool internet = where.protocol().family() != AF_UNIX;
    if (!error) socket.open(where.protocol(), error);
    if (!error && internet) socket.set_option(asio::socket_base::reuse_address(true), error);
    if (!error && where.protocol().family() == AF_INET6) {
        socket.set_option(asio::ip::v6_only(true), error);
    }
    if (!error) socket.bind(where, error);
    if (!error && rights && text.is_unix()) {
        error.assign(set_rights(text.unix_path, *rights), boost::system::system_category());
        if (error) unlink(text.unix_path.c_str());
    }
    if (!error) socket.listen(longest_queue, error);
    if (!error) socket.non_blocking(true, error);
    address bound = error ? where : socket.local_endpoint(error);
    if (error) {
        return base::fail("{}: cannot listen on {}: {}", text.text, to_text(where),
                          error.message());
    }
    return listener{std::move(socket), std::move(bound), text.unix_path};
}

}  // namespace

base::expected<std::vector<listener>> listen(asio::io_context& context, const endpoint& where,
                                             std::optional<socket_rights> rights) {
    if (where.is_unix()) {
        auto way = make_way_for(context, where);
        if (!way) return way.error();
    }
    auto addresses = resolve(where);
    if (!addresses) return addresses.error();
    std::vector<listener> result;
    for (const address& one : *addresses) {
        auto opened = listen_at(context, where, one, rights);
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
    for (;;) {
        base::file_descriptor descriptor(
            ::accept4(one.socket.native_handle(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
        if (descriptor.is_open()) return {std::move(descriptor), family};
        if (errno == EINTR || errno == ECONNABORTED) continue;
        if (errno != EAGAIN) {
            why = classify({errno, boost::system::system_category()}, cancelled_by::nobody);
        }
        return {{}, family};
    }
}

void close(listener& one) noexcept {
    if (!one.socket.is_open()) return;  // its path may be a successor's by now
    boost::system::error_code ignored;
    one.socket.close(ignored);
    if (!one.unix_path.empty()) unlink(one.unix_path.c_str());
}

}  // namespace postal::net
