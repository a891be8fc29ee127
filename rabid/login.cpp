#include "rabid/login.hpp"

#include "client/auth.hpp"

namespace postal::rabid {

sasl::credentials credentials_of(const visit_context& who, std::string_view service,
                                 std::string_view channel_binding) {
    return {.user = who.who.login,
            .password = who.who.password,
            .token = who.context.of_run.load.auth.token_for(who.who.password),
            .channel_binding = channel_binding,
            .host = who.server.host,
            .service = service,
            .port = who.server.port};
}

std::optional<sasl::mechanism> choose_mechanism(const visit_context& who,
                                                sasl::mechanism_set offered) {
    net::connection& line = who.connection.connection();
    const client::auth_choice choice = client::choose_mechanism(
        who.context.of_run.load.auth, {.offered = offered,
                                       .secure = line.secure(),
                                       .channel_binding = !line.channel_binding().empty(),
                                       .password = !who.who.password.empty()});
    if (!choice.which) who.connection.refused(stage::login, choice.problem, choice.words);
    return choice.which;
}

bool agreed(const visit_context& who, sasl::conversation& talk) {
    if (!talk.believe()) {
        refused(who, talk, {});
        return false;
    }
    who.context.shared.counts().authentications.add(sasl::name_of(talk.which()));
    return true;
}

void refused(const visit_context& who, const sasl::conversation& talk, std::string_view reply) {
    if (!talk.problem().empty()) {
        who.connection.refused(stage::login, talk.problem(),
                               client::with_name(talk.which(), talk.words()));
        return;
    }
    std::string words = client::with_name(talk.which(), reply);
    if (!talk.server_words().empty()) words.append(" ").append(talk.server_words());
    who.connection.refused(stage::login, "refused", words);
}

}  // namespace postal::rabid
