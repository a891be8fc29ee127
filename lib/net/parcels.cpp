// SPDX-License-Identifier: GPL-3.0-or-later
// A parcel is its length, four octets with the lowest first, and as many octets.
#include "net/parcels.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <fmt/format.h>

namespace postal::net {

namespace {

constexpr std::size_t header = 4;
constexpr std::size_t at_once = std::size_t{64} << 10U;

base::file_descriptor unix_socket() {
    return base::file_descriptor(::socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
}

std::uint32_t length_of(const std::string& from) noexcept {
    std::uint32_t length = 0;
    for (std::size_t i = header; i > 0; --i)
        length = length << 8U | static_cast<std::uint8_t>(from[i - 1]);
    return length;
}

}  // namespace

// By what an open file is called, which is short, whatever the path is.
base::expected<std::optional<parcel_line>> parcel_line::connect(const std::string& path) {
    const base::file_descriptor there(::open(path.c_str(), O_PATH | O_CLOEXEC));
    if (!there.is_open() && errno == ENOENT) return std::optional<parcel_line>();
    base::file_descriptor socket = unix_socket();
    if (!there.is_open() || !socket.is_open()) return base::fail("{}", base::system_message(errno));
    const std::string name = fmt::format("/proc/self/fd/{}", there.get());
    sockaddr_un to{};
    to.sun_family = AF_UNIX;
    name.copy(to.sun_path, sizeof to.sun_path - 1);
    if (::connect(socket.get(), reinterpret_cast<const sockaddr*>(&to), sizeof to) == 0)
        return std::optional<parcel_line>(parcel_line(std::move(socket)));
    if (errno == ECONNREFUSED || errno == EAGAIN || errno == EINTR)
        return std::optional<parcel_line>();
    return base::fail("{}", base::system_message(errno));
}

void parcel_line::end(std::string why) {
    if (ended_) return;
    ended_ = true;
    unsent_.clear();
    socket_.close();
    gone_ = std::move(why);
}

void parcel_line::send(std::string_view octets) {
    if (ended_) return;
    for (unsigned shift = 0; shift < 8 * header; shift += 8)
        unsent_ += static_cast<char>(octets.size() >> shift);
    unsent_ += octets;
    write();
    if (unsent_.size() > largest_unread) end("does not read what it is told");
}

void parcel_line::write() {
    std::size_t written = 0;
    while (written < unsent_.size()) {
        const auto now =
            ::send(socket_.get(), unsent_.data() + written, unsent_.size() - written, MSG_NOSIGNAL);
        if (now > 0) {
            written += static_cast<std::size_t>(now);
        } else if (errno != EINTR) {
            // What it had said before it went is still there to be read, which finds its end.
            break;
        }
    }
    unsent_.erase(0, written);
}

void parcel_line::read() {
    std::array<char, at_once> some{};
    while (!ended_ && heard_.size() < header + largest_parcel) {
        const auto now = ::recv(socket_.get(), some.data(), some.size(), 0);
        if (now > 0) {
            heard_.append(some.data(), static_cast<std::size_t>(now));
        } else if (now == 0 || errno == ECONNRESET) {  // reset: it had not read all
            end("closed its connection");
        } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
            return;
        } else if (errno != EINTR) {
            end(base::system_message(errno));
        }
    }
}

std::optional<std::string> parcel_line::take() {
    if (heard_.size() < header) return std::nullopt;
    const std::size_t length = length_of(heard_);
    if (length > largest_parcel) {
        heard_.clear();
        end(fmt::format("said {} octets at once, which are too many", length));
        return std::nullopt;
    }
    if (heard_.size() < header + length) return std::nullopt;
    std::string one = heard_.substr(header, length);
    heard_.erase(0, header + length);
    return one;
}

std::optional<std::string> parcel_line::receive() {
    if (auto one = take()) return one;
    if (ended_) return std::nullopt;
    if (!unsent_.empty()) write();
    read();
    return take();
}

base::expected<parcel_door> parcel_door::open(const std::string& path) {
    base::file_descriptor socket = unix_socket();
    if (!socket.is_open()) return base::fail("{}", base::system_message(errno));
    constexpr int queue = 4;
    auto file = socket_file::listen(socket.get(), path, socket_rights{.mode = 0600}, queue);
    if (!file) return base::failure{file.error().message};
    return parcel_door(std::move(socket), std::move(*file));
}

std::optional<parcel_line> parcel_door::let_in() {
    base::file_descriptor who(
        ::accept4(socket_.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (!who.is_open()) return std::nullopt;
    return parcel_line(std::move(who));
}

}  // namespace postal::net
