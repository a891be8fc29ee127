// SPDX-License-Identifier: GPL-3.0-or-later
#include "serve/outcomes.hpp"

#include <cstdint>
#include <string_view>

namespace postal::serve {

using proto::server_stage;

void outcomes::command_answered(server_stage stage, const proto::server_reply& reply,
                                bool more_came) {
    // What strikes a limit does not follow from anything else.
    if (!reply.positive() && (!reply.limit.empty() || !books_.follows_refusal(stage)))
        refused(stage, reply);
    if (stage == server_stage::mail) return books_.sender_answered(reply, more_came);
    if (stage == server_stage::rcpt) return books_.recipient_answered(reply, more_came);
    const unsigned code = stage == server_stage::data ? books_.content_answered(reply) : 0;
    if (machine_.in_transaction()) return;
    message_dropped();
    books_.refused_with(code);
}

void outcomes::message_refused(const proto::server_step& step) {
    books_.message_refused(step.reply.code);
    program_.drop_message();
    for (std::uint32_t i = 0; i < step.replies; ++i)
        refused(step.stage, step.reply);
}

void outcomes::sent_away(const proto::server_step& step, bool more_came) {
    quit_ = step.stage == server_stage::quit;
    if (step.stage == server_stage::end) {
        message_refused(step);
    } else if (!step.reply.positive()) {
        command_answered(step.stage, step.reply, more_came);
    }
    if (!quit_) books_.refused_with(step.reply.code);
}

void outcomes::message_dropped() {
    const bool in_doubt = program_.outcome_pending();
    const std::uint32_t units = books_.dropped(in_doubt);
    program_.drop_message();
    for (std::uint32_t i = 0; stopped_now_ && i < units; ++i) {
        own_.tally().errors.add(in_doubt ? "end" : "data", 0, net::to_text(net::fault::stopped),
                                "a message was abandoned when the server stopped");
    }
}

void outcomes::refused(server_stage stage, const proto::server_reply& reply) {
    own_.tally().errors.add(proto::to_text(stage), reply.code, reply.enhanced, reply.text);
    if (!reply.limit.empty()) own_.tally().limits.add(reply.limit);
}

void outcomes::lost(net::fault why, const net::tls_problem& problem) {
    const std::string_view stage = program_.outcome_pending()   ? "end"
                                   : machine_.reading_content() ? "data"
                                                                : "quit";
    auto& errors = own_.tally().errors;
    if (why == net::fault::tls) return errors.add(stage, 0, problem.reason, problem.text);
    const bool left = why == net::fault::closed;
    errors.add(stage, 0, left ? "no_quit" : net::to_text(why),
               left ? "the client closed the connection without QUIT"
                    : "the session did not end with QUIT");
}

}  // namespace postal::serve
