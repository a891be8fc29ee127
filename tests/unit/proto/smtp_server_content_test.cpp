// SPDX-License-Identifier: GPL-3.0-or-later
// The server state machine: what comes by DATA and BDAT, and how LMTP answers it.
#include "proto/smtp/server.hpp"

#include <catch2/catch.hpp>

#include <string>
#include <vector>

#include "smtp_server_play.hpp"

using namespace postal::proto;
using namespace postal::proto::test;

TEST_CASE("smtp_server: smuggled commands are data") {
    for (const char* end : {"\n.\n", "\n.\r\n", "\r\n.\n", "\r.\r", "\r.\r\n", "\r\n.\r\r\n"}) {
        const std::vector<std::string> attack = {
            "-> MAIL FROM:<a@example.com>",
            "<- 250 2.1.0 Sender ok",
            "-> RCPT TO:<b@example.com>",
            "<- 250 2.1.5 Recipient ok",
            "-> DATA",
            "<- 354 End data with <CRLF>.<CRLF>",
            std::string("=> text") + end,
            "-> MAIL FROM:<admin@example.com>",
            "-> RCPT TO:<victim@example.com>",
            "-> DATA",
            "-> smuggled",
            "-> .",
        };
        std::vector<std::string> lines =
            after(after(greeted, attack),
                  {"<- 550 5.5.2 Message has a bare CR or LF", "-> NOOP", "<- 250 2.0.0 Ok"});
        outcome found = replay({}, lines);
        CHECK(found.messages.empty());
        CHECK(found.refused == 1);
        CHECK(found.recipients.size() == 1);
        lines = after(after(greeted, attack), {"<- 250 2.0.0 Message accepted"});
        found = replay({.newlines = bare_newlines::accept}, lines);
        CHECK(found.messages.size() == 1);
        CHECK(found.recipients.size() == 1);
    }
}

TEST_CASE("smtp_server: BDAT") {
    const outcome found =
        replay({}, after(greeted, {
                                      "=> BDAT 6\r\nNOOP\r\n",
                                      "<- 503 5.5.1 MAIL comes first",
                                      "-> MAIL FROM:<a@example.com>",
                                      "<- 250 2.1.0 Sender ok",
                                      "=> BDAT 6 LAST\r\nNOOP\r\n",
                                      "<- 503 5.5.1 RCPT comes first",
                                      "-> RCPT TO:<unknown@example.com>",
                                      "<- 550 5.1.1 No such user",
                                      "=> BDAT 6 LAST\r\nNOOP\r\n",
                                      "<- 554 5.5.1 No valid recipients",
                                      "-> RCPT TO:<b@example.com>",
                                      "<- 250 2.1.5 Recipient ok",
                                      "=> BDAT 5\r\na\r\n.\r",
                                      "<- 250 2.0.0 Chunk received",
                                      "-> MAIL FROM:<a@example.com>",
                                      "<- 503 5.5.1 Not between the chunks of a message",
                                      "-> DATA",
                                      "<- 503 5.5.1 Not between the chunks of a message",
                                      "-> BDAT 0",
                                      "<- 250 2.0.0 Chunk received",
                                      "=> bdat 4 last\r\n\n.\r\n",
                                      "<- 250 2.0.0 Message accepted",
                                      "-> MAIL FROM:<a@example.com>",
                                      "<- 250 2.1.0 Sender ok",
                                      "-> RCPT TO:<b@example.com>",
                                      "<- 250 2.1.5 Recipient ok",
                                      "=> BDAT 3\r\nabc",
                                      "<- 250 2.0.0 Chunk received",
                                      "-> BDAT 0 LAST",
                                      "<- 250 2.0.0 Message accepted",
                                      "-> MAIL FROM:<a@example.com>",
                                      "<- 250 2.1.0 Sender ok",
                                      "-> RCPT TO:<b@example.com>",
                                      "<- 250 2.1.5 Recipient ok",
                                      "=> BDAT 3\r\nabc",
                                      "<- 250 2.0.0 Chunk received",
                                      "-> RSET",
                                      "<- 250 2.0.0 Flushed",
                                      "-> BDAT 0 LAST",
                                      "<- 503 5.5.1 MAIL comes first",
                                  }));
    CHECK(found.messages == std::vector<std::string>{"a\r\n.\r\n.\r\n", "abc"});
}

