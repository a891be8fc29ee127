// SPDX-License-Identifier: GPL-3.0-or-later
// Waits for what comes into a mailbox that is selected: in IDLE (RFC 2177), by asking with NOOP, or
// notified without a word (NOTIFY, RFC 5465).
//
// Each gives true when the server did what it should.
#pragma once

#include <boost/asio/awaitable.hpp>

#include <chrono>
#include <cstdint>
#include <utility>

#include "rabid/imap_dialogue.hpp"
#include "rabid/visit_context.hpp"

namespace postal::rabid {

// A server may take a client for gone that has been in IDLE for half an hour; who says it again
// before 29 minutes is safe (RFC 2177 3).
inline constexpr std::chrono::nanoseconds longest_idle = std::chrono::minutes(28);

class imap_wait {
  public:
    // Both outlive it.
    imap_wait(const visit_context& who, imap_dialogue& dialogue);

    // Where watching is to begin: the server is asked for NOTIFY, where that is wanted.
    asio::awaitable<bool> begin_watching();
    // When the server agreed to that last, since the epoch; 0: it has not.
    std::uint64_t agreed_us() const noexcept { return agreed_us_; }
    // In IDLE, said again where that is long, or a pause with NOOP behind it. IDLE ends early when
    // there is news.
    asio::awaitable<bool> rest(std::chrono::nanoseconds how_long);
    // NOOP.
    asio::awaitable<bool> ask();
    // When that or IDLE was said last, of those that were answered, since the epoch: what had come
    // by then the server has told of. 0: nothing was. Who is silent by NOTIFY shows nothing.
    std::uint64_t asked_us() const noexcept { return asked_us_; }

    // How the session hears of what comes, and what it is in meanwhile.
    ledger::notice told_how() const noexcept;
    ledger::waiting waits_how() const noexcept;

    // The stretch in IDLE that goes on, which may be said again meanwhile: from the first
    // continuation request to the last DONE that was answered. 0: there is none.
    struct idle_stretch {
        std::uint64_t began_us = 0;
        std::uint64_t ended_us = 0;
    };
    idle_stretch take_stretch() noexcept { return std::exchange(stretch_, {}); }

  private:
    asio::awaitable<bool> ask_after(std::chrono::nanoseconds how_long);
    asio::awaitable<bool> ask_to_be_notified();
    imap_tag say_notify();
    asio::awaitable<bool> ask_again();
    asio::awaitable<bool> wait_to_be_notified(std::chrono::nanoseconds how_long);
    asio::awaitable<bool> idle(std::chrono::nanoseconds how_long);
    asio::awaitable<bool> begin_idle();
    asio::awaitable<bool> end_idle();
    asio::awaitable<bool> idle_until(load::steady_time until);
    bool idles() const noexcept;
    // --watch-by notify: the server tells of mail by itself, whatever the session does.
    bool is_notified() const noexcept;

    const visit_context& visit_;
    imap_dialogue& dialogue_;
    proto::imap_commands& commands_;
    proto::imap_output& out_;
    idle_stretch stretch_;
    std::uint64_t agreed_us_ = 0;
    std::uint64_t asked_us_ = 0;
    // Of who is notified: when something was last said, as far as is known, and how much by then.
    load::steady_time said_last_{};
    load::steady_time asked_last_{};
    std::uint64_t said_by_then_ = 0;
};

}  // namespace postal::rabid
