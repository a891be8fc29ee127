#include "server.hpp"

#include <algorithm>
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
constexpr std::size_t read_at_once = 64 * 1024;
constexpr server_reply closing_for_stop{421, "4.3.2", "Shutting down"};
constexpr server_reply closing_for_silence{421, "4.4.2", "Timeout, closing"};

server_reply reply_of(std::uint16_t code) {
    return {code, code < 500 ? "4.0.0" : "5.0.0", "As the scenario has it"};
}

}  // namespace

server_house::server_house(apparatus& with_what, const scenario& run, timeline& clock,
                           books& ledger, const transcript& events)
    : with(with_what), of(run), time(clock), rows(ledger), shown(events) {
    rules.server.speaks = of.lmtp ? postal::proto::dialect::lmtp : postal::proto::dialect::smtp;
    rules.server.judges_senders = rules.server.judges_stages = true;
    rules.server.max_recipients = of.max_recipients;
    rules.timeout = of.server_timeout;
    rules.message_time = of.message_time;
    rules.min_data_rate = of.min_data_rate;
    rules.data_phase = apparatus::server_data_phase;
    rules.message_phase = apparatus::server_message_phase;
}

server_session::server_session(server_house& house, connection& line, connection_record& truth)
    : house_(house),
      line_(line),
      truth_(truth),
      voice_(house.of, line, truth),
      machine_(house.rules.server, host_name),
      books_(house.with.servers(), house.rules, machine_),
      patience_(house.rules, false),
      sink_(house.with, house.of, house.rows) {
    line_.attach(side::server, *this);
    ++tally().connections;
    patience_.begin_anew(house_.time.now());
}

// ---- the conversation ----

void server_session::act() {
    if (over_) return;
    if (silent_) return fall_silent();
    if (waits_ == waiting::its_time) {
        if (house_.time.now() < deadline_) return house_.time.wake(*this, deadline_);
        patience_.held_back(house_.time.now() - since_);
        voice_.let_go();
        if (!voice_.held().unsaid()) answers_due_now();
        waits_ = waiting::nothing;
        deadline_ = patience_.of_silence(house_.time.now());
    }
    converse();
}

void server_session::converse() {
    while (!over_) {
        if (!sending_) next_ = process();
        sending_ = true;
        if (!send()) return;
        sending_ = false;
        switch (next_) {
            case next::read:
                if (stopping_ && !machine_.in_transaction())
                    return close_politely(closing_for_stop);
                if (!read()) return;
                break;
            case next::hold:
                wait(waiting::its_time, house_.time.now() + hold_for_);
                return;
            case next::cut:
                return cut_off();
            case next::close:
                return hang_up();
            case next::stop:
                return close_politely(closing_for_stop);
        }
    }
}

// Whoever waits for the same thing already has no more time for it. False: its time is over.
bool server_session::wait(waiting what, steady_time until) {
    if (waits_ != what) {
        waits_ = what;
        since_ = house_.time.now();
        deadline_ = until;
    }
    house_.time.wake(*this, deadline_);
    return house_.time.now() < deadline_;
}

bool server_session::send() {
    if (voice_.flush()) {
        if (waits_ == waiting::room) waits_ = waiting::nothing;
        return true;
    }
    if (line_.is_reset(side::server)) {
        lost(fault::reset);
    } else if (!wait(waiting::room, patience_.of_silence(house_.time.now()))) {
        lost(fault::timeout);
    }
    return false;
}

// False when nothing has come.
bool server_session::read() {
    const steady_time now = house_.time.now();
    const std::string_view got = line_.read(side::server, read_at_once);
    if (got.empty() && (line_.is_reset(side::server) || line_.has_ended(side::server))) {
        lost(line_.is_reset(side::server) ? fault::reset : fault::closed);
        return false;
    }
    // A line has as long as silence may last, however slowly it comes.
    if (got.empty() && machine_.in_line() && deadline_ != steady_time::max())
        waits_ = waiting::octets;
    if (got.empty()) {
        const steady_time until =
            waits_ == waiting::octets ? deadline_ : patience_.of_client(now, machine_, false);
        if (!wait(waiting::octets, until)) lost(fault::timeout);
        return false;
    }
    if (machine_.content_begun() && waits_ == waiting::octets)
        patience_.content_waited(now - since_);
    if (waits_ == waiting::octets) {
        waits_ = waiting::nothing;
        since_ = now;
    }
    house_.shown.octets(line_.number(), "server <-", got);
    input_.append(got);
    return true;
}

