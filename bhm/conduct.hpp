// One session's side of a behaviour: what is known of the session so far, so that the engine can be asked.
//
// Made where there is a behaviour alone. Over SMTP the first recipient stands for all at data, chunk and
// end; over LMTP each has an answer of its own at the end. No I/O; nothing fails.
#pragma once

#include "behaviour/engine.hpp"

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
    void took_recipient();
    // At all other stages; at end over LMTP at_delivery().
    [[nodiscard]] behaviour::decision at(behaviour::stage stage, std::uint64_t octets,
                                         behaviour::nanoseconds now);
    // Of the message's recipient of this number, from 0.
    [[nodiscard]] behaviour::decision at_delivery(std::size_t recipient, std::uint64_t octets,
                                                  behaviour::nanoseconds now);

  private:
    // A path that stays: path's views are into what the client says now.
    struct kept_path {
        std::string mailbox;
        proto::path shape;  // without its views
        std::size_t local_octets = 0;

        void keep(const proto::path& from);
        [[nodiscard]] proto::path view() const noexcept;
    };
    struct kept_recipient {
        kept_path who;
        bool known;
        std::uint64_t number;
    };

    behaviour::decision ask(behaviour::stage stage, behaviour::nanoseconds now);
    void show(const kept_recipient& one);

    behaviour::engine& rules_;
    const origin from_;
    behaviour::situation here_;
    behaviour::of_session of_session_;
    std::string helo_;
    kept_path sender_;
    proto::path shown_sender_;                // what here_ points to
    proto::path shown_recipient_;             // likewise
    kept_recipient asked_{};                  // at_recipient()'s
    std::vector<kept_recipient> recipients_;  // as many as may be asked about later
    std::size_t most_recipients_ = 0;
};

}  // namespace postal::bhm
