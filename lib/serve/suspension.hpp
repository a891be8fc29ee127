// SPDX-License-Identifier: GPL-3.0-or-later
// What a session is suspended for, and how that is ended from outside.
//
// Flow: begin() and end() around whatever it waits for; sleep_until_woken() is a whole wait. One
// thread's own. Nothing here fails but for memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>

#include "proto/smtp/server.hpp"

namespace postal::serve {

// What a session may be at: stats::run_description's.
[[nodiscard]] std::vector<std::string> session_states();

class suspension {
  public:
    // Nothing: it is at work. From awaiting_answers on in the order of session_states().
    enum class what : std::uint8_t {
        nothing,
        reading,
        session_over,
        awaiting_answers,
        held_back,
        sending,
        shaking_hands
    };

    // `context` outlives it.
    explicit suspension(boost::asio::io_context& context) noexcept : context_(context) {}

    bool is(what one) const noexcept { return what_ == one; }
    // `until`: the timer that is waited for, which cut_short() and wake() cancel.
    void begin(what one, boost::asio::steady_timer* until = nullptr) noexcept {
        what_ = one;
        timer_ = until;
    }
    void end() noexcept { begin(what::nothing); }

    boost::asio::awaitable<void> sleep_until_woken();
    void wake();
    // What is held back for a time.
    void cut_short();

    // Its place in session_states().
    std::size_t shown(const proto::smtp_server& machine) const noexcept;

  private:
    boost::asio::io_context& context_;
    what what_ = what::nothing;
    boost::asio::steady_timer* timer_ = nullptr;  // while it is held back or awaits answers
};

}  // namespace postal::serve
