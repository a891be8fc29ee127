// SPDX-License-Identifier: GPL-3.0-or-later
// A connection whose peer is a bare socket, and batches of events in which it writes.
#pragma once

#include "net/connection.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <array>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include <sys/socket.h>

#include "base/file_descriptor.hpp"

namespace postal::net::test {

namespace asio = boost::asio;

// One connection, and its peer as a bare socket.
class line_with_peer {
  public:
    explicit line_with_peer(asio::io_context& context) : own(std::in_place, context) {
        std::array<int, 2> ends{-1, -1};
        REQUIRE(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends.data()) ==
                0);
        REQUIRE(own->adopt({base::file_descriptor(ends[0]), AF_UNIX}) == fault::none);
        peer_ = base::file_descriptor(ends[1]);
    }

    void peer_says(char what) const { CHECK(::send(peer_.get(), &what, 1, 0) == 1); }
    void peer_leaves() { peer_.close(); }
    // What has come to the peer by now.
    std::string peer_hears(std::size_t at_most = std::string::npos) const {
        std::string heard;
        std::array<char, 4096> buffer{};
        while (heard.size() < at_most) {
            const std::size_t wanted = std::min(buffer.size(), at_most - heard.size());
            const ssize_t got = ::recv(peer_.get(), buffer.data(), wanted, 0);
            if (got <= 0) break;
            heard.append(buffer.data(), static_cast<std::size_t>(got));
        }
        return heard;
    }
    // As small as the kernel has it.
    void shrink_buffer() const {
        const int least = 1;
        REQUIRE(setsockopt(own->native(), SOL_SOCKET, SO_SNDBUF, &least, sizeof least) == 0);
    }
    bool put_off(std::string_view text) {
        gather parts;
        parts.add(text);
        const bool taken = own->write_soon(parts);
        CHECK(parts.size() == (taken ? 0 : text.size()));
        return taken;
    }
    bool write(std::string_view text) {
        gather parts;
        parts.add(text);
        return own->write_now(parts);
    }
    // Calls `act` from the batch in which the peer's next octet comes.
    void on_next_octet(const std::function<void()>& act) {
        own->when_readable([this, &act] {
            std::array<char, 8> buffer{};
            CHECK(own->read_ready(buffer).size == 1);
            act();
        });
    }

    std::optional<connection> own;

  private:
    base::file_descriptor peer_;
};

inline void serve_events(asio::io_context& context) {
    context.restart();
    while (context.poll() != 0) {
    }
}

// Runs `act` while a batch is served.
inline void in_a_batch(asio::io_context& context, line_with_peer& line,
                       const std::function<void()>& act) {
    bool called = false;
    const std::function<void()> noted = [&] {
        called = true;
        act();
    };
    line.on_next_octet(noted);
    line.peer_says('x');
    serve_events(context);
    CHECK(called);
}

}  // namespace postal::net::test
