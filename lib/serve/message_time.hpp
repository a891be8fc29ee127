// SPDX-License-Identifier: GPL-3.0-or-later
// Until when a client may go on without a whole message (--message-time).
//
// A transaction has `allowed` from MAIL on. A session has it too, from its begin or its last whole
// message on, and for each MAIL since a second more, never more than `allowed` from then: who is
// refused at speed, on purpose, goes on for as long as he likes, and who holds a place with a
// refusal now and then does not. A transaction that such a session begins late ends when the one in
// time would have. What the server holds back itself is added. Time is passed in; nothing fails.
#pragma once

#include <algorithm>
#include <chrono>

namespace postal::serve {

class message_time {
  public:
    using time = std::chrono::steady_clock::time_point;
    using nanoseconds = std::chrono::nanoseconds;

    // The session begins, or a message is whole.
    void restart(time now, nanoseconds allowed) noexcept { session_until_ = now + allowed; }
    void mail_comes(time now, nanoseconds allowed) noexcept {
        constexpr nanoseconds for_each = std::chrono::seconds(1);
        transaction_until_ = std::min(now, session_until_) + allowed;
        session_until_ =
            std::max(session_until_, std::min(session_until_ + for_each, now + allowed));
    }
    void held_back(nanoseconds how_long) noexcept {
        session_until_ += how_long;
        transaction_until_ += how_long;
    }
    time transaction_until() const noexcept { return transaction_until_; }
    time session_until() const noexcept { return session_until_; }

  private:
    time session_until_{};
    time transaction_until_{};
};

}  // namespace postal::serve
