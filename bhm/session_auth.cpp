// SPDX-License-Identifier: GPL-3.0-or-later
// AUTH, as submission servers have it (RFC 4954): passwords are those of the user list.
#include "bhm/session.hpp"

#include <utility>

namespace postal::bhm {

using sasl::mechanism;
using sasl::mechanism_set;

// After STARTTLS there may be more, and nobody has authenticated any more.
void session::connection_ready() {
    const auto& words = context_.of_run.auth;
    const mechanism_set offered = context_.of_run.chosen.auth;
    if (offered.empty()) return;
    login_.reset();
    if (!connection().secure()) return machine().announce_auth(words.plain, words.over_tls);
    const bool binds =
        offered.has(mechanism::scram_sha_1_plus) || offered.has(mechanism::scram_sha_256_plus);
    const bool bound = binds && !connection().channel_binding().empty();
    const bool certified =
        offered.has(mechanism::external) && !connection().peer_identity().empty();
    machine().announce_auth(words.secure[bound][certified], {});
}

serve::auth_answer session::judge_auth(const proto::server_step& step) {
    serve::auth_answer answer;
    sasl::progress how = sasl::progress::failed;
    if (step.event == proto::server_event::auth_begin) {
        const auto which = sasl::mechanism_of(step.text);
        if (!which) return answer;  // it was announced, so that it is known
        login_ = std::make_unique<login>();
        // RFC 5802 6: who does not offer its -PLUS has no channel binding, and a client that has it
        // may say so ("y").
        if (sasl::has_plus_of(context_.of_run.chosen.auth, *which)) {
            login_->channel_binding = connection().channel_binding();
        }
        if (*which == mechanism::external) login_->certified = connection().peer_identity();
        const sasl::situation now{.look_up = context_.passwords,
                                  .host = "localhost",
                                  .service = "smtp",
                                  .channel_binding = login_->channel_binding,
                                  .certified = login_->certified};
        login_->they = std::make_unique<sasl::server>(*context_.sasl, *which, now);
        const std::string* initial = machine().auth_initial();
        how = initial != nullptr ? login_->they->step(*initial, answer.challenge)
                                 : login_->they->begin(answer.challenge);
    } else {
        how = login_->they->step(step.text, answer.challenge);
    }
    answer.asks = how == sasl::progress::go_on;
    if (answer.asks) return answer;
    const auto ended = std::exchange(login_, nullptr);
    if (how == sasl::progress::done) {
        tally().authentications.add(sasl::name_of(ended->they->which()));
        answer.reply = proto::replies::authenticated;
    } else if (ended->they->problem() == "bad_response") {
        answer.reply = proto::replies::auth_unreadable;
    }
    return answer;
}

}  // namespace postal::bhm
