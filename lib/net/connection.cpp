// SPDX-License-Identifier: GPL-3.0-or-later
#include "net/connection.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <limits>
#include <new>

#include <linux/sockios.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/interrupted.hpp"
#include "base/release.hpp"
#include "net/connection_secured.hpp"

namespace postal::net {

namespace {

constexpr std::size_t most_parts_a_call = 1024;  // IOV_MAX on Linux

void switch_on(int socket, int level, int option) noexcept {
    const int on = 1;
    setsockopt(socket, level, option, &on, sizeof on);
}

// Without it a last short segment waits for the peer's delayed acknowledgement.
void send_at_once(int socket, int family) noexcept {
    if (family != AF_UNIX) switch_on(socket, IPPROTO_TCP, TCP_NODELAY);
}

// A socket that is bound to `local`, with the port chosen at connect(), when the kernel knows the
// remote end: otherwise a local address would have only as many connections as it has ports.
// -1 and errno when it cannot be had.
int make_socket(const address& remote, const std::optional<address>& local) noexcept {
    const int family = remote.protocol().family();
    const int socket = ::socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (socket < 0 || !local) return socket;
    switch_on(socket, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT);
    if (::bind(socket, local->data(), static_cast<socklen_t>(local->size())) == 0) return socket;
    const int number = errno;
    ::close(socket);
    errno = number;
    return -1;
}

int pending_error(int socket) noexcept {
    int number = 0;
    socklen_t size = sizeof number;
    getsockopt(socket, SOL_SOCKET, SO_ERROR, &number, &size);
    return number;
}

ssize_t receive_octets(int socket, std::span<char> into) noexcept {
    return base::uninterrupted([&] {
        return ::syscall(SYS_recvfrom, socket, into.data(), into.size(), MSG_DONTWAIT, nullptr,
                         nullptr);
    });
}

// A few parts of a few kilobytes are copied together: that costs the processor less than the kernel
// takes for picking them up one by one with sendmsg(), by about a microsecond a message
// (method.md).
ssize_t send_parts(int socket, std::span<iovec> parts, std::size_t octets) noexcept {
    static thread_local std::array<char, 16 * 1024> together;
    if (parts.size() == 1) return send_octets(socket, parts[0].iov_base, parts[0].iov_len);
    if (octets <= together.size()) {
        char* end = together.data();
        for (const iovec& part : parts) {
            end = std::copy_n(static_cast<const char*>(part.iov_base), part.iov_len, end);
        }
        return send_octets(socket, together.data(), octets);
    }
    msghdr message{};
    message.msg_iov = parts.data();
    message.msg_iovlen = std::min(parts.size(), most_parts_a_call);
    return base::uninterrupted(
        [&] { return ::sendmsg(socket, &message, MSG_NOSIGNAL | MSG_DONTWAIT); });
}

}  // namespace

void gather::take_away(std::size_t octets) noexcept {
    size_ -= octets;
    while (octets > 0) {
        iovec& part = parts_[first_];
        const std::size_t taken = std::min(octets, part.iov_len);
        part.iov_base = static_cast<char*>(part.iov_base) + taken;
        part.iov_len -= taken;
        octets -= taken;
        if (part.iov_len == 0) ++first_;
    }
}

// In a program with threads, libc makes each send() and recv() a cancellation point, which costs
// two locked instructions a call; nothing here is ever cancelled that way.
ssize_t send_octets(int socket, const void* octets, std::size_t size) noexcept {
    return base::uninterrupted([&] {
        return ::syscall(SYS_sendto, socket, octets, size, MSG_NOSIGNAL | MSG_DONTWAIT, nullptr, 0);
    });
}

connection::connection(asio::io_context& context) : context_(context) {}

connection::~connection() {
    close();
}

fault connection::failed(int error_number) noexcept {
    last_fault_ = classify({error_number, boost::system::system_category()}, cancelled_);
    return last_fault_;
}

// Not remembered: who was told to stop reading may still say goodbye.
fault connection::cancelled() noexcept {
    return classify({ECANCELED, boost::system::system_category()}, cancelled_);
}

// 0 when the connection is there already, as it mostly is over loopback or a Unix socket; or an
// errno value: EINPROGRESS.
int connection::begin_to_open(const address& remote, const std::optional<address>& local) noexcept {
    close();
    cancelled_ = cancelled_by::nobody;
    last_fault_ = fault::none;
    tls_problem_ = {};
    const int socket = make_socket(remote, local);
    if (socket < 0) return errno;
    const int made =
        ::connect(socket, remote.data(), static_cast<socklen_t>(remote.size())) == 0 ? 0 : errno;
    if (made != 0 && made != EINPROGRESS) {
        ::close(socket);
        return made;
    }
    send_at_once(socket, remote.protocol().family());
    const int problem = socket_.open(context_, socket);
    return problem != 0 ? problem : made;
}

// Apart from the beginning, so that no addresses stand in its frame: Asio gives that to a later
// coroutine, which may live as long as the session.
asio::awaitable<fault> connection::wait_until_open(int asked) {
    if (asked == 0) co_return fault::none;
    if (asked != EINPROGRESS) co_return failed(asked);
    while (!socket_.writable()) {
        co_await socket_.wait_writable();
    }
    const int number = pending_error(socket_.native());
    if (cancelled_ == cancelled_by::nobody && number == 0) co_return fault::none;
    failed(cancelled_ == cancelled_by::nobody ? number : ECANCELED);
    close();
    co_return last_fault_;
}

fault connection::adopt(accepted from) {
    cancelled_ = cancelled_by::nobody;
    last_fault_ = fault::none;
    send_at_once(from.descriptor.get(), from.family);
    const int problem = socket_.open(context_, from.descriptor.release());
    return problem == 0 ? fault::none : failed(problem);
}

bool connection::write_soon(gather& parts) {
    constexpr std::size_t most = 16 * 1024;
    if (secured_ || parts.size() > most || !unsent_.empty()) return false;
    if (!socket_.of().put_off(*this, parts.left(), parts.size())) return false;
    put_off_ = true;
    put_off_octets_ += parts.size();
    parts.clear();
    return true;
}

// While nobody of ours waits for it.
void connection::broke(int error_number) noexcept {
    failed(error_number);
    base::release(unsent_);
    socket_.set_leftover(nullptr);
    socket_.alert();
}

// Also called, with nothing, when the socket has room again for what is unsent.
void connection::send_put_off(std::string_view octets) {
    if (!octets.empty()) {
        put_off_ = false;
        put_off_octets_ = 0;
    }
    const bool rest = !unsent_.empty();
    if (rest) octets = unsent_.append(octets);
    while (!octets.empty()) {
        const time when = before_sending();
        const ssize_t sent = send_octets(socket_.native(), octets.data(), octets.size());
        if (sent < 0 && !would_block(errno)) return broke(errno);
        if (sent < 0) break;
        left(static_cast<std::uint64_t>(sent), when);
        octets.remove_prefix(static_cast<std::size_t>(sent));
    }
    if (octets.empty()) return base::release(unsent_);
    try {
        unsent_ = std::string(octets);
    } catch (const std::bad_alloc&) {
        return broke(ENOMEM);
    }
    socket_.not_writable();
    socket_.set_leftover(this);
}

bool connection::write_now(gather& parts) {
    settle();
    if (!unsent_.empty()) {
        socket_.set_leftover(nullptr);
        send_put_off({});
        if (!unsent_.empty()) return false;
    }
    if (last_fault_ != fault::none) return true;
    if (secured_) return write_secured(parts);
    while (!parts.empty()) {
        const time when = before_sending();
        const ssize_t sent = send_parts(socket_.native(), parts.left(), parts.size());
        if (sent < 0) {
            if (would_block(errno)) {
                socket_.not_writable();
                return false;
            }
            failed(errno);
            return true;
        }
        left(static_cast<std::uint64_t>(sent), when);
        parts.take_away(static_cast<std::size_t>(sent));
    }
    parts.clear();
    return true;
}

asio::awaitable<fault> connection::write_rest(gather& parts) {
    while (!write_now(parts)) {
        if (cancelled_ != cancelled_by::nobody) co_return cancelled();
        if (!socket_.writable()) co_await socket_.wait_writable();
        if (cancelled_ != cancelled_by::nobody) co_return cancelled();
    }
    co_return last_fault_;
}

read_result connection::read_ready(std::span<char> into) {
    if (cancelled_ != cancelled_by::nobody) return {0, cancelled()};
    if (last_fault_ != fault::none) return {0, last_fault_};
    if (secured_) return read_secured(into);
    const read_result got = receive(into);
    octets_in += got.size;
    return got;
}

read_result connection::receive(std::span<char> into) noexcept {
    const ssize_t got = receive_octets(socket_.native(), into);
    if (got > 0) {
        const auto size = static_cast<std::size_t>(got);
        // What did not fill the buffer was all there is: the next event will tell of more.
        if (size < into.size()) socket_.not_readable();
        return {size, fault::none};
    }
    if (got == 0) {
        last_fault_ = fault::closed;
        return {0, fault::closed};
    }
    if (!would_block(errno)) return {0, failed(errno)};
    socket_.not_readable();
    return {0, fault::none};
}

asio::awaitable<read_result> connection::read_some(std::span<char> into) {
    for (;;) {
        if (cancelled_ == cancelled_by::nobody && !something_to_read()) co_await wait_to_read();
        const read_result got = read_ready(into);
        if (got.size > 0 || got.why != fault::none) co_return got;
    }
}

std::size_t connection::read_now(std::span<char> into) {
    if (secured_) return read_secured(into).size;
    const ssize_t got = receive_octets(socket_.native(), into);
    if (got <= 0) return 0;
    octets_in += static_cast<std::uint64_t>(got);
    if (static_cast<std::size_t>(got) < into.size()) socket_.not_readable();
    return static_cast<std::size_t>(got);
}

bool connection::peer_is_deaf() const noexcept {
    pollfd asked{socket_.native(), 0, 0};
    return ::poll(&asked, 1, 0) == 1 && (asked.revents & (POLLHUP | POLLERR)) != 0;
}

// A look at a socket with nothing in it but an error would take the error away.
std::size_t connection::peek(std::span<char> into) noexcept {
    int waiting = 0;
    if (secured_ || ::ioctl(socket_.native(), SIOCINQ, &waiting) != 0 || waiting == 0) return 0;
    const ssize_t got = ::recv(socket_.native(), into.data(), into.size(), MSG_PEEK | MSG_DONTWAIT);
    return got > 0 ? static_cast<std::size_t>(got) : 0;
}

// Over TLS, what came may be a ticket.
void connection::cancel(cancelled_by who) noexcept {
    if (!socket_.is_open()) return;
    cancelled_ = who;
    socket_.cancel();
}

void connection::settle() {
    if (put_off_) socket_.of().send_all();
}

std::size_t connection::octets_on_the_way() const noexcept {
    int octets = 0;
    return ::ioctl(socket_.native(), SIOCOUTQ, &octets) == 0 ? static_cast<std::size_t>(octets) : 0;
}

void connection::shrink_window(std::uint64_t octets) noexcept {
    // The kernel doubles what it is given, for its own needs (socket(7)).
    const int half =
        static_cast<int>(std::min<std::uint64_t>(octets / 2, std::numeric_limits<int>::max()));
    setsockopt(socket_.native(), SOL_SOCKET, SO_RCVBUF, &half, sizeof half);
}

void connection::shutdown_output() noexcept {
    settle();
    say_goodbye();
    ::shutdown(socket_.native(), SHUT_WR);
}

void connection::close() noexcept {
    settle();
    say_goodbye();
    secured_.reset();
    more_inside_ = false;
    unsent_.clear();
    socket_.set_leftover(nullptr);
    socket_.close();
}

void connection::reset() noexcept {
    if (!socket_.is_open()) return;
    const linger at_once{1, 0};
    setsockopt(socket_.native(), SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
    secured_.reset();
    close();
}

}  // namespace postal::net
