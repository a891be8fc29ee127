// SPDX-License-Identifier: GPL-3.0-or-later
// What a behaviour makes of a session: its rules are asked at each stage, and what they say is
// done.
#include "bhm/session.hpp"

#include <chrono>
#include <utility>

#include "base/text.hpp"
#include "bhm/rule_listeners.hpp"
#include "net/endpoint.hpp"

namespace postal::bhm {

using proto::server_stage;

behaviour::nanoseconds session::since_start() const {
    return now() - context_.own.start();
}

// The first that is asked: who it is that came.
void session::meet() {
    conduct_ = std::make_unique<conduct>(
        *context_.of_run.engine,
        conduct::origin{.listener = listener_ == nullptr ? std::string() : net::to_text(*listener_),
                        .local = context_.of_run.rules_name_listeners
                                     ? own_end_text(connection().native())
                                     : std::string(),
                        .client = client_address(),
                        .session = number_,
                        .lmtp = context_.of_run.chosen.dialect == proto::dialect::lmtp});
    const std::uint64_t rate = context_.of_run.speed_of(number_);
    if (rate != 0) add_effect({.read_rate = rate});
}

std::optional<proto::server_reply> session::obey(const behaviour::decision& what) {
    if (what.by != nullptr) add_effect(what, !own_answers_.empty());
    return what.reply;
}

std::optional<proto::server_reply> session::judge(const proto::server_step& asked) {
    const server_stage at = asked.stage;
    if (at == server_stage::mail) return judge_sender();
    if (at == server_stage::rcpt) return judge_recipient();
    if (at == server_stage::connect) meet();
    if (connection().secure()) conduct_->secured();
    if (at == server_stage::ehlo) conduct_->greeted(asked.text.substr(0, asked.text.find(' ')));
    if (at == server_stage::end) return judge_end();
    if (!conduct_->may_act(at)) return std::nullopt;
    const auto judged = conduct_->at(at, machine().message_octets(), since_start());
    if (at == server_stage::data || at == server_stage::chunk)
        note_refusal(server_stage::data, judged);
    return obey(judged);
}

// Over LMTP each recipient has an answer of its own, judged when all else is known.
std::optional<proto::server_reply> session::judge_end() {
    if (context_.of_run.chosen.dialect == proto::dialect::lmtp) return std::nullopt;
    if (!conduct_->may_act(server_stage::end)) return std::nullopt;
    const auto judged = conduct_->at(server_stage::end, machine().message_octets(), since_start());
    note_refusal(server_stage::end, judged);
    const auto own = obey(judged);
    if (!own || !own->positive()) return own;
    own_answers_.assign(1, own);
    return std::nullopt;
}

// A cut ends the replies: who stands behind it hears nothing, and is in doubt.
void session::judge_deliveries(delayed_reply& found) {
    if (!conduct_ || context_.of_run.chosen.dialect != proto::dialect::lmtp) return;
    if (!conduct_->may_judge_deliveries()) return;
    const std::uint32_t asked = found.recipients;
    found.recipients = 0;
    std::vector<ledger::address_id> reached;
    for (std::uint32_t i = 0; i < asked; ++i) {
        const auto judged = conduct_->at_delivery(i, found.octets, since_start());
        const auto own = obey(judged);
        const bool cut = judged.close != proto::cut::no;
        if (cut && !own) break;
        own_answers_.push_back(own);
        if (own && !own->positive()) {
            found.refusals.push_back(*own);
        } else {
            ++found.recipients;
            if (i < recipients_.size()) reached.push_back(recipients_[i]);
        }
        if (cut) break;
        // RFC 5321 3.8: whoever is told 421 is sent away; behind the replies for the others.
        if (own && own->code == 421) add_effect({.reply = own, .close = proto::cut::fin});
    }
    unanswered_ = own_answers_.size() < asked;
    found.units = found.recipients;
    recipients_ = std::move(reached);
    for (std::uint32_t i = 0; delivery_ && i < asked; ++i) {
        const bool answered = i < own_answers_.size();
        const bool taken = answered && (!own_answers_[i] || own_answers_[i]->positive());
        if (!taken) delivery_->withdraw(i);
    }
}

}  // namespace postal::bhm
