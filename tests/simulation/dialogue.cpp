// SPDX-License-Identifier: GPL-3.0-or-later
#include "dialogue.hpp"

#include <utility>

#include <fmt/format.h>

namespace simulation {

namespace {

using postal::proto::cut;
using postal::proto::server_event;
using postal::proto::server_reply;
using postal::proto::server_stage;
using postal::proto::server_step;

constexpr std::string_view host_name = "server.example";

}  // namespace

server_house::server_house(apparatus& with_what, const scenario& run, timeline& clock,
                           books& ledger, const transcript& events)
    : with(with_what), of(run), time(clock), rows(ledger), shown(events) {
    rules.server.speaks = of.lmtp ? postal::proto::dialect::lmtp : postal::proto::dialect::smtp;
    rules.server.judges_senders = rules.server.judges_stages = true;
    rules.server.max_recipients = of.max_recipients;
    if (of.tight_limits) {
        rules.server.max_errors = 3;
        rules.server.max_idle_commands = 5;
    }
    rules.timeout = of.server_timeout;
    rules.message_time = of.message_time;
    rules.min_data_rate = of.min_data_rate;
    rules.data_phase = apparatus::server_data_phase;
    rules.message_phase = apparatus::server_message_phase;
}

server_dialogue::server_dialogue(server_house& house, actor& session, connection& line,
                                 connection_record& truth, voice& said)
    : house_(house),
      truth_(truth),
      voice_(said),
      machine_(house.rules.server, host_name),
      books_(house.with.servers(), house.rules, machine_),
      patience_(house.rules, false),
      faults_(house.of, line.number(), said),
      desk_({house, session, line.number(), truth, said, machine_, books_}, faults_) {
    patience().begin_anew();
}

void server_dialogue::stop() {
    stopping_ = true;
    if (agent_desk* const agents = desk_.agents()) agents->cancel_all(stopping_reply);
}

bool server_dialogue::at_rest() const {
    return !machine_.in_transaction() && machine_.answers_due() == 0 && !desk_.pending();
}

bool server_dialogue::leaves_idle() const {
    return books_.had_transaction() && books_.begun() == 0 && at_rest() &&
           voice_.everything_heard() && !machine_.in_line();
}

// ---- what the machine says ----

server_dialogue::next server_dialogue::process() {
    if (then_ != next::read) return std::exchange(then_, next::read);
    if (voice_.held().ending() != cut::no) return next::cut;
    if (begun_ != opening::done) {
        const next what = open();
        if (what != next::read) return what;
    }
    if (desk_.awaits_agents()) return next::answers;
    return consume();
}

server_dialogue::next server_dialogue::open() {
    if (std::exchange(begun_, opening::banner) == opening::connect) {
        judge({.event = server_event::ask, .stage = server_stage::connect});
        const next what = in_time(server_stage::connect, next::read);
        if (what != next::read) return what;
    }
    begun_ = opening::done;
    const server_step asked = machine_.greet(voice_.room());
    const server_step step = machine_.answer(judge(asked), voice_.room());
    return in_time(step.stage, step.event == server_event::close ? next::close : next::read);
}

server_dialogue::next server_dialogue::consume() {
    for (;;) {
        house_.time.exert();
        if (stopping_ && at_rest()) return next::stop;
        const std::size_t said_before = voice_.said_so_far();
        server_step step = machine_.consume(input_, voice_.room());
        const std::size_t consumed = step.consumed;
        // Before the octets go that the step may point into.
        const next what = step.event == server_event::ask
                              ? act_on(machine_.answer(judge(step), voice_.room()), said_before)
                              : act_on(step, said_before);
        input_.erase(0, consumed);
        if (what == next::read && desk_.awaits_agents()) return next::answers;
        if (step.event == server_event::need_more || what != next::read) return what;
    }
}

server_dialogue::next server_dialogue::act_on(const server_step& step, std::size_t said_before) {
    next what = next::read;
    switch (step.event) {
        case server_event::content:
            desk_.take(step.text);
            return next::read;
        case server_event::message_begin:
            books_.message_begins(house_.time.now());
            patience_.content_begins();
            desk_.begin();
            if (step.replies == 0) return next::read;
            voice_.note(step.stage, step.reply.code);
            break;
        case server_event::message_end:
            books_.message_ends(house_.time.now());
            patience().begin_anew();
            desk_.whole(stopping_);
            break;
        case server_event::message_refused:
            message_refused(step, said_before);
            break;
        case server_event::reply:
            act_on_reply(step);
            break;
        case server_event::close:
            sent_away(step, said_before);
            what = next::close;
            break;
        default:
            return next::read;
    }
    what = in_time(step.stage, what);
    if (what != next::hold && !voice_.held().unsaid()) desk_.answers_due();
    return what;
}

// What is to be done behind the reply that was written last; now, or when its delay is over.
server_dialogue::next server_dialogue::in_time(server_stage stage, next what) {
    const auto effect = voice_.held().settle();
    if (effect.close != cut::no) what = next::cut;
    if (voice_.held().unsaid()) voice_.unsay();
    const bool nothing_to_delay =
        voice_.held().empty() && what == next::read && stage != server_stage::connect;
    if (effect.delay.count() <= 0 || nothing_to_delay) {
        voice_.let_go();
        return what;
    }
    hold_for_ = effect.delay;
    then_ = what;
    return next::hold;
}

std::optional<server_reply> server_dialogue::judge(const server_step& asked) {
    const bool each_recipient = house_.of.lmtp && asked.stage == server_stage::end;
    return each_recipient ? std::nullopt : faults_.obey(faults_.next(asked.stage), false);
}

void server_dialogue::act_on_reply(const server_step& step) {
    voice_.note(step.stage, step.reply.code);
    if (step.stage == server_stage::rset && truth_.served.empty() && truth_.left_out.empty())
        truth_.nonsense = "RSET came before any message";
    const bool nested = !step.reply.positive() && machine_.in_transaction();
    if (step.stage == server_stage::mail && !nested) {
        books_.sender_comes(house_.time.now());
        patience().mail_comes();
        desk_.sender_comes();
    }
    if (step.stage == server_stage::rcpt && step.reply.positive())
        desk_.recipient_taken(machine_.current_path().mailbox);
    command_answered(step.stage, step.reply);
}

void server_dialogue::command_answered(server_stage stage, const server_reply& reply) {
    look_for_nonsense(stage, reply);
    const bool more_came = !input_.empty();
    if (stage == server_stage::mail) return books_.sender_answered(reply, more_came);
    if (stage == server_stage::rcpt) return books_.recipient_answered(reply, more_came);
    const unsigned refused = stage == server_stage::data ? books_.content_answered(reply) : 0;
    if (machine_.in_transaction()) return;
    books_.dropped(false);
    books_.refused_with(refused);
}

// A client of ours is told that it makes no sense only of what it pipelined behind a refusal.
void server_dialogue::look_for_nonsense(server_stage stage, const server_reply& reply) {
    const bool own = reply.text == reply_of(reply.code).text;
    const bool complains =
        (reply.code >= 500 && reply.code <= 504) || reply.code == 554 || reply.code == 555;
    const bool lost_step = truth_.lies || truth_.deaf_from != said_reply::never;
    if (own || !complains || lost_step) return;
    const bool behind_refusal = (stage == server_stage::rcpt || stage == server_stage::data) &&
                                !truth_.served.empty() && truth_.served.back().refused();
    if (!behind_refusal)
        truth_.nonsense =
            fmt::format("at {} the server said {} {}", to_text(stage), reply.code, reply.text);
}

void server_dialogue::message_refused(const server_step& step, std::size_t said_before) {
    truth_.served.back().whole = true;
    // There is nothing about ours that a server must refuse by itself.
    if (step.reply.text != reply_of(step.reply.code).text && !truth_.lies)
        truth_.nonsense = step.reply.text;
    voice_.note_ends(step.replies, step.reply.code, said_before);
    patience().begin_anew();
    books_.message_refused(step.reply.code);
}

void server_dialogue::sent_away(const server_step& step, std::size_t said_before) {
    quit_ = step.stage == server_stage::quit;
    // A client of ours does nothing that strikes a limit, but to say RSET in the place of each
    // message that a server without 8BITMIME does not take (postal/exchange.cpp, leave_out()).
    const bool says_resets = !house_.of.offers_8bit && step.stage == server_stage::rset;
    if (!step.reply.limit.empty() && !truth_.lies && !says_resets)
        truth_.nonsense = step.reply.text;
    if (step.stage == server_stage::end) {
        message_refused(step, said_before);
    } else if (!step.reply.positive()) {
        voice_.note(step.stage, step.reply.code);
        command_answered(step.stage, step.reply);
    }
    if (!quit_) books_.refused_with(step.reply.code);
}

}  // namespace simulation
