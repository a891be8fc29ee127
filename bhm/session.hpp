// SPDX-License-Identifier: GPL-3.0-or-later
// What the black hole does with mail: asks whether the recipient is valid, checks the message on
// its way to nowhere, and says that it was accepted.
//
// With a ledger each recipient's copy is written there when it is counted, and of one that differs,
// how; while the ledger does not keep up, messages are answered late.
//
// With a behaviour (--behaviour) its rules are asked at every stage (session_conduct.cpp).
//
// The conversation is serve::session's. Messages (LMTP: recipients) end as accepted here, or in
// doubt when the session is lost while their reply is held back (--delay, a ledger that is behind).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bhm/conduct.hpp"
#include "bhm/final_delivery.hpp"
#include "bhm/retries.hpp"
#include "bhm/worker_context.hpp"
#include "ledger/rows.hpp"
#include "serve/session.hpp"

namespace postal::bhm {

class session final : public serve::session, private worker_context::held {
  public:
    session(worker_context& context, serve::accepted_client&& who)
        : serve::session(context, std::move(who),
                         context.of_run.names.name_of_socket(who.socket.descriptor.get())),
          context_(context),
          number_(who.number),
          listener_(who.listener) {}
    ~session() override { context_.forget(*this); }

  private:
    // A message between its end and the moment when its reply is due.
    struct delayed_reply {
        std::uint64_t octets = 0;
        std::uint32_t recipients = 0;  // who got it
        std::uint32_t units = 0;       // accepted: the message, or in LMTP those recipients
        std::vector<proto::server_reply> refusals{};  // in LMTP, of recipients
        mail::integrity found = mail::integrity::foreign;
        ledger::seen_row sighting{};                   // of the first recipient; with a ledger only
        std::vector<ledger::returned_row> returned{};  // what it notifies of
    };

    void greeted(std::string_view name) override;
    void connection_ready() override;
    serve::auth_answer judge_auth(const proto::server_step& step) override;
    std::optional<proto::server_reply> judge(const proto::server_step& asked) override;
    proto::server_reply judge_sender();
    proto::server_reply judge_recipient();
    void begin_message() override;
    void take_content(std::string_view text) override;
    void end_message() override;
    void keep_first(delayed_reply& found);
    bool answers_ready() const override { return !late_; }
    void give_answers() override;
    void answers_due_now() override;
    bool outcome_pending() const override { return due_ || late_reply_ || unanswered_; }
    void drop_message() override;
    void doubtful_answers(bool heard) override;
    void stop_now() override;
    void go_on() override;

    behaviour::grey_verdict ask_greylist(const proto::path& recipient);
    bool may_hold_recipient(const proto::path& who);
    void refuse_for_want_of_room(delayed_reply& found);
    void describe(const mail::check_result& result, delayed_reply& into) const;
    void count_transit(const mail::check_result& result);
    void answer();
    void count_refusals();
    void count_integrity();
    void write_sightings();

    // What the behaviour says (session_conduct.cpp).
    void meet();
    std::optional<proto::server_reply> obey(const behaviour::decision& what);
    std::optional<proto::server_reply> judge_end();
    void judge_deliveries(delayed_reply& found);
    behaviour::nanoseconds since_start() const;

    // How deferred recipients are tried again (session_retries.cpp).
    behaviour::nanoseconds said_at(proto::server_stage at, const behaviour::decision& judged) const;
    void note_sender();
    void note_recipient(const behaviour::decision& judged, unsigned code);
    void note_refusal(proto::server_stage at, const behaviour::decision& judged);

    // One exchange of AUTH (session_auth.cpp).
    struct login {
        std::string channel_binding;
        std::string certified;
        std::unique_ptr<sasl::server> they;
    };

    worker_context& context_;
    serve::held_octets::share held_;      // what the transaction makes bhm keep
    bool no_room_ = false;                // for all of the message
    const std::uint64_t number_;          // in the order in which clients came
    const net::address* const listener_;  // null: unknown
    std::unique_ptr<conduct> conduct_;    // with a behaviour only
    // From the first MAIL on, where recipients may be deferred.
    std::unique_ptr<attempts> attempts_;
    // What takes the place of 250: of the message, or in LMTP of each of its recipients.
    std::vector<std::optional<proto::server_reply>> own_answers_;
    bool unanswered_ = false;       // a cut leaves recipients without a reply
    std::unique_ptr<login> login_;  // from AUTH to its end
    std::optional<delayed_reply> due_;
    std::optional<delayed_reply> late_reply_;  // until the ledger has caught up
    bool late_ = false;
    std::vector<ledger::address_id> recipients_;  // with a ledger only
    std::vector<ledger::seen_row> doubtful_;      // for when it is known whether they were heard
    std::unique_ptr<ledger::examination> examination_;
    std::string helo_;                          // with a store only
    std::uint64_t messages_ = 0;                // of the session so far
    std::unique_ptr<final_delivery> delivery_;  // from MAIL on, where the plan wants it
};

}  // namespace postal::bhm
