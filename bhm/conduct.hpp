// SPDX-License-Identifier: GPL-3.0-or-later
// One session's side of a behaviour: what is known of the session so far, so that the engine can be
// asked.
//
// Made where there is a behaviour alone. Over SMTP the first recipient stands for all at data,
// chunk and end; over LMTP each has an answer of its own at the end. Which stages any rule may act
// at is looked up once for the session, for each sender and for each recipient; of what is not
// asked about later nothing is kept. No I/O; nothing fails but for memory.
#pragma once

#include "behaviour/engine.hpp"
#include "bhm/kept_paths.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace postal::bhm {

class conduct {
  public:
    struct origin {
        std::string listener;  // "127.0.0.1:2525", "unix:/run/bhm"
        std::string local{};   // this end, where a rule may ask for it
        std::optional<net::ip_address> client;
        std::uint64_t session = 1;
        bool lmtp = false;
    };
    conduct(behaviour::engine& rules, origin from);
    conduct(const conduct&) = delete;
    conduct& operator=(const conduct&) = delete;

    void secured() noexcept { here_.tls = true; }
    void greeted(std::string_view name);

    // At MAIL; `declared` is its SIZE, 0 for none. A message begins, whatever is answered.
    [[nodiscard]] behaviour::decision at_sender(const proto::path& sender, std::uint64_t declared,
                                                behaviour::nanoseconds now);
    // At RCPT; `known` as the user list has it.
    [[nodiscard]] behaviour::decision at_recipient(const proto::path& recipient, bool known,
                                                   behaviour::nanoseconds now);
    // The recipient of at_recipient() is one of the message's.
    void took_recipient(const proto::path& recipient);
    // Whether rules may act on the recipient of at_recipient() once it is taken.
    [[nodiscard]] bool may_meet_later() const noexcept;
    // Whether at_delivery() may say anything, of any recipient.
    [[nodiscard]] bool may_judge_deliveries() const noexcept;
    // Whether at() may say anything there.
    [[nodiscard]] bool may_act(behaviour::stage at) const noexcept {
        const behaviour::stage_set named =
            recipients_.empty() ? reached_by_recipient_ : recipients_.front().asked.reached;
        return (reached_by_others() | named).contains(at);
    }
    // At all other stages; at end over LMTP at_delivery().
    [[nodiscard]] behaviour::decision at(behaviour::stage stage, std::uint64_t octets,
                                         behaviour::nanoseconds now);
    // Of the message's recipient of this number, from 0.
    [[nodiscard]] behaviour::decision at_delivery(std::size_t recipient, std::uint64_t octets,
                                                  behaviour::nanoseconds now);

  private:
    struct asked_recipient {
        std::uint64_t number = 0;  // of the message, those that were refused included
        bool known = false;
        behaviour::stage_set reached{};
    };
    struct kept_recipient {
        asked_recipient asked;
        kept_paths::place who;  // nothing was kept of whom no rule may meet later
    };

    behaviour::decision ask(behaviour::stage stage, behaviour::nanoseconds now);
    void show(const asked_recipient& one, const proto::path& who) noexcept;
    void show(const kept_recipient& one);
    // Where rules may act that were not found by a recipient.
    [[nodiscard]] behaviour::stage_set reached_by_others() const noexcept {
        return of_session_.at | reached_by_sender_;
    }

    behaviour::engine& rules_;
    const origin from_;
    behaviour::situation here_;
    behaviour::of_session of_session_;
    behaviour::stage_set reached_by_sender_;
    behaviour::stage_set reached_by_recipient_;  // the one that is shown
    std::string helo_;
    kept_paths senders_;  // one at most
    kept_paths paths_;
    proto::path shown_sender_;                // what here_ points to
    proto::path shown_recipient_;             // likewise
    asked_recipient asked_{};                 // at_recipient()'s
    std::vector<kept_recipient> recipients_;  // as many as may be asked about later
    std::size_t most_recipients_ = 0;
};

}  // namespace postal::bhm