server_session::next server_session::process() {
    if (then_ != next::read) return std::exchange(then_, next::read);
    if (voice_.held().ending() != cut::no) return next::cut;
    if (opening_ != opening::done) {
        const next what = open();
        if (what != next::read) return what;
    }
    return consume();
}

server_session::next server_session::open() {
    if (std::exchange(opening_, opening::banner) == opening::connect) {
        judge({.event = server_event::ask, .stage = server_stage::connect});
        const next what = in_time(server_stage::connect, next::read);
        if (what != next::read) return what;
    }
    opening_ = opening::done;
    const server_step asked = machine_.greet(voice_.room());
    const server_step step = machine_.answer(judge(asked), voice_.room());
    return in_time(step.stage, step.event == server_event::close ? next::close : next::read);
}

server_session::next server_session::consume() {
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
        if (step.event == server_event::need_more || what != next::read) return what;
    }
}

server_session::next server_session::act_on(const server_step& step, std::size_t said_before) {
    next what = next::read;
    switch (step.event) {
        case server_event::content:
            sink_.take(step.text);
            return next::read;
        case server_event::message_begin:
            books_.message_begins(house_.time.now());
            patience_.content_begins();
            begin_message();
            if (step.replies == 0) return next::read;
            voice_.note(step.stage, step.reply.code);
            break;
        case server_event::message_end:
            books_.message_ends(house_.time.now());
            patience_.begin_anew(house_.time.now());
            end_message();
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
    if (what != next::hold && !voice_.held().unsaid()) answers_due_now();
    return what;
}

// What is to be done behind the reply that was written last; now, or when its delay is over.
server_session::next server_session::in_time(server_stage stage, next what) {
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

void server_session::cut_off() {
    if (voice_.held().ending() == cut::silence) return fall_silent();
    if (voice_.held().ending() == cut::fin) return hang_up();
    line_.reset(side::server);
    end();
}

// What comes is thrown away until the client goes or its time is over.
void server_session::fall_silent() {
    if (!std::exchange(silent_, true)) {
        house_.shown.note(line_.number(), "the server falls silent");
        waits_ = waiting::nothing;
    }
    while (!line_.read(side::server, read_at_once).empty())
        waits_ = waiting::nothing;
    const bool gone = line_.has_ended(side::server) || line_.is_reset(side::server);
    const bool patient = wait(waiting::octets, patience_.of_silence(house_.time.now()));
    if (gone || !patient || stopping_) hang_up();
}

// ---- what the machine asks ----

const server_fault* server_session::fault_at(server_stage stage) {
    const std::uint32_t nth = asked_[static_cast<std::size_t>(stage)]++;
    const auto& all = house_.of.refusals;
    const auto found = std::find_if(all.begin(), all.end(), [&](const server_fault& one) {
        return one.where == line_.number() && one.stage == stage &&
               (one.nth == nth || one.nth == server_fault::each_time);
    });
    return found == all.end() ? nullptr : &*found;
}

std::optional<server_reply> server_session::obey(const server_fault* what, bool answered) {
    if (what == nullptr) return std::nullopt;
    postal::proto::stage_effect effect;
    if (what->code != 0) effect.reply = reply_of(what->code);
    effect.delay = what->delay;
    effect.close = what->close;
    voice_.held().add(effect, answered);
    return effect.reply;
}

std::optional<server_reply> server_session::judge(const server_step& asked) {
    const bool each_recipient = house_.of.lmtp && asked.stage == server_stage::end;
    return each_recipient ? std::nullopt : obey(fault_at(asked.stage), false);
}

void server_session::act_on_reply(const server_step& step) {
    voice_.note(step.stage, step.reply.code);
    if (step.stage == server_stage::rset && truth_.served.empty() && truth_.left_out.empty())
        truth_.nonsense = "RSET came before any message";
    const bool nested = !step.reply.positive() && machine_.in_transaction();
    if (step.stage == server_stage::mail && !nested) {
        books_.sender_comes(house_.time.now());
        patience_.mail_comes(house_.time.now());
        recipients_.clear();
    }
    if (step.stage == server_stage::rcpt && step.reply.positive())
        recipients_.emplace_back(machine_.current_path().mailbox);
    command_answered(step.stage, step.reply);
}

void server_session::command_answered(server_stage stage, const server_reply& reply) {
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
void server_session::look_for_nonsense(server_stage stage, const server_reply& reply) {
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

// ---- messages ----

void server_session::begin_message() {
    sink_.begin(line_.number().session, truth_.sequence_of(truth_.served.size() - 1));
}

void server_session::end_message() {
    served_transaction& served = truth_.served.back();
    const auto& seen = sink_.finish(wall_us(house_.time.now()));
    served.whole = true;
    // A client that is lied to may have sent another one than that whose turn it is.
    served.sequence = seen.sequence;
    served.foreign = seen.run != apparatus::run;
    served.changed = postal::ledger::is_corrupt(seen.what);
    if (!truth_.lies) truth_.nonsense += sink_.complaint();
    pending_message found;
    if (house_.of.lmtp) {
        answer_recipients(found);
    } else {
        found.accepted = books_.begun();
        found.mailboxes = recipients_;
        const std::size_t before = voice_.said_so_far();
        machine_.answer_delivery(postal::proto::replies::message_ok, voice_.room());
        voice_.note_ends(1, postal::proto::replies::message_ok.code, before);
    }
    pending_ = std::move(found);
}

// A cut ends the replies: who stands behind it hears nothing, and is in doubt.
void server_session::answer_recipients(pending_message& found) {
    const std::uint32_t asked = machine_.answers_due();
    for (std::uint32_t i = 0; i < asked; ++i) {
        const server_fault* planned = fault_at(server_stage::end);
        const auto own = obey(planned, i > 0);
        const bool cut_here = planned != nullptr && planned->close != cut::no;
        if (cut_here && !own) return;
        const server_reply said = own.value_or(postal::proto::replies::message_ok);
        const std::size_t before = voice_.said_so_far();
        machine_.answer_delivery(said, voice_.room());
        voice_.note_ends(1, said.code, before);
        if (said.positive()) {
            ++found.accepted;
            found.mailboxes.push_back(recipients_[i]);
        } else {
            ++(said.code < 500 ? found.deferred : found.rejected);
        }
        if (cut_here) return;
        // RFC 5321 3.8: whoever is told 421 is sent away; behind the replies for the others.
        if (said.code == 421) voice_.held().add({.reply = said, .close = cut::fin}, false);
    }
}

void server_session::message_refused(const server_step& step, std::size_t said_before) {
    truth_.served.back().whole = true;
    // There is nothing about ours that a server must refuse by itself.
    if (step.reply.text != reply_of(step.reply.code).text && !truth_.lies)
        truth_.nonsense = step.reply.text;
    voice_.note_ends(step.replies, step.reply.code, said_before);
    patience_.begin_anew(house_.time.now());
    books_.message_refused(step.reply.code);
}

void server_session::sent_away(const server_step& step, std::size_t said_before) {
    quit_ = step.stage == server_stage::quit;
    // A client of ours does nothing that strikes a limit.
    if (!step.reply.limit.empty() && !truth_.lies) truth_.nonsense = step.reply.text;
    if (step.stage == server_stage::end) {
        message_refused(step, said_before);
    } else if (!step.reply.positive()) {
        voice_.note(step.stage, step.reply.code);
        command_answered(step.stage, step.reply);
    }
    if (!quit_) books_.refused_with(step.reply.code);
}

// Nothing holds the answers to a message back any more: now it is delivered, and counted.
void server_session::answers_due_now() {
    if (!pending_) return;
    const pending_message found = *std::exchange(pending_, std::nullopt);
    sink_.deliver(found.mailboxes);
    truth_.served.back().delivered = found.mailboxes;
    tally().accepted(found.accepted, house_.time.now());
    tally().recipients += found.mailboxes.size();
    tally().deferred += found.deferred;
    tally().rejected += found.rejected;
    books_.ended(found.accepted + found.deferred + found.rejected);
    if (found.accepted > 0) voice_.accepted(found.accepted);
}

// ---- how it ends ----

void server_session::lost(fault why) {
    if (why == fault::closed && leaves_idle()) {
        ++tally().idle_closes;
        return end();
    }
    if (why == fault::timeout && !voice_.blocked()) {
        const bool silence = patience_.silence();
        return close_politely(silence ? closing_for_silence : patience_.of_end(machine_).reply);
    }
    end();
}

void server_session::close_politely(const server_reply& last_words) {
    if (!voice_.blocked()) {
        voice_.say_goodbye(last_words);
        voice_.flush();
    }
    hang_up();
}

void server_session::hang_up() {
    while (!line_.read(side::server, read_at_once).empty())
        continue;
    end();
}

void server_session::end() {
    over_ = true;
    line_.close(side::server);
    tally().unheard += voice_.unheard(quit_);
    books_.dropped(pending_.has_value());
    pending_.reset();
}

bool server_session::leaves_idle() const {
    return books_.had_transaction() && books_.begun() == 0 && at_rest() &&
           voice_.everything_heard() && !machine_.in_line();
}

bool server_session::at_rest() const {
    return !machine_.in_transaction() && machine_.answers_due() == 0 && !pending_;
}

}  // namespace simulation
