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

void session::message_begins() {
    begun_ = context_.rules.server.speaks == proto::dialect::lmtp ? machine_.recipients() : 1;
    data_at_ = now_;
    tally().started += begun_;
    begin_message();
}

void session::message_ends() {
    tally().latency[context_.rules.data_phase].record(now_ - data_at_);
    end_message();
}

void session::message_refused(const proto::server_step& step) {
    (step.reply.code < 500 ? tally().deferred : tally().rejected) += begun_;
    begun_ = 0;
    drop_message();
    for (std::uint32_t i = 0; i < step.replies; ++i)
        count_refusal(step);
}

// Whatever was begun and has no outcome yet.
void session::message_dropped() {
    const bool in_doubt = outcome_pending();
    (in_doubt ? tally().in_doubt : tally().failed) += begun_;
    for (std::uint32_t i = 0; stopped_now_ && i < begun_; ++i) {
        tally().errors.add(in_doubt ? "end" : "data", 0, net::to_text(net::fault::stopped),
                           "a message was abandoned when the server stopped");
    }
    begun_ = 0;
    drop_message();
}

void session::count_refusal(const proto::server_step& step) {
    count_refusal(step.stage, step.reply);
}

void session::count_refusal(server_stage stage, const proto::server_reply& reply) {
    tally().errors.add(proto::to_text(stage), reply.code, reply.enhanced, reply.text);
}

// Their replies have been handed to the kernel.
void session::count_answered() {
    const load::steady_time sent = steady_clock::now();
    for (const load::steady_time begun : context_.answered) {
        tally().latency[context_.rules.message_phase].record(sent - begun);
    }
    context_.answered.clear();
}

// Before what is in the output is sent.
void session::note_accepted() {
    const std::uint32_t units = std::exchange(accepted_in_output_, 0);
    if (client_may_have_gone()) {
        accepted_in_doubt_ += units;
        return;
    }
    if (connection_.octets_out >= said_until_) accepted_not_left_ = 0;
    accepted_not_left_ += units;
    said_until_ = said_;
}

// A reply that the kernel has taken may still not be heard; nobody can know.
void session::count_unheard() {
    if (connection_.is_open()) connection_.settle();
    if (connection_.octets_out < said_until_) tally().unheard += accepted_not_left_;
    if (!quit_) tally().unheard += accepted_in_doubt_;
    doubtful_answers(quit_);
}

// The session ends without QUIT.
void session::lost(net::fault why) {
    if (closing_) return;
    closing_ = true;
    if (slot_.transcript != nullptr) slot_.transcript->note(net::to_text(why));
    // Of a message that may still be delivered its client must not be told otherwise.
    if (why == net::fault::stopped && outcome_pending()) return hang_up();
    if (why == net::fault::stopped) return close_politely(closing_for_stop);
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
