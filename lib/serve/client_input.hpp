// SPDX-License-Identifier: GPL-3.0-or-later
// What a client has said and the machine has not taken: where it lies, how fast it is read, and its
// way into the transcript.
//
// It lies in the thread's buffer, which is another session's after every suspension: whoever
// suspends calls keep() first. Nothing here fails but for memory, and read() as the connection
// does.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/release.hpp"
#include "net/connection.hpp"
#include "net/transcript.hpp"
#include "proto/smtp/server.hpp"

namespace postal::serve {

class client_input {
  public:
    // `room` and `transcript`, which may be null, outlive it.
    client_input(std::span<char> room, net::transcript* transcript) noexcept
        : room_(room), transcript_(transcript) {}

    std::string_view left() const noexcept { return left_; }
    bool empty() const noexcept { return left_.empty(); }
    void forget() noexcept { left_ = {}; }

    void keep();
    // Of what was kept, room for more than an idle session may hold on to.
    void give_back(std::size_t kept) {
        if (kept_.capacity() > kept) base::release(kept_);
    }

    // Nothing may have come.
    net::read_result read(net::connection& from);
    // From here on so many octets a second are read.
    void slow_down(std::uint64_t rate) noexcept { rate_ = rate; }
    bool slow() const noexcept { return rate_ != 0; }
    // How long what was read last takes.
    std::chrono::nanoseconds take_time() noexcept;

    // After keep(): whether it says no more, for its last line is here or waits in the socket. Over
    // TLS, and behind more than 64 KiB, a QUIT that has not been read yet is not seen.
    bool ends_in_quit(net::connection& from);

    // What the next octets are before the machine takes them.
    enum class kind : std::uint8_t { commands, secrets, content };
    static kind next_of(const proto::smtp_server& machine) noexcept {
        return machine.reading_content() ? kind::content
               : machine.in_auth()       ? kind::secrets
                                         : kind::commands;
    }
    void took(std::size_t octets, kind what, const proto::smtp_server& machine) {
        if (transcript_ != nullptr && octets != 0)
            write_down(left_.substr(0, octets), what, machine);
        left_.remove_prefix(octets);
    }

  private:
    void write_down(std::string_view taken, kind what, const proto::smtp_server& machine);

    const std::span<char> room_;
    net::transcript* const transcript_;
    std::string_view left_;  // in room_ or kept_
    std::string kept_;       // across a suspension
    std::string half_line_;  // of a command, until the transcript may have it
    bool half_secret_ = false;
    std::uint64_t rate_ = 0;  // 0: as they come
    std::size_t read_at_once_ = 0;
};

}  // namespace postal::serve
