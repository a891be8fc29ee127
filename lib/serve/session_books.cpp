// What a session counts: messages begun and ended, refusals, and how it came to its end.
#include "serve/session.hpp"

#include <chrono>
#include <utility>

namespace postal::serve {

using proto::server_stage;
using std::chrono::steady_clock;

namespace {

constexpr proto::server_reply closing_for_silence{421, "4.4.2", "Timeout, closing"};

}  // namespace

// After the machine has taken it in.
void session::command_answered(server_stage stage, const proto::server_reply& reply) {
    // What strikes a limit does not follow from anything else.
    if (!reply.positive() && (!reply.limit.empty() || !follows_refusal(stage)))
        count_refusal(stage, reply);
    switch (stage) {
        case server_stage::mail:
            return sender_answered(reply);
        case server_stage::rcpt:
            return recipient_answered(reply);
        case server_stage::data:
            return content_answered(reply);
        default:
            if (!machine_.in_transaction()) message_dropped();
    }
}

// A sender that is given twice is an error and changes nothing.
void session::sender_answered(const proto::server_reply& reply) {
    if (!reply.positive() && machine_.in_transaction()) return;
    units_begin();
    had_transaction_ = true;
    recipient_named_ = false;
    pipelined_ = !input_.empty();
    refusal_ = 0;
    if (reply.positive()) return;
    refusal_ = reply.code;
    units_refused(1, refusal_);
}

void session::recipient_answered(const proto::server_reply& reply) {
    const bool sender_refused = !machine_.in_transaction();
    if (sender_refused && refusal_ == 0) return;  // there was none
    pipelined_ = pipelined_ || !input_.empty();
    const bool first = !std::exchange(recipient_named_, true);
    const bool ends_unit = lmtp() && !reply.positive() && !(first && sender_refused);
    if (lmtp() && !first) units_begin();
    if (ends_unit) units_refused(1, sender_refused ? refusal_ : reply.code);
    if (sender_refused) return;
    if (reply.positive()) {
        refusal_ = 0;
    } else if (machine_.recipients() == 0 && (refusal_ < 400 || refusal_ >= 500)) {
        refusal_ = reply.code;
    }
}

// A chunk that was refused has ended its message, and what is refused behind it follows from that.
void session::content_answered(const proto::server_reply& reply) {
    const bool of_message = begun_ != 0 || refusal_ != 0;
    if (!reply.positive() && refusal_ == 0) refusal_ = reply.code;
    if (machine_.in_transaction()) return;
    const unsigned code = of_message ? refusal_ : 0;
    message_dropped();
    refusal_ = code;
}

// What a client has pipelined behind a refusal, and cannot be taken, is the same event.
bool session::follows_refusal(server_stage stage) const {
    if (refusal_ == 0) return false;
    if (stage == server_stage::rcpt) return !machine_.in_transaction();
    return stage == server_stage::data && machine_.recipients() == 0;
}

void session::units_begin() {
    ++begun_;
    ++tally().started;
}

void session::units_refused(std::uint32_t units, unsigned code) {
    (code < 500 ? tally().deferred : tally().rejected) += units;
    begun_ -= units;
}

void session::sender_comes() {
    mail_at_ = now_;
    patience_.mail_comes(now_);
}

void session::message_begins() {
    data_at_ = now_;
    patience_.content_begins();
    refusal_ = 0;
    begin_message();
}

void session::message_ends() {
    patience_.begin_anew(now_);
    tally().latency[context_.rules.data_phase].record(now_ - data_at_);
    ++tally().transactions;
    if (pipelined_) ++tally().pipelined;
    end_message();
}

void session::message_refused(const proto::server_step& step) {
    patience_.begin_anew(now_);
    units_refused(begun_, step.reply.code);
    drop_message();
    for (std::uint32_t i = 0; i < step.replies; ++i)
        count_refusal(step.stage, step.reply);
}

// The connection ends with this reply, and with it what is under way.
void session::sent_away(const proto::server_step& step) {
    quit_ = step.stage == server_stage::quit;
    if (step.stage == server_stage::end) {
        message_refused(step);
    } else if (!step.reply.positive()) {
        command_answered(step.stage, step.reply);
    }
    if (!quit_ && refusal_ == 0) refusal_ = step.reply.code;
}

// Whatever was begun and has no outcome yet.
void session::message_dropped() {
    const bool in_doubt = outcome_pending();
    if (refusal_ != 0) units_refused(begun_, refusal_);
    (in_doubt ? tally().in_doubt : tally().failed) += begun_;
    const std::uint32_t units = std::exchange(begun_, 0);
    refusal_ = 0;
    drop_message();
    for (std::uint32_t i = 0; stopped_now_ && i < units; ++i) {
        tally().errors.add(in_doubt ? "end" : "data", 0, net::to_text(net::fault::stopped),
                           "a message was abandoned when the server stopped");
    }
}

void session::count_refusal(server_stage stage, const proto::server_reply& reply) {
    tally().errors.add(proto::to_text(stage), reply.code, reply.enhanced, reply.text);
    if (!reply.limit.empty()) tally().limits.add(reply.limit);
}

// Their replies have been handed to the kernel.
void session::count_answered() {
    const load::steady_time sent = steady_clock::now();
    for (const load::steady_time begun : output_->answered) {
        tally().latency[context_.rules.message_phase].record(sent - begun);
    }
    output_->answered.clear();
}

void session::count_unheard() {
    if (connection_.is_open()) connection_.settle();
    tally().unheard += heard_.unheard(connection_.octets_out, quit_);
    doubtful_answers(quit_);
}

// The session ends without QUIT.
void session::lost(net::fault why) {
    if (over()) return;
    state_ = state::over;
    if (slot_.transcript != nullptr) slot_.transcript->note(net::to_text(why));
    if (why == net::fault::closed && leaves_idle()) {
        ++tally().idle_closes;
        return;
    }
    // Of a message that may still be delivered its client must not be told otherwise.
    if (why == net::fault::stopped && outcome_pending()) return hang_up();
    if (why == net::fault::stopped) return close_politely(closing_for_stop);
    if (why == net::fault::timeout && !patience_.silence()) {
        const auto [stage, words] = patience_.of_end(machine_);
        count_refusal(stage, words);
        return close_politely(words);
    }
    const std::string_view stage = outcome_pending()            ? "end"
                                   : machine_.reading_content() ? "data"
                                                                : "quit";
    const bool left = why == net::fault::closed;
    if (why == net::fault::tls) {
        tally().errors.add(stage, 0, connection_.tls_problem().reason,
                           connection_.tls_problem().text);
        return;
    }
    tally().errors.add(stage, 0, left ? "no_quit" : net::to_text(why),
                       left ? "the client closed the connection without QUIT"
                            : "the session did not end with QUIT");
    if (why == net::fault::timeout) close_politely(closing_for_silence);
}

}  // namespace postal::serve
