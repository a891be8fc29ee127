// SPDX-License-Identifier: GPL-3.0-or-later
#include "serve/dialogue.hpp"

#include <cstddef>
#include <utility>

namespace postal::serve {

using proto::cut;
using proto::server_event;
using proto::server_stage;
using proto::stage_effect;

namespace {

constexpr std::size_t kept_capacity = 4096;  // what an idle session may hold on to

}  // namespace

std::string_view to_text(cut how) {
    return how == cut::fin ? "closed" : how == cut::rst ? "reset" : "silence";
}

dialogue::next dialogue::process() {
    if (then_ != next::read) return std::exchange(then_, next::read);
    if (reply_.ending() != cut::no) return next::cut;
    if (opening_ != opening::done) {
        const next what = open();
        if (what != next::read) return what;
    }
    return consume();
}

// What stands before the client's first word: the stage without a reply, then the banner.
dialogue::next dialogue::open() {
    if (std::exchange(opening_, opening::banner) == opening::connect) {
        if (of_.context.rules.server.judges_stages)
            of_.program.judge({.event = server_event::ask, .stage = server_stage::connect});
        const next what = in_time(server_stage::connect, next::read);
        if (what != next::read) return what;
    }
    opening_ = opening::done;
    of_.program.connection_ready();
    const proto::server_step step = of_.machine.greet(output());
    return step.event == server_event::ask
               ? greet(of_.machine.answer(of_.program.judge(step), output()))
               : greet(step);
}

dialogue::next dialogue::greet(const proto::server_step& step) {
    if (!step.reply.positive()) of_.counted.refused(step.stage, step.reply);
    return in_time(step.stage, step.event == server_event::close ? next::close : next::read);
}

dialogue::next dialogue::consume() {
    proto::smtp_server& machine = of_.machine;
    for (;;) {
        if (machine.answers_due() != 0) return next::answers;
        // A client that pipelines is between two transactions only here.
        if (of_.context.own.stopping() && at_rest()) return next::stop;
        const auto what_comes = client_input::next_of(machine);
        const proto::server_step step = machine.consume(of_.input.left(), output());
        of_.input.took(step.consumed, what_comes, machine);
        if (step.event == server_event::need_more) {
            of_.input.give_back(kept_capacity);
            reply_.give_back(kept_capacity);
            return next::read;
        }
        const next what = step.event == server_event::ask
                              ? act_on(machine.answer(asked(step), output()))
                              : act_on(step);
        if (what != next::read) return what;
        if (of_.output.full()) return next::flush;
        if (step.event != server_event::content && --commands_left_ == 0) return next::others;
    }
}

std::optional<proto::server_reply> dialogue::asked(const proto::server_step& about) {
    if (about.stage == server_stage::mail && !of_.from.may_hold_more()) return too_much_in_hand;
    return of_.program.judge(about);
}

// One step of the machine, whose reply is written.
dialogue::next dialogue::act_on(const proto::server_step& step) {
    next what = next::read;
    switch (step.event) {
        case server_event::content:
            of_.program.take_content(step.text);
            return next::read;
        case server_event::auth_begin:
        case server_event::auth_line:
            what = answer_auth(step);
            break;
        case server_event::message_begin:
            of_.counted.books().message_begins(of_.time.now());
            of_.time.content_begins();
            of_.program.begin_message();
            // Of a chunk the reply follows its octets.
            if (step.replies == 0) return next::read;
            break;
        case server_event::message_end:
            of_.counted.books().message_ends(of_.time.now());
            of_.time.begin_anew();
            of_.program.end_message();
            break;
        case server_event::message_refused:
            of_.time.begin_anew();
            of_.counted.message_refused(step);
            break;
        case server_event::reply:
            act_on_reply(step);
            break;
        case server_event::start_tls:
            what = begin_tls();
            break;
        case server_event::close:
            of_.counted.sent_away(step, !of_.input.empty());
            what = next::close;
            break;
        case server_event::ask:
        case server_event::go_on:
        case server_event::need_more:
            return next::read;
    }
    what = in_time(step.stage, what);
    if (what != next::hold && !reply_.unsaid()) of_.program.answers_due_now();
    return what;
}

dialogue::next dialogue::answer_auth(const proto::server_step& step) {
    const auth_answer answer = of_.program.judge_auth(step);
    if (answer.asks) {
        of_.machine.ask_auth(answer.challenge, output());
        return next::read;
    }
    const bool last_error = of_.machine.answer_auth(answer.reply, output());
    if (!answer.reply.positive()) of_.counted.refused(step.stage, answer.reply);
    if (!last_error) return next::read;
    of_.counted.refused(step.stage, proto::replies::too_many_errors);
    return next::close;
}

void dialogue::act_on_reply(const proto::server_step& step) {
    const bool nested = !step.reply.positive() && of_.machine.in_transaction();
    if (step.stage == server_stage::mail && !nested) {
        of_.counted.books().sender_comes(of_.time.now());
        of_.time.mail_comes();
    }
    if (step.reply.positive() && step.stage == server_stage::ehlo) of_.program.greeted(step.text);
    of_.counted.command_answered(step.stage, step.reply, !of_.input.empty());
}

// What stands behind STARTTLS already was not said over TLS and must not be taken for it (RFC 3207
// 6; CVE-2011-0411).
dialogue::next dialogue::begin_tls() {
    if (of_.input.empty()) {
        proto::append_reply(output(), proto::replies::start_tls);
        return next::secure;
    }
    proto::append_reply(output(), proto::replies::tls_injection);
    of_.tally().errors.add("tls", 0, "injection", "the client said more behind STARTTLS");
    return next::close;
}

// What is to be done behind the reply that was written last; now, or when its delay is over.
dialogue::next dialogue::in_time(server_stage stage, next what) {
    if (!reply_.may_wait()) return what;
    const stage_effect effect = reply_.settle();
    if (effect.close != cut::no) {
        what = next::cut;
        // What is refused is one error, though the connection ends with it.
        if (!effect.reply || effect.reply->positive())
            of_.tally().errors.add(proto::to_text(stage), 0, to_text(reply_.ending()), effect.why);
    }
    const auto delay = of_.context.rules.delays[static_cast<std::size_t>(stage)] + effect.delay;
    // What is cut behind a reply that is still to come: process() cuts it then.
    const bool answers_first =
        what == next::cut && !reply_.unsaid() && !of_.program.answers_ready();
    const bool nothing_to_delay =
        reply_.empty() && what == next::read && stage != server_stage::connect;
    if (!answers_first && (delay.count() <= 0 || nothing_to_delay)) {
        let_go();
        return what;
    }
    reply_.hold_for(delay);
    then_ = answers_first ? next::answers : what;
    return next::hold;
}

void dialogue::held_back() {
    let_go();
    reply_.give_back(0);
    if (!reply_.unsaid()) of_.program.answers_due_now();
}

bool dialogue::at_rest() const {
    return !of_.machine.in_transaction() && of_.machine.answers_due() == 0 &&
           !of_.program.outcome_pending();
}

}  // namespace postal::serve
