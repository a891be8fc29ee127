// SPDX-License-Identifier: GPL-3.0-or-later
#include "rabid/imap_login.hpp"

#include <fmt/format.h>

#include "client/login.hpp"
#include "proto/base64.hpp"

namespace postal::rabid {

namespace {

// Challenges and responses, up to the server's answer.
asio::awaitable<bool> converse(imap_dialogue& dialogue, const visit_context& who,
                               client::login& mine) {
    sasl::conversation& talk = mine.talk();
    bool fine = co_await dialogue.send_out();
    while (fine && !dialogue.completed()) {
        const bool asked = co_await dialogue.wait_for_go_ahead();
        if (who.connection.broken()) co_return false;
        if (!asked) break;
        if (talk.cancelled()) {  // and asked once more
            mine.refused({});
            who.connection.give_up(stage::login, "garbage", "a challenge behind the end");
            co_return false;
        }
        const std::string answer = std::string(talk.answer(dialogue.said())).append("\r\n");
        fine = co_await dialogue.send(answer, talk.cancelled() ? "*\r\n" : "***\r\n");
    }
    if (!fine) co_return false;
    if (dialogue.agreed()) co_return mine.agreed();
    mine.refused(dialogue.said());
    co_return false;
}

asio::awaitable<bool> authenticate(imap_dialogue& dialogue, const visit_context& who) {
    client::login mine(who.context.shared, who.connection, stage::login,
                       {who.who.login, who.who.password, "imap"});
    if (!mine.begin(sasl::parse_mechanisms(dialogue.offered().mechanisms()))) co_return false;
    const std::size_t room =
        dialogue.offered().has(imap_capability::sasl_ir) ? proto::max_auth_line : 0;
    const std::string_view initial = mine.talk().initial(room);
    const std::string_view name = sasl::name_of(mine.talk().which());
    const imap_tag tag = dialogue.commands().authenticate(dialogue.out(), name, initial);
    if (!mine.talk().problem().empty()) {
        dialogue.out().clear();
        mine.refused({});
        co_return false;
    }
    const std::string shown =
        fmt::format("a{} AUTHENTICATE {}{}\r\n", tag, name, initial.empty() ? "" : " ***");
    if (!dialogue.begin(stage::login, tag, {.shown = shown, .refusal = imap_refusal::expected}))
        co_return false;
    co_return co_await converse(dialogue, who, mine);
}

asio::awaitable<bool> log_in_plainly(imap_dialogue& dialogue, const visit_context& who) {
    if (dialogue.offered().has(imap_capability::login_disabled)) {
        if (who.connection.transcript() != nullptr)
            who.connection.transcript()->note("login_disabled");
        who.connection.refused(stage::login, "login_disabled",
                               "the server lets nobody in without TLS");
        co_return false;
    }
    const imap_tag tag = dialogue.commands().login(dialogue.out(), who.who.login, who.who.password);
    const std::string shown = fmt::format("a{} LOGIN {} ***\r\n", tag, who.who.login);
    co_return co_await dialogue.command(stage::login, tag, {.shown = shown});
}

// One command without arguments.
asio::awaitable<bool> command(imap_dialogue& dialogue, imap_verb verb) {
    return dialogue.command(stage::login, dialogue.commands().plain(dialogue.out(), verb));
}

}  // namespace

asio::awaitable<bool> log_in(imap_dialogue& dialogue, const visit_context& who) {
    const options& chosen = who.context.of_run.chosen;
    if (dialogue.offered().empty()) {
        const bool told = co_await command(dialogue, imap_verb::capability);
        if (!told) co_return false;
    }
    dialogue.commands().literals(proto::imap_literals_of(dialogue.offered()));
    if (!dialogue.preauthenticated()) {
        const load::steady_time begun = who.connection.now();
        bool in = false;
        if (chosen.auth.wanted()) {
            in = co_await authenticate(dialogue, who);
        } else {
            in = co_await log_in_plainly(dialogue, who);
        }
        if (!in) co_return false;
        who.connection.took(phase::login, who.connection.now() - begun);
    }
    dialogue.commands().literals(proto::imap_literals_of(dialogue.offered()));
    if (!chosen.compress) co_return true;
    if (!dialogue.offered().has(imap_capability::compress)) {
        who.context.shared.counts().not_offered.add(
            "--compress auto: the server offers no COMPRESS=DEFLATE");
        co_return true;
    }
    const bool agreed = co_await command(dialogue, imap_verb::compress);
    if (agreed) who.connection.compress();
    co_return !who.connection.broken();
}

}  // namespace postal::rabid
