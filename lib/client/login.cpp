// SPDX-License-Identifier: GPL-3.0-or-later
#include "client/login.hpp"

#include "client/auth.hpp"

namespace postal::client {

login::login(worker_context& shared, channel& connection, stage where, const account& who)
    : shared_(shared),
      connection_(connection),
      where_(where),
      who_(who),
      binding_(connection.connection().channel_binding()) {}

bool login::begin(sasl::mechanism_set offered, bool tls_offered) {
    const auth_plan& plan = shared_.of_run.auth;
    const auth_choice choice = choose_mechanism(plan, {.offered = offered,
                                                       .secure = connection_.connection().secure(),
                                                       .channel_binding = !binding_.empty(),
                                                       .password = !who_.password.empty(),
                                                       .tls_offered = tls_offered});
    if (!choice.which) {
        connection_.refused(where_, choice.problem, choice.words);
        return false;
    }
    const sasl::credentials mine{.user = who_.user,
                                 .password = who_.password,
                                 .token = plan.token_for(who_.password),
                                 .channel_binding = binding_,
                                 .offered = offered,
                                 .host = connection_.server().host,
                                 .service = who_.service,
                                 .port = connection_.server().port};
    talk_.emplace(*shared_.sasl, *choice.which, mine);
    return true;
}

bool login::agreed() {
    if (!talk_->believe()) {
        refused({});
        return false;
    }
    shared_.counts().authentications.add(sasl::name_of(talk_->which()));
    return true;
}

bool login::gave_up() {
    if (talk_->problem().empty()) return false;
    connection_.refused(where_, base::error_name::of(talk_->problem()),
                        with_name(talk_->which(), talk_->words()));
    return true;
}

void login::refused(std::string_view reply) {
    if (!gave_up()) connection_.refused(where_, "refused", sample(reply));
}

std::string login::sample(std::string_view reply) const {
    std::string words = with_name(talk_->which(), reply);
    if (!talk_->server_words().empty()) words.append(" ").append(talk_->server_words());
    return words;
}

}  // namespace postal::client
