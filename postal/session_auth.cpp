// AUTH of SMTP and LMTP (RFC 4954), as a part of a session's life; see session.cpp.
//
// Who logs in is drawn for each connection: one of --auth-users, or else one of those whom mail is
// from, and then all mail of the connection is from that one, as submission servers want it.
// Nothing is asked again afterwards: no mechanism here makes a security layer (RFC 4954 4).
#include "postal/session.hpp"

#include "postal/phases.hpp"
#include "proto/smtp/client_commands.hpp"

namespace postal {

namespace {

namespace asio = boost::asio;

}  // namespace

asio::awaitable<session::step> session::authenticate() {
    const auto number = static_cast<std::uint32_t>(random_.below(plan_.accounts().size()));
    const mail::user& account = plan_.accounts()[number];
    if (plan_.auth_users.empty()) sender_ = number;
    const std::string binding = channel_.connection().channel_binding();
    const client::auth_choice choice =
        client::choose_mechanism(plan_.load.auth, {.offered = mechanisms_,
                                                   .secure = channel_.connection().secure(),
                                                   .channel_binding = !binding.empty(),
                                                   .password = !account.password.empty()});
    if (!choice.which) {
        channel_.refused(stage::auth, choice.problem, choice.words);
        co_return step::refused;
    }
    const load::steady_time begun = channel_.read_clock();
    const sasl::credentials mine{.user = account.address,
                                 .password = account.password,
                                 .token = plan_.load.auth.token_for(account.password),
                                 .channel_binding = binding,
                                 .host = target_.where.host,
                                 .service = plan_.chosen.lmtp ? "lmtp" : "smtp",
                                 .port = target_.where.port};
    sasl::conversation talk(*shared_.sasl, *choice.which, mine);
    const step how = co_await converse(talk);
    if (how == step::done) channel_.took(phase::auth, channel_.now() - begun);
    co_return how;
}

// Challenges and responses, up to the server's verdict.
asio::awaitable<session::step> session::converse(sasl::conversation& talk) {
    const std::string_view name = sasl::name_of(talk.which());
    const std::string_view initial = talk.initial(proto::room_behind_auth(name));
    if (!talk.problem().empty()) co_return refused(talk);
    std::string text;
    std::string shown;
    proto::append_auth_command(text, name, initial);
    proto::append_auth_command(shown, name, initial.empty() ? "" : "***");
    for (;;) {
        const step how = co_await ask(stage::auth, text, shown);
        if (how == step::refused) co_return refused(talk);
        if (how != step::done) co_return how;
        if (parser_.code() == 235) co_return agreed(talk);
        if (talk.cancelled()) {  // and asked once more
            refused(talk);
            co_return step::failed;
        }
        text.assign(talk.answer(parser_.text())).append("\r\n");
        shown = talk.cancelled() ? text : "***\r\n";
    }
}

session::step session::agreed(sasl::conversation& talk) {
    if (!talk.believe()) return refused(talk);
    shared_.counts().authentications.add(sasl::name_of(talk.which()));
    return step::done;
}

// We gave up, or the server did: its reply is in the parser.
session::step session::refused(const sasl::conversation& talk) {
    if (!talk.problem().empty()) {
        channel_.refused(stage::auth, talk.problem(),
                         client::with_name(talk.which(), talk.words()));
        return step::refused;
    }
    std::string words = client::with_name(talk.which(), parser_.text());
    if (!talk.server_words().empty()) words.append(" ").append(talk.server_words());
    context_.outcomes.error(stage::auth, {parser_.code(), words, parser_.text()});
    return step::refused;
}

}  // namespace postal