TEST_CASE("smtp_server: BDAT beyond the limit is read to its end and refused once") {
    const server_config config{.max_message = 5};
    std::vector<std::string> start = greeted;
    start[4] = "<- 250-SIZE 5";
    const outcome found = replay(config, after(start, {
                                                          "-> MAIL FROM:<a@example.com>",
                                                          "<- 250 2.1.0 Sender ok",
                                                          "-> RCPT TO:<b@example.com>",
                                                          "<- 250 2.1.5 Recipient ok",
                                                          "=> BDAT 6\r\nNOOP\r\n",
                                                          "<- 250 2.0.0 Chunk received",
                                                          "=> BDAT 6 LAST\r\nNOOP\r\n",
                                                          "<- 552 5.3.4 Message too big",
                                                          "-> NOOP",
                                                          "<- 250 2.0.0 Ok",
                                                      }));
    CHECK(found.messages.empty());
    CHECK(found.refused == 1);
}

TEST_CASE("smtp_server: a chunk that is far too big is refused at once") {
    const server_config config{.max_message = 1000};
    const std::string too_big = "552 5.3.4 Message far too big, closing\r\n";
    const std::string no_size =
        "501 5.5.4 Syntax: BDAT octets [LAST]\r\n"
        "421 4.5.0 Cannot tell the chunk behind that BDAT from commands, closing\r\n";
    struct row {
        std::string before;
        std::string size;
        std::string answer;
    };
    const std::string envelope = "MAIL FROM:<a@b>\r\nRCPT TO:<c@d>\r\n";
    const std::vector<row> rows{
        {envelope, "67108865", too_big},
        {envelope, "18446744073709551615", too_big},
        {envelope + "BDAT 5\r\nabcde", "67108860", too_big},
        {"", "67108865", "552 5.3.4 Chunk far too big, closing\r\n"},
        {envelope, "18446744073709551616", no_size},
        // It would be a chunk of one octet if it began again at 0.
        {envelope, "18446744073709551617", no_size},
        {envelope, "99999999999999999999", no_size},
    };
    for (const row& one : rows) {
        CAPTURE(one.size);
        session client(config);
        client.feed("EHLO x\r\n" + one.before);
        client.output.clear();
        client.feed("BDAT " + one.size + " LAST\r\n");
        CHECK(client.closed);
        CHECK(client.output == one.answer);
        CHECK(client.messages.empty());
    }
}

TEST_CASE("smtp_server: content without an end is refused while it comes") {
    const server_config config{.max_message = 1000};
    session one(config);
    one.feed("EHLO x\r\nMAIL FROM:<a@b>\r\nRCPT TO:<c@d>\r\nDATA\r\n");
    one.output.clear();
    const std::string block(1 << 20, 'x');
    for (int i = 0; i < 64; ++i)
        one.feed(block);
    CHECK_FALSE(one.closed);
    one.feed("x");
    CHECK(one.closed);
    CHECK(one.output == "552 5.3.4 Message far too big, closing\r\n");
}

TEST_CASE("smtp_server: bare newlines in chunks, wherever they are cut") {
    struct row {
        std::string content;
        bool bare;
    };
    const std::vector<row> rows{{"a\r\nb\r\n", false}, {"\r\n.\r\n", false}, {"a", false},
                                {"a\nb\r\n", true},    {"a\rb\r\n", true},   {"a\r", true},
                                {"\n", true},          {"\r\r\n", true}};
    for (const bare_newlines mode : {bare_newlines::reject, bare_newlines::accept}) {
        const server_config config{.newlines = mode};
        for (const row& one : rows) {
            for (std::size_t at = 0; at <= one.content.size(); ++at) {
                CAPTURE(one.content, at);
                const std::string first = one.content.substr(0, at);
                const std::string last = one.content.substr(at);
                session client(config);
                client.feed("EHLO x\r\nMAIL FROM:<a@b>\r\nRCPT TO:<c@d>\r\n");
                client.feed("BDAT " + std::to_string(first.size()) + "\r\n" + first);
                client.output.clear();
                client.feed("BDAT " + std::to_string(last.size()) + " LAST\r\n" + last);
                const bool refused = one.bare && mode == bare_newlines::reject;
                CHECK(client.output == (refused ? "550 5.5.2 Message has a bare CR or LF\r\n"
                                                : "250 2.0.0 Message accepted\r\n"));
                CHECK(client.messages.size() == (refused ? 0U : 1U));
            }
        }
    }
}

