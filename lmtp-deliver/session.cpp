// SPDX-License-Identifier: GPL-3.0-or-later
#include "lmtp-deliver/session.hpp"

#include <algorithm>
#include <new>

#include "lmtp-deliver/envelope_rules.hpp"
#include "lmtp-deliver/headers.hpp"
#include "net/endpoint.hpp"

namespace postal::lmtp_deliver {
namespace {

const delivery_reply stopping{421, "4.3.2", "Shutting down"};
const delivery_reply client_gone{451, "4.3.2", "Withdrawn, for its client has left"};
const delivery_reply no_memory{451, "4.3.0", "Out of memory, try again later"};
const delivery_reply no_storage{452, "4.3.1", "Cannot store the message"};

}  // namespace

// ---- the envelope ----

proto::server_reply session::judge_sender() {
    if (!has_room(context_.of_run.storage, machine().declared_octets()))
        return delivery::too_little_free;
    auto begun = std::make_unique<transaction>(context_.of_run.storage, share_of_held());
    begun->id = context_.next_id();
    if (client_.empty()) client_ = client_name();
    begun->client = client_;
    begun->helo = helo_;
    begun->set_sender(machine().current_path(), context_.of_run.chosen.detail_delimiter,
                      context_.of_run.chosen.null_sender);
    const proto::server_reply refusal = refusal_of_sender(context_.of_run, *begun);
    if (refusal.code != 0) return refusal;
    transaction_ = std::move(begun);
    return proto::replies::sender_ok;
}

proto::server_reply session::judge_recipient() {
    mailbox recipient =
        make_mailbox(machine().current_path(), context_.of_run.chosen.detail_delimiter);
    const proto::server_reply refusal =
        refusal_of_recipient(context_.of_run, *transaction_, recipient);
    if (refusal.code != 0) return refusal;
    return transaction_->take(std::move(recipient)) ? proto::replies::recipient_ok
                                                    : serve::too_much_in_hand;
}

// ---- the message ----

void session::begin_message() {
    transaction& of = *transaction_;
    of.how = {.lmtp = true,
              .utf8 = machine().smtputf8(),
              .secure = connection().secure(),
              .authenticated = machine().authenticated()};
    if (context_.of_run.head_for_each(of)) return;
    const mailbox* recipient = of.recipients.size() == 1 ? &of.recipients.front() : nullptr;
    transaction_->message.append(headers(context_.of_run, of, recipient));
}

void session::end_message() {
    const auto stored = transaction_->message.finish();
    transaction_->complete = now();
    if (context_.own.stopping()) return refuse_all(stopping);
    if (transaction_->no_room) return refuse_all(to_delivery_reply(serve::too_much_in_hand));
    if (!stored && transaction_->message.no_room())
        return refuse_all(to_delivery_reply(delivery::too_little_free));
    if (!stored) {
        context_.log.say(stored.error().message);
        return refuse_all(no_storage);
    }
    // Whom a Unix socket leads to is one client on each connection.
    if (!customer_) {
        const auto from = client_address();
        customer_.emplace(context_.slots, from ? from->origin().text() : "");
    }
    deliveries_.reserve(transaction_->recipients.size());
    for (std::size_t i = 0; i < transaction_->recipients.size(); ++i) {
        const delivery::place where{i, *this, *customer_};
        deliveries_.push_back(std::make_unique<delivery>(context_, *transaction_, where));
    }
    begin_deliveries();
}

// As far as accounts are known; found() goes on from there.
void session::begin_deliveries() {
    for (; looked_at_ < deliveries_.size(); ++looked_at_) {
        delivery& one = *deliveries_[looked_at_];
        if (one.over()) continue;
        auto home = context_.known_home(one.recipient().user);
        if (!home) return context_.lookups.ask(*this, one.recipient().user);
        one.begin(std::move(home));
    }
}

void session::found(const std::string& user, account_lookups::account what) {
    try {
        delivery& one = *deliveries_[looked_at_++];
        if (!what) {
            if (!one.over()) one.cannot_begin(what.error().message);
        } else {
            auto home = context_.remember(user, *what);
            if (!one.over()) one.begin(std::move(home));
        }
        begin_deliveries();
    } catch (const std::bad_alloc&) {
        cancel_all(no_memory);
    }
}

void session::cancel_all(const delivery_reply& why) {
    for (auto& one : deliveries_)
        one->cancel(why);
}

void session::client_left() {
    for (auto& one : deliveries_)
        if (one->cancel(client_gone)) ++tally().withdrawn;
}

// Nothing was started for it.
void session::refuse_all(const delivery_reply& why) {
    while (machine().answers_due() != 0) {
        machine().answer_delivery({why.code, why.enhanced, why.text}, output());
        count(why);
        units_ended(1);
        answered(0);
    }
    transaction_.reset();
}

void session::delivered(delivery& which) {
    if (which.decided()) {
        count(which.answer());
        units_ended(1);
    }
    wake();
}

void session::count(const delivery_reply& answer) {
    stats::tally& counts = tally();
    if (answer.code < 400) {
        counts.accepted(1, now());
        counts.recipients += 1;
        counts.bytes += machine().message_octets();
        return;
    }
    (answer.code < 500 ? counts.deferred : counts.rejected) += 1;
    count_refusal(proto::server_stage::end,
                  {answer.code, answer.enhanced, answer.text, answer.limit});
}

// ---- the answers ----

bool session::answers_ready() const {
    return answered_ == deliveries_.size() || deliveries_[answered_]->over();
}

void session::give_answers() {
    while (answered_ < deliveries_.size() && deliveries_[answered_]->over()) {
        const delivery_reply& answer = deliveries_[answered_++]->answer();
        machine().answer_delivery({answer.code, answer.enhanced, answer.text}, output());
        answered(answer.code < 400 ? 1 : 0);
    }
    if (answered_ == deliveries_.size()) drop_message();
}

bool session::work_left() const {
    return std::any_of(deliveries_.begin(), deliveries_.end(),
                       [](const auto& one) { return !one->over(); });
}

// What was delivered while its client was lost has no answer any more.
void session::drop_message() {
    for (; answered_ < deliveries_.size(); ++answered_) {
        const delivery& one = *deliveries_[answered_];
        if (one.decided() && one.answer().code < 400) ++tally().unheard;
    }
    context_.lookups.forget(*this);
    deliveries_.clear();
    looked_at_ = answered_ = 0;
    transaction_.reset();
}

// ---- the stop ----

void session::stop_gently() {
    cancel_all(stopping);
}

void session::stop_now() {
    for (auto& one : deliveries_)
        one->abandon();
}

}  // namespace postal::lmtp_deliver
