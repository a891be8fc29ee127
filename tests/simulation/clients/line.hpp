// SPDX-License-Identifier: GPL-3.0-or-later
// A connection of the program that is simulated, between its system calls and who is at the other
// end.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include <sys/socket.h>

namespace clients {

using std::chrono::nanoseconds;

class simulated_system;

enum class mishap : std::uint8_t {
    none,
    refused,      // ECONNREFUSED, a round trip later
    unreachable,  // ENETUNREACH, at once
    never_made,   // nobody answers the first segment
    reset,        // by the server's system, in place of the octet at `at`
    closed,       // the server says no more than `at` octets, and hangs up
    silent,       // nothing from that octet on, in either direction
    deaf          // the server hears no more than `at` octets, and says nothing to the
                  // rest
};

// What a connection is like.
struct line_traits {
    nanoseconds latency{0};        // one way
    std::size_t piece = 0;         // so many octets arrive at once at most; 0: any. Small
                                   // ones at first only
    nanoseconds gap{0};            // between two pieces
    std::uint64_t small_from = 0;  // of the stream: where small ones begin
    std::size_t room = 64 * 1024;
    mishap what = mishap::none;
    std::uint64_t at = 0;
};

// The other end. All is called from within a wait.
class peer {
  public:
    virtual ~peer() = default;
    virtual void heard(std::string_view octets) = 0;
    // The client has closed, or has gone with a reset.
    virtual void gone() = 0;
};

class line {
  public:
    line(simulated_system& of, std::size_t number, const line_traits& traits)
        : of_(of), number_(number), traits_(traits) {}

    // The server's side: behind all that was said, not before `after` from now.
    void say(std::string_view octets, nanoseconds after = nanoseconds(0));
    void hang_up(nanoseconds after = nanoseconds(0));
    [[nodiscard]] std::uint64_t said() const noexcept { return in_.said; }

    // What the client's system calls have shown.
    [[nodiscard]] std::uint64_t read() const noexcept { return in_.read; }
    [[nodiscard]] bool made() const noexcept { return client_.made; }
    [[nodiscard]] bool client_has_closed() const noexcept { return client_.descriptor < 0; }
    // When it was closed, for how long the client had neither sent nor read anything, nor heard
    // that the connection was made; and for how long it had been over, or octets lay there unread,
    // while the client did not wait for room either.
    [[nodiscard]] nanoseconds last_silence() const noexcept { return times_.silence; }
    [[nodiscard]] nanoseconds closed_at() const noexcept { return times_.closed_at; }
    [[nodiscard]] nanoseconds last_unheeded() const noexcept { return times_.unheeded; }
    [[nodiscard]] std::size_t number() const noexcept { return number_; }
    [[nodiscard]] std::uint16_t port() const noexcept { return remote_.port; }

  private:
    friend class simulated_system;

    [[nodiscard]] std::size_t next_piece(std::size_t most) const noexcept;
    void arrive(std::size_t octets);
    void reach_server(std::size_t octets);
    void suffer();
    void break_off(int error);
    [[nodiscard]] std::uint32_t ready() const noexcept;

    struct remote_end {
        sockaddr_storage address{};
        socklen_t size = 0;
        std::uint16_t port = 0;
    };
    // The client's end.
    struct endpoint {
        int descriptor = -1;
        bool connecting = false;
        bool made = false;
        int error = 0;
        bool ended = false;         // the server says no more, behind what is in the inbox
        bool shut = false;          // the client says no more
        bool no_room_told = false;  // and is to hear when there is some
    };
    struct stream_to_client {
        std::string text{};     // said, and not read
        std::size_t there = 0;  // so much of it has arrived
        std::size_t taken = 0;  // and been read, but is kept
        std::uint64_t said = 0;
        std::uint64_t arrived = 0;
        std::uint64_t read = 0;
        nanoseconds next_departure{0};
        nanoseconds next_arrival{0};

        [[nodiscard]] std::size_t unread() const noexcept { return there - taken; }
    };
    struct stream_to_server {
        std::string written{};
        std::size_t under_way = 0;
        std::uint64_t heard = 0;
    };
    struct times {
        nanoseconds busy_at{0};  // the client sent or read
        nanoseconds told_at{0};  // something happened to it
        nanoseconds closed_at = nanoseconds::max();
        nanoseconds silence{0};
        nanoseconds unheeded{0};
    };

    simulated_system& of_;
    const std::size_t number_;
    const line_traits traits_;
    std::unique_ptr<peer> server_;
    remote_end remote_;
    endpoint client_;
    stream_to_client in_;
    stream_to_server out_;
    times times_;
    bool lost_ = false;         // nothing goes through any more
    bool server_left_ = false;  // what is written now is answered with RST
    bool accepted_ = false;     // by a program that listens
};

}  // namespace clients
