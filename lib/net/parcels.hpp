// SPDX-License-Identifier: GPL-3.0-or-later
// Parcels of octets between two processes of one host, over a Unix socket: whole, and in order.
//
// Flow:
//   auto door = parcel_door::open("/run/search.sock");   where one program lets another in
//   while (!(line = door->let_in())) ...                 never waits
//   auto line = parcel_line::connect(path)               the other one; nobody there is no failure
//   line.send(octets); while (auto one = line.receive()) ...
// Nothing here waits: whoever owns a line calls receive() now and then, which moves along what has
// not left yet, too. A line that ended says why: gone(). The other side is not trusted: a parcel
// that is longer than largest_parcel, or more than largest_unread that it does not read, ends the
// line. The socket's file is its owner's alone (0600); one that nobody listens on any more is
// replaced, any other file is refused; it goes with the door. Failures are one line.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/file_descriptor.hpp"
#include "base/result.hpp"
#include "net/socket_file.hpp"

namespace postal::net {

class parcel_line {
  public:
    static constexpr std::size_t largest_parcel = 4U << 20U;
    static constexpr std::size_t largest_unread = 16U << 20U;

    explicit parcel_line(base::file_descriptor socket) noexcept : socket_(std::move(socket)) {}

    // Nothing where nobody lets anybody in there, yet.
    static base::expected<std::optional<parcel_line>> connect(const std::string& path);

    void send(std::string_view octets);
    std::optional<std::string> receive();
    // Why nothing comes any more: "closed its connection"; once receive() has given all that came.
    [[nodiscard]] const std::optional<std::string>& gone() const noexcept { return gone_; }
    [[nodiscard]] std::size_t unsent() const noexcept { return unsent_.size(); }

  private:
    void end(std::string why);
    void write();
    void read();
    std::optional<std::string> take();

    base::file_descriptor socket_;
    std::string unsent_;
    std::string heard_;
    bool ended_ = false;  // what had come before may still be taken
    std::optional<std::string> gone_;
};

class parcel_door {
  public:
    static base::expected<parcel_door> open(const std::string& path);
    // Who has come, if anybody has.
    std::optional<parcel_line> let_in();

  private:
    parcel_door(base::file_descriptor socket, socket_file file) noexcept
        : socket_(std::move(socket)), file_(std::move(file)) {}

    base::file_descriptor socket_;
    socket_file file_;
};

}  // namespace postal::net
