// SPDX-License-Identifier: GPL-3.0-or-later
// What lmtp-deliver does with mail: keeps the message, runs an agent for every recipient, and
// answers each of them in its turn.
//
// The conversation is serve::session's. Every recipient of a message that was begun ends as
// accepted (its agent ended with 0), rejected, deferred, or, when the server is stopped at once or
// the client leaves before the message is whole, in doubt or failed. When a client leaves after
// that, what waits for an agent is deferred and counted as withdrawn, for the client will send it
// again; agents that run are waited for and counted, and only then the session ends.
//
// Each recipient's account is looked up before its delivery begins, one after the other, in another
// thread where it is not known.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "lmtp-deliver/delivery.hpp"
#include "lmtp-deliver/transaction.hpp"
#include "lmtp-deliver/worker_context.hpp"
#include "serve/session.hpp"

namespace postal::lmtp_deliver {

class session final : public serve::session,
                      private delivery::owner,
                      private account_lookups::seeker {
  public:
    session(worker_context& context, serve::accepted_client&& who)
        : serve::session(context, std::move(who), context.of_run.host_name),
          seeker(context.own.context()),
          context_(context) {}
    ~session() override { context_.lookups.forget(*this); }

  private:
    void greeted(std::string_view name) override { helo_ = name; }
    std::optional<proto::server_reply> judge(const proto::server_step& asked) override {
        return asked.stage == proto::server_stage::mail ? judge_sender() : judge_recipient();
    }
    proto::server_reply judge_sender();
    proto::server_reply judge_recipient();
    void begin_message() override;
    void take_content(std::string_view text) override { transaction_->take(text); }
    void end_message() override;
    bool answers_ready() const override;
    void give_answers() override;
    bool work_left() const override;
    bool outcome_pending() const override { return !deliveries_.empty(); }
    void client_left() override;
    void drop_message() override;
    void stop_now() override;
    void stop_gently() override;

    void begin_deliveries();
    void found(const std::string& user, account_lookups::account what) override;
    void cancel_all(const delivery_reply& why);
    void delivered(delivery& which) override;
    void refuse_all(const delivery_reply& why);
    void count(const delivery_reply& answer);

    worker_context& context_;
    std::string helo_;
    std::string client_;                            // known from the first MAIL on
    std::unique_ptr<transaction> transaction_;      // from MAIL on
    std::optional<dispatcher::customer> customer_;  // from the first message on
    std::vector<std::unique_ptr<delivery>> deliveries_;
    std::size_t looked_at_ = 0;  // of deliveries_, in order: those that were begun, or need not be
    std::size_t answered_ = 0;   // likewise
};

}  // namespace postal::lmtp_deliver