TEST_CASE("smtp_server: LMTP answers each accepted recipient") {
    const server_config config{.speaks = dialect::lmtp, .bare_users = bare_local_part::allowed};
    const outcome found = replay(config, {
                                             "<- 220 mx.test LMTP ready",
                                             "-> EHLO client",
                                             "<- 500 5.5.1 Command not recognized",
                                             "-> HELO client",
                                             "<- 500 5.5.1 Command not recognized",
                                         });
    CHECK(found.messages.empty());
    const outcome delivered =
        replay(config, after(lmtp_greeted, {
                                               "-> MAIL FROM:<>",
                                               "<- 250 2.1.0 Sender ok",
                                               "-> RCPT TO:<unknown>",
                                               "<- 550 5.1.1 No such user",
                                               "-> DATA",
                                               "<- 503 5.5.1 RCPT comes first",
                                               "-> RCPT TO:<one>",
                                               "<- 250 2.1.5 Recipient ok",
                                               "-> RCPT TO:<unknown>",
                                               "<- 550 5.1.1 No such user",
                                               "-> RCPT TO:<two>",
                                               "<- 250 2.1.5 Recipient ok",
                                               "-> DATA",
                                               "<- 354 End data with <CRLF>.<CRLF>",
                                               "-> text",
                                               "-> .",
                                               "<- 250 2.0.0 Message accepted",
                                               "<- 250 2.0.0 Message accepted",
                                               "-> MAIL FROM:<>",
                                               "<- 250 2.1.0 Sender ok",
                                               "-> RCPT TO:<one>",
                                               "<- 250 2.1.5 Recipient ok",
                                               "-> RCPT TO:<two>",
                                               "<- 250 2.1.5 Recipient ok",
                                               "=> BDAT 1\r\nx",
                                               "<- 250 2.0.0 Chunk received",
                                               "-> BDAT 0 LAST",
                                               "<- 250 2.0.0 Message accepted",
                                               "<- 250 2.0.0 Message accepted",
                                               "-> MAIL FROM:<>",
                                               "<- 250 2.1.0 Sender ok",
                                               "-> RCPT TO:<one>",
                                               "<- 250 2.1.5 Recipient ok",
                                               "-> RCPT TO:<two>",
                                               "<- 250 2.1.5 Recipient ok",
                                               "-> DATA",
                                               "<- 354 End data with <CRLF>.<CRLF>",
                                               "=> bare\n\r\n",
                                               "-> .",
                                               "<- 550 5.5.2 Message has a bare CR or LF",
                                               "<- 550 5.5.2 Message has a bare CR or LF",
                                               "-> QUIT",
                                               "<- 221 2.0.0 Bye",
                                           }));
    CHECK(delivered.messages.size() == 2);
    CHECK(delivered.refused == 2);
}

TEST_CASE("smtp_server: nothing is consumed while answers are due, and answers may differ") {
    const server_config config{.speaks = dialect::lmtp};
    smtp_server machine(config, "mx.test");
    std::string out;
    std::string_view input =
        "LHLO x\r\nMAIL FROM:<>\r\nRCPT TO:<a@b>\r\nRCPT TO:<c@b>\r\nDATA\r\nx\r\n.\r\nQUIT\r\n";
    server_step step;
    while (step.event != server_event::message_end) {
        step = machine.consume(input, out);
        input.remove_prefix(step.consumed);
        if (step.event == server_event::ask) machine.answer({}, out);
    }
    CHECK(machine.answers_due() == 2);
    CHECK(input == "QUIT\r\n");
    step = machine.consume(input, out);
    CHECK(step.event == server_event::need_more);
    CHECK(step.consumed == 0);
    out.clear();
    machine.answer_delivery({452, "4.2.2", "Over quota"}, out);
    CHECK(machine.consume(input, out).consumed == 0);
    machine.answer_delivery(replies::message_ok, out);
    step = machine.consume(input, out);
    CHECK(step.event == server_event::close);
    CHECK(step.stage == server_stage::quit);
    CHECK(out == "452 4.2.2 Over quota\r\n250 2.0.0 Message accepted\r\n221 2.0.0 Bye\r\n");
}

TEST_CASE("smtp_server: every reply comes alone and says its stage") {
    const server_config config;
    smtp_server machine(config, "mx.test");
    std::string out;
    CHECK(machine.greet(out).stage == server_stage::banner);
    std::string_view input =
        "EHLO x\r\nMAIL FROM:<a@b>\r\nRCPT TO:<a@b>\r\nDATA\r\nx\r\n.\r\nNOOP\r\nQUIT\r\n";
    std::vector<server_stage> stages;
    for (;;) {
        const server_step step = machine.consume(input, out);
        input.remove_prefix(step.consumed);
        if (step.event == server_event::need_more) break;
        if (step.event == server_event::ask) machine.answer({}, out);
        if (step.event == server_event::message_end)
            machine.answer_delivery(replies::message_ok, out);
        if (step.event != server_event::content) stages.push_back(step.stage);
        if (step.event == server_event::close) break;
    }
    using enum server_stage;
    CHECK(stages == std::vector<server_stage>{ehlo, mail, rcpt, data, end, other, quit});
}

