// SPDX-License-Identifier: GPL-3.0-or-later
#include "desk.hpp"

#include <algorithm>
#include <utility>

#include "server_house.hpp"

namespace simulation {

namespace {

using postal::proto::cut;
using postal::proto::server_reply;

const delivery_reply client_gone{451, "4.3.2", "Withdrawn, for its client has left"};

// In lmtp-deliver clients are told apart by where they come from; here each two sessions do from
// one place, and some from Unix sockets.
std::string address_of(const line_number& where) {
    return where.session % 3 == 2 ? "" : fmt::format("192.0.2.{}", where.session / 2);
}

}  // namespace

// ---- with agents ----

agent_desk::agent_desk(const counter_place& at, sink& into)
    : at_(at), sink_(into), customer_(at.house.agents->slots(), address_of(at.where)) {}

void agent_desk::begin(const std::vector<std::string>& mailboxes) {
    message_ = at_.truth.served.size() - 1;
    for (const std::string& one : mailboxes)
        deliveries_.push_back(&at_.house.agents->make({customer_, *this, one}));
    for (delivery* one : std::vector(deliveries_))
        one->begin();
}

void agent_desk::refuse_all(std::size_t number, const delivery_reply& why) {
    for (; number > 0; --number) {
        count(why);
        answer(why);
    }
}

bool agent_desk::answers_ready() const {
    return answered_ == deliveries_.size() || deliveries_[answered_]->over();
}

void agent_desk::give_answers() {
    while (answered_ < deliveries_.size() && deliveries_[answered_]->over())
        answer(deliveries_[answered_++]->answer());
    if (answered_ == deliveries_.size()) drop();
}

void agent_desk::answer(const delivery_reply& what) {
    const std::size_t before = at_.said.said_so_far();
    at_.machine.answer_delivery({what.code, what.enhanced, what.text}, at_.said.room());
    at_.said.note_ends(1, what.code, before);
    if (what.code < 400) at_.said.accepted(1);
}

void agent_desk::count(const delivery_reply& what) {
    postal::stats::tally& counts = at_.house.with.servers().tally();
    if (what.code < 400) {
        counts.accepted(1, at_.house.time.now());
        counts.recipients += 1;
        ++served().accepted;
    } else {
        ++(what.code < 500 ? counts.deferred : counts.rejected);
    }
    at_.books.ended(1);
}

void agent_desk::cancel_all(const delivery_reply& why) {
    for (delivery* one : deliveries_)
        one->cancel(why);
}

void agent_desk::client_left() {
    for (delivery* one : deliveries_)
        if (one->cancel(client_gone)) ++at_.house.with.servers().tally().withdrawn;
}

bool agent_desk::work_left() const {
    return std::any_of(deliveries_.begin(), deliveries_.end(),
                       [](const auto& one) { return !one->over(); });
}

// What was delivered while its client was lost has no answer any more.
void agent_desk::drop() {
    for (; answered_ < deliveries_.size(); ++answered_) {
        const delivery& one = *deliveries_[answered_];
        if (one.decided() && one.answer().code < 400) ++at_.house.with.servers().tally().unheard;
    }
    deliveries_.clear();
    answered_ = 0;
}

void agent_desk::arrived(const std::string& mailbox) {
    sink_.deliver({&mailbox, 1});
    served().delivered.push_back(mailbox);
}

void agent_desk::delivered(const delivery& which) {
    count(which.answer());
    at_.house.time.wake(at_.session);
}

// ---- any ----

desk::desk(const counter_place& at, stage_faults& faults)
    : at_(at), faults_(faults), sink_(at.house.with, at.house.of, at.house.rows, at.house.store) {
    if (at.house.agents != nullptr) agents_.emplace(at, sink_);
}

void desk::begin() {
    sink_.begin(at_.where.session, at_.truth.sequence_of(at_.truth.served.size() - 1));
}

void desk::whole(bool stopping) {
    served_transaction& served = at_.truth.served.back();
    const auto& seen = sink_.finish(wall_us(at_.house.time.now()));
    served.whole = true;
    // A client that is lied to may have sent another one than that whose turn it is.
    served.sequence = seen.sequence;
    served.foreign = seen.run != apparatus::run;
    served.changed = postal::ledger::is_corrupt(seen.what);
    if (!at_.truth.lies) at_.truth.nonsense += sink_.complaint();
    if (agents_) {
        if (stopping) return agents_->refuse_all(at_.machine.answers_due(), stopping_reply);
        return agents_->begin(recipients_);
    }
    pending_message found;
    if (at_.house.of.lmtp) {
        answer_recipients(found);
    } else {
        found.accepted = at_.books.begun();
        found.mailboxes = recipients_;
        const std::size_t before = at_.said.said_so_far();
        at_.machine.answer_delivery(postal::proto::replies::message_ok, at_.said.room());
        at_.said.note_ends(1, postal::proto::replies::message_ok.code, before);
    }
    pending_ = std::move(found);
}

// A cut ends the replies: who stands behind it hears nothing, and is in doubt.
void desk::answer_recipients(pending_message& found) {
    const std::uint32_t asked = at_.machine.answers_due();
    for (std::uint32_t i = 0; i < asked; ++i) {
        const server_fault* planned = faults_.next(postal::proto::server_stage::end);
        const auto own = faults_.obey(planned, i > 0);
        const bool cut_here = planned != nullptr && planned->close != cut::no;
        if (cut_here && !own) return;
        const server_reply said = own.value_or(postal::proto::replies::message_ok);
        const std::size_t before = at_.said.said_so_far();
        at_.machine.answer_delivery(said, at_.said.room());
        at_.said.note_ends(1, said.code, before);
        if (said.positive()) {
            ++found.accepted;
            found.mailboxes.push_back(recipients_[i]);
        } else {
            ++(said.code < 500 ? found.deferred : found.rejected);
        }
        if (cut_here) return;
        // RFC 5321 3.8: whoever is told 421 is sent away; behind the replies for the others.
        if (said.code == 421) at_.said.held().add({.reply = said, .close = cut::fin}, false);
    }
}

// Nothing holds the answers to a message back any more: now it is delivered, and counted.
void desk::answers_due() {
    if (!pending_) return;
    const pending_message found = *std::exchange(pending_, std::nullopt);
    postal::stats::tally& counts = at_.house.with.servers().tally();
    served_transaction& served = at_.truth.served.back();
    sink_.deliver(found.mailboxes);
    served.delivered = found.mailboxes;
    served.accepted = static_cast<std::uint32_t>(found.mailboxes.size());
    counts.accepted(found.accepted, at_.house.time.now());
    counts.recipients += found.mailboxes.size();
    counts.deferred += found.deferred;
    counts.rejected += found.rejected;
    at_.books.ended(found.accepted + found.deferred + found.rejected);
    if (found.accepted > 0) at_.said.accepted(found.accepted);
}

void desk::drop() {
    pending_.reset();
    if (agents_) agents_->drop();
}

}  // namespace simulation
