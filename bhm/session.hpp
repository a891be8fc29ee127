// What the black hole does with mail: asks whether the recipient is valid, checks the message on its
// way to nowhere, and says that it was accepted.
//
// The conversation is serve::session's. Messages (LMTP: recipients) end as accepted here, or in
// doubt when the session is lost while their reply is held back (--delay).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include <boost/asio/awaitable.hpp>

#include "bhm/room.hpp"
#include "mail/message_checker.hpp"
#include "serve/session.hpp"

namespace postal::bhm {

class session final : public serve::session {
  public:
    session(room& here, const serve::visitor& who)
        : serve::session(here, who, here.of_run.names.name_of_socket(who.socket.descriptor)),
          here_(here) {}

  private:
    // A message between its end and the moment when its reply is due.
    struct verdict_due {
        std::uint64_t octets = 0;
        std::uint32_t recipients = 0;
        std::uint32_t units = 0;  // the message, or in LMTP each of its recipients
        mail::verdict found = mail::verdict::foreign;
    };

    proto::server_reply judge_recipient() override;
    void begin_message() override;
    void take_content(std::string_view text) override;
    void end_message() override;
    void answers_due_now() override;
    bool outcome_pending() const override { return due_.has_value(); }
    void drop_message() override;

    void count_integrity();

    room& here_;
    std::optional<verdict_due> due_;
    std::unique_ptr<mail::message_checker> checker_;
};

boost::asio::awaitable<void> serve_guest(room& here, serve::visitor who);

}  // namespace postal::bhm
