// SPDX-License-Identifier: GPL-3.0-or-later
// AUTH of POP3 (RFC 5034).
#include "rabid/pop3_visit.hpp"

namespace postal::rabid {

namespace {

constexpr std::size_t longest_command = 255;  // RFC 2449 4, with its CRLF

}  // namespace

asio::awaitable<bool> pop3_visit::authenticate() {
    client::login mine(visit_.context.shared, visit_.connection, stage::login,
                       {visit_.who.login, visit_.who.password, "pop"});
    if (!mine.begin(sasl::parse_mechanisms(offered_.sasl))) co_return false;
    const std::string_view name = sasl::name_of(mine.talk().which());
    const std::string_view initial = mine.talk().initial(longest_command - 8 - name.size());
    out_.clear();
    if (!mine.talk().problem().empty() || !proto::append_auth(out_, name, initial)) {
        mine.refused("cannot be begun");
        co_return false;
    }
    std::string shown = "AUTH " + std::string(name);
    shown.append(initial.empty() ? "\r\n" : " ***\r\n");
    parser_.expect(pop3_form::auth);
    const bool sent = co_await visit_.connection.send(stage::login, out_, shown);
    if (!sent) co_return false;
    co_return co_await converse(mine);
}

// Challenges and responses, up to the server's answer.
asio::awaitable<bool> pop3_visit::converse(client::login& mine) {
    sasl::conversation& talk = mine.talk();
    for (;;) {
        const pop3_event event = co_await next(stage::login);
        if (event != pop3_event::status) co_return false;
        if (parser_.status() == pop3_status::ok) co_return mine.agreed();
        if (parser_.status() == pop3_status::err) {
            mine.refused(parser_.text());
            co_return false;
        }
        if (talk.cancelled()) {  // and asked once more
            mine.refused({});
            visit_.connection.give_up(stage::login, "garbage", "a challenge behind the end");
            co_return false;
        }
        out_.clear();
        const bool sayable = proto::append_auth_answer(out_, talk.answer(parser_.text()));
        if (!sayable) co_return false;
        const std::string_view shown = talk.cancelled() ? "*\r\n" : "***\r\n";
        const bool sent = co_await visit_.connection.send(stage::login, out_, shown);
        if (!sent) co_return false;
    }
}

}  // namespace postal::rabid
