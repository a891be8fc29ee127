// SPDX-License-Identifier: GPL-3.0-or-later
// AUTH of SMTP and LMTP (RFC 4954), as a part of a session's life; see session.cpp.
//
// Who logs in is drawn for each connection: one of --auth-users, or else one of those whom mail is
// from, and then all mail of the connection is from that one, as submission servers want it.
// Nothing is asked again afterwards: no mechanism here makes a security layer (RFC 4954 4).
#include "postal/phases.hpp"
#include "postal/session.hpp"
#include "proto/smtp/client_commands.hpp"

namespace postal::sender {

asio::awaitable<session::step> session::authenticate() {
    const std::uint32_t number = plan_.draw_login.draw(random_);
    const mail::user& account = plan_.accounts()[number];
    if (plan_.auth_users.empty()) sender_ = number;
    client::login mine(shared_, channel_, stage::auth,
                       {account.address, account.password, plan_.chosen.lmtp ? "lmtp" : "smtp"});
    if (!mine.begin(mechanisms_, offered_.starttls)) co_return step::refused;
    const load::steady_time begun = channel_.read_clock();
    const step how = co_await converse(mine);
    if (how == step::done) channel_.took(phase::auth, channel_.now() - begun);
    co_return how;
}

// Challenges and responses, up to the server's verdict.
asio::awaitable<session::step> session::converse(client::login& mine) {
    sasl::conversation& talk = mine.talk();
    const std::string_view name = sasl::name_of(talk.which());
    const std::string_view initial = talk.initial(proto::room_behind_auth(name));
    if (mine.gave_up()) co_return step::refused;
    std::string text;
    std::string shown;
    proto::append_auth_command(text, name, initial);
    proto::append_auth_command(shown, name, initial.empty() ? "" : "***");
    for (;;) {
        const step how = co_await ask(stage::auth, text, shown);
        if (how == step::refused) {
            if (!mine.gave_up()) {
                context_.outcomes.error(
                    stage::auth, {parser_.code(), mine.sample(parser_.text()), parser_.text()},
                    target_.where.text);
            }
            co_return step::refused;
        }
        if (how != step::done) co_return how;
        if (parser_.code() == 235) co_return mine.agreed() ? step::done : step::refused;
        if (talk.cancelled()) {  // and asked once more
            mine.gave_up();
            co_return step::failed;
        }
        text.assign(talk.answer(parser_.text())).append("\r\n");
        shown = talk.cancelled() ? text : "***\r\n";
    }
}

}  // namespace postal::sender