TEST_CASE("smtp_server: a judge answers in the place of the machine") {
    const std::vector<std::string> envelope = after(greeted, {
                                                                 "-> MAIL FROM:<a@b>",
                                                                 "<- 250 2.1.0 Sender ok",
                                                                 "-> RCPT TO:<a@b>",
                                                                 "<- 250 2.1.5 Recipient ok",
                                                             });
    const server_reply rejected{550, "5.7.1", "Not you"}, closing{421, "4.3.2", "Not now"};
    const struct {
        server_stage at;
        server_reply reply;
        std::vector<std::string> lines;
        std::uint32_t refused;
        bool closed;
    } rows[] = {
        {server_stage::ehlo,
         rejected,
         {"<- 220 mx.test ESMTP ready", "-> EHLO x", "<- 550 5.7.1 Not you"},
         0,
         false},
        {server_stage::banner, closing, {"<- 421 4.3.2 Not now"}, 0, false},
        {server_stage::data, rejected,
         after(envelope, {"-> DATA", "<- 550 5.7.1 Not you", "-> NOOP", "<- 250 2.0.0 Ok"}), 0,
         false},
        {server_stage::data, closing, after(envelope, {"-> DATA", "<- 421 4.3.2 Not now"}), 0,
         true},
        {server_stage::chunk, rejected,
         after(envelope,
               {"=> BDAT 2\r\nhi", "<- 550 5.7.1 Not you", "-> RSET", "<- 250 2.0.0 Flushed"}),
         0, false},
        {server_stage::chunk, rejected,
         after(envelope, {"=> BDAT 2\r\nhiBDAT 1 LAST\r\n!", "<- 550 5.7.1 Not you",
                          "<- 503 5.5.1 MAIL comes first"}),
         0, false},
        {server_stage::chunk, closing, after(envelope, {"=> BDAT 2\r\nhi", "<- 421 4.3.2 Not now"}),
         0, true},
        {server_stage::end, rejected,
         after(envelope, {"=> BDAT 2 LAST\r\nhi", "<- 550 5.7.1 Not you", "-> MAIL FROM:<a@b>",
                          "<- 250 2.1.0 Sender ok"}),
         1, false},
        {server_stage::end, closing,
         after(envelope, {"=> BDAT 2 LAST\r\nhi", "<- 421 4.3.2 Not now"}), 0, true},
        {server_stage::rset, rejected,
         after(envelope, {"-> RSET", "<- 550 5.7.1 Not you", "-> NOOP", "<- 250 2.0.0 Ok"}), 0,
         false},
        {server_stage::quit,
         {221, "2.0.0", "So long"},
         after(greeted, {"-> QUIT", "<- 221 2.0.0 So long"}),
         0,
         true},
        {server_stage::quit, rejected, after(greeted, {"-> QUIT", "<- 550 5.7.1 Not you"}), 0,
         true},
        {server_stage::banner,
         {554, "5.7.1", "Not you"},
         {"<- 554 5.7.1 Not you", "-> EHLO x", "<- 503 5.5.1 No service here", "-> QUIT",
          "<- 221 2.0.0 Bye"},
         0,
         true},
    };
    for (const auto& row : rows) {
        INFO(to_text(row.at) << ' ' << row.reply.code);
        const outcome found = replay({}, row.lines, {}, refusing(row.at, row.reply));
        CHECK(found.refused == row.refused);
        CHECK(found.closed == row.closed);
    }
}

TEST_CASE("smtp_server: a chunk that is refused takes what came before with it") {
    int chunks = 0;
    const auto second = [&](server_stage stage) -> std::optional<server_reply> {
        if (stage != server_stage::chunk || ++chunks % 2 != 0) return std::nullopt;
        return server_reply{452, "4.3.1", "Full"};
    };
    const server_config config;
    session peer(config, {}, second);
    peer.feed("EHLO x\r\nMAIL FROM:<a@b>\r\nRCPT TO:<a@b>\r\n");
    peer.output.clear();
    peer.feed("BDAT 2\r\nhiBDAT 2\r\nhoBDAT 1 LAST\r\n!");
    CHECK(peer.output ==
          "250 2.0.0 Chunk received\r\n452 4.3.1 Full\r\n503 5.5.1 MAIL comes first\r\n");
    CHECK(peer.messages.empty());
}
