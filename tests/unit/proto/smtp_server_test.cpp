// SPDX-License-Identifier: GPL-3.0-or-later
// The server state machine: commands, their order and their limits.
#include "proto/smtp/server.hpp"

#include <catch2/catch.hpp>

#include <string>
#include <vector>

#include "smtp_server_play.hpp"

using namespace postal::proto;
using namespace postal::proto::test;

TEST_CASE("smtp_server: a session with every command") {
    const outcome found = replay(
        {}, after(greeted,
                  {
                      "-> noop anything at all",
                      "<- 250 2.0.0 Ok",
                      "-> HELP",
                      "<- 214-2.0.0 EHLO HELO MAIL RCPT DATA BDAT RSET NOOP VRFY EXPN HELP QUIT",
                      "<- 214 2.0.0 See RFC 5321 and the manual page",
                      "-> VRFY somebody",
                      "<- 252 2.1.5 Cannot verify, but will take the message",
                      "-> EXPN list",
                      "<- 550 5.1.1 No such mailing list",
                      "-> MAIL FROM:<a@example.com> SIZE=1 BODY=8BITMIME",
                      "<- 250 2.1.0 Sender ok",
                      "-> RCPT TO:<b@example.com>",
                      "<- 250 2.1.5 Recipient ok",
                      "-> RCPT TO:<unknown@example.com>",
                      "<- 550 5.1.1 No such user",
                      "-> RCPT TO:<@route.example:Postmaster>",
                      "<- 250 2.1.5 Recipient ok",
                      "-> DATA",
                      "<- 354 End data with <CRLF>.<CRLF>",
                      "-> Subject: x",
                      "-> ",
                      "-> ..",
                      "-> text",
                      "-> .",
                      "<- 250 2.0.0 Message accepted",
                      "-> MAIL FROM:<>",
                      "<- 250 2.1.0 Sender ok",
                      "-> RSET",
                      "<- 250 2.0.0 Flushed",
                      "-> STARTTLS",
                      "<- 502 5.5.1 Command not implemented",
                      "-> QUIT",
                      "<- 221 2.0.0 Bye",
                  }));
    CHECK(found.messages == std::vector<std::string>{"Subject: x\r\n\r\n.\r\ntext\r\n"});
    CHECK(found.recipients.at(2) == "Postmaster");
    CHECK(found.closed);
}

TEST_CASE("smtp_server: commands out of order") {
    replay({}, {
                   "<- 220 mx.test ESMTP ready",
                   "-> MAIL FROM:<a@example.com>",
                   "<- 503 5.5.1 Say hello first",
                   "-> NOOP",
                   "<- 250 2.0.0 Ok",
                   "-> RSET",
                   "<- 250 2.0.0 Flushed",
                   "-> RCPT TO:<a@example.com>",
                   "<- 503 5.5.1 Say hello first",
                   "-> HELO client",
                   "<- 250 mx.test",
                   "-> RCPT TO:<a@example.com>",
                   "<- 503 5.5.1 MAIL comes first",
                   "-> DATA",
                   "<- 503 5.5.1 MAIL comes first",
                   "-> MAIL FROM:<a@example.com>",
                   "<- 250 2.1.0 Sender ok",
                   "-> MAIL FROM:<a@example.com>",
                   "<- 503 5.5.1 Sender already given",
                   "-> DATA",
                   "<- 503 5.5.1 RCPT comes first",
                   "-> RCPT TO:<unknown@example.com>",
                   "<- 550 5.1.1 No such user",
                   "-> DATA",
                   "<- 554 5.5.1 No valid recipients",
                   "-> RCPT TO:<a@example.com>",
                   "<- 250 2.1.5 Recipient ok",
                   "-> MAIL FROM:<a@example.com>",
                   "<- 503 5.5.1 Sender already given",
                   "-> HELO client",
                   "<- 250 mx.test",
                   "-> DATA",
                   "<- 503 5.5.1 MAIL comes first",
                   "-> LHLO client",
                   "<- 500 5.5.1 Command not recognized",
               });
}

TEST_CASE("smtp_server: arguments") {
    replay({}, after(greeted, {
                                  "-> MAIL",
                                  "<- 501 5.5.4 Argument missing",
                                  "-> MAIL TO:<a@example.com>",
                                  "<- 501 5.5.4 Syntax: MAIL FROM:<address>",
                                  "-> MAIL FROM:a@example.com",
                                  "<- 501 5.1.7 The address must stand in <>",
                                  "-> MAIL FROM:<a@example.com>SIZE=1",
                                  "<- 501 5.1.7 A blank must follow the address",
                                  "-> MAIL FROM:<a@example.com> SIZE=x",
                                  "<- 501 5.5.4 Parameter has no such value",
                                  "-> MAIL FROM:<a@example.com> SIZE=",
                                  "<- 501 5.5.4 Parameter has no such value",
                                  "-> MAIL FROM:<a@example.com> SIZE=1 size=1",
                                  "<- 501 5.5.4 Parameter given twice",
                                  "-> MAIL FROM:<a@example.com> BODY=BINARYMIME",
                                  "<- 501 5.5.4 Parameter has no such value",
                                  "-> MAIL FROM:<a@example.com> RET=FULL",
                                  "<- 555 5.5.4 Parameter not recognized",
                                  "-> MAIL FROM:<a@example.com> SIZE=10485761",
                                  "<- 552 5.3.4 Message too big",
                                  "-> MAIL FROM:<a@example.com> SIZE=99999999999999999999",
                                  "<- 552 5.3.4 Message too big",
                                  "-> MAIL FROM:<\xc3\xbc@example.com>",
                                  "<- 553 5.6.7 A non-ASCII address needs SMTPUTF8",
                                  "-> MAIL FROM: <a@example.com>",
                                  "<- 250 2.1.0 Sender ok",
                                  "-> RCPT TO:<\xc3\xbc@example.com>",
                                  "<- 553 5.6.7 A non-ASCII address needs SMTPUTF8",
                                  "-> RCPT TO:<user>",
                                  "<- 501 5.1.3 The address has no domain",
                                  "-> RCPT TO:<>",
                                  "<- 501 5.1.3 The forward path must not be empty",
                                  "-> RCPT TO:<a@example.com> NOTIFY=NEVER",
                                  "<- 555 5.5.4 Parameter not recognized",
                                  "-> RSET now",
                                  "<- 501 5.5.4 No argument allowed",
                                  "-> RSET",
                                  "<- 250 2.0.0 Flushed",
                                  "-> MAIL FROM:<\xc3\xbc@example.com> SMTPUTF8",
                                  "<- 250 2.1.0 Sender ok",
                                  "-> RCPT TO:<\xc3\xbc@example.com>",
                                  "<- 250 2.1.5 Recipient ok",
                                  "-> DATA now",
                                  "<- 501 5.5.4 No argument allowed",
                                  "-> QUIT now",
                                  "<- 501 5.5.4 No argument allowed",
                                  "-> EHLO",
                                  "<- 501 5.5.4 Argument missing",
                              }));
}

TEST_CASE("smtp_server: a chunk whose command is not understood is not run as commands") {
    const std::string smuggled = "RSET\r\nMAIL FROM:<evil@example.com>\r\n";
    for (const std::string& command :
         {std::string("BDAT 60 LASTX\r\n"), std::string("BDAT 60 LAST\n"), std::string("BDAT\r\n"),
          std::string("BDAT x\r\n"), "BDAT 1 " + std::string(5000, ' ') + "\r\n"}) {
        INFO(command.substr(0, 20));
        server_config config;
        smtp_server machine(config, "mx.test");
        std::string out;
        machine.greet(out);
        std::string input = "EHLO c.test\r\n" + command + smuggled;
        std::string_view left = input;
        server_step step;
        do {
            step = machine.consume(left, out);
            left.remove_prefix(step.consumed);
        } while (step.event != server_event::close && step.event != server_event::need_more);
        CHECK(step.event == server_event::close);
        CHECK(out.find("Sender ok") == std::string::npos);
    }
}

TEST_CASE("smtp_server: the rest of a pipelined envelope whose MAIL was refused is no nonsense") {
    std::vector<std::string> lines = after(
        greeted, {"-> MAIL FROM:<a@example.com> SIZE=99999999999", "<- 552 5.3.4 Message too big"});
    for (int i = 0; i < 100; ++i) {
        lines.push_back("-> RCPT TO:<b@example.com>");
        lines.push_back("<- 503 5.5.1 MAIL comes first");
    }
    replay({}, lines);
}

TEST_CASE("smtp_server: over-long lines, bare LF, NUL and control characters are never commands") {
    const std::string fits(max_command_line - 7, 'x');  // "NOOP " and CRLF
    std::vector<std::string> lines =
        after(greeted, {
                           "-> NOOP " + fits,
                           "<- 250 2.0.0 Ok",
                           "-> NOOP x" + fits,
                           "<- 500 5.5.2 Line too long",
                           "-> NOOP",
                           "<- 250 2.0.0 Ok",
                           "=> NOOP\nMAIL FROM:<injected@example.com>\r\n",
                           "<- 500 5.5.2 A line ends with CRLF, not with LF alone",
                           "-> NOOP\rNOOP",
                           "<- 500 5.5.2 Control character in the command",
                           "-> NOOP \x1b[2J",
                           "<- 500 5.5.2 Control character in the command",
                           "-> ",
                           "<- 500 5.5.1 Command not recognized",
                           "-> GET / HTTP/1.1",
                           "<- 500 5.5.1 Command not recognized",
                       });
    lines.push_back(std::string("-> NOOP \0", 9));
    lines.push_back("<- 500 5.5.2 Control character in the command");
    replay({}, lines);
    replay({.newlines = bare_newlines::accept}, after(greeted, {"=> NOOP\n", "<- 250 2.0.0 Ok"}));
}

TEST_CASE("smtp_server: a line of 48 KiB is thrown away as it comes and answered once") {
    const server_config config;
    session one(config);
    one.feed("EHLO x\r\n");
    one.output.clear();
    const std::string block(1 << 10, 'A');
    for (int i = 0; i < 48; ++i)
        one.feed(block);
    CHECK(one.output.empty());
    one.feed("\r\nNOOP\r\n");
    CHECK(one.output == "500 5.5.2 Line too long\r\n250 2.0.0 Ok\r\n");
}

TEST_CASE("smtp_server: too many commands that make no sense end the session") {
    const server_config config{.max_errors = 2};
    const outcome found = replay(config, {
                                             "<- 220 mx.test ESMTP ready",
                                             "-> A",
                                             "<- 500 5.5.1 Command not recognized",
                                             "-> B",
                                             "<- 500 5.5.1 Command not recognized",
                                             "-> NOOP",
                                             "<- 250 2.0.0 Ok",
                                             "-> C",
                                             "<- 500 5.5.1 Command not recognized",
                                             "<- 421 4.7.0 Too many errors, closing",
                                             "-> NOOP",
                                         });
    CHECK(found.closed);
}

TEST_CASE("smtp_server: too many recipients and too many octets") {
    const server_config config{.max_message = 10, .max_recipients = 1};
    std::vector<std::string> start = greeted;
    start[4] = "<- 250-SIZE 10";
    const outcome found = replay(config, after(start, {
                                                          "-> MAIL FROM:<a@example.com>",
                                                          "<- 250 2.1.0 Sender ok",
                                                          "-> RCPT TO:<b@example.com>",
                                                          "<- 250 2.1.5 Recipient ok",
                                                          "-> RCPT TO:<c@example.com>",
                                                          "<- 452 4.5.3 Too many recipients",
                                                          "-> DATA",
                                                          "<- 354 End data with <CRLF>.<CRLF>",
                                                          "-> 123456789",
                                                          "-> .",
                                                          "<- 552 5.3.4 Message too big",
                                                          "-> MAIL FROM:<a@example.com>",
                                                          "<- 250 2.1.0 Sender ok",
                                                          "-> RCPT TO:<b@example.com>",
                                                          "<- 250 2.1.5 Recipient ok",
                                                          "-> DATA",
                                                          "<- 354 End data with <CRLF>.<CRLF>",
                                                          "-> ..345678",
                                                          "-> .",
                                                          "<- 250 2.0.0 Message accepted",
                                                      }));
    CHECK(found.messages == std::vector<std::string>{".345678\r\n"});
    CHECK(found.refused == 1);
}

TEST_CASE("smtp server: the parameters of DSN, DELIVERBY and MT-PRIORITY") {
    server_config config;
    config.delivery_options = true;
    std::vector<std::string> offering = greeted;
    offering.insert(offering.end() - 1, {"<- 250-DSN", "<- 250-DELIVERBY", "<- 250-MT-PRIORITY"});
    replay(
        config,
        after(
            offering,
            {
                "-> MAIL FROM:<a@example.com> RET=BODY",
                "<- 501 5.5.4 Parameter has no such value",
                "-> MAIL FROM:<a@example.com> ENVID=a+",
                "<- 501 5.5.4 Parameter has no such value",
                "-> MAIL FROM:<a@example.com> ENVID=a ENVID=b",
                "<- 501 5.5.4 Parameter given twice",
                "-> MAIL FROM:<a@example.com> BY=0;R",
                "<- 501 5.5.4 Parameter has no such value",
                "-> MAIL FROM:<a@example.com> MT-PRIORITY=12",
                "<- 501 5.5.4 Parameter has no such value",
                "-> MAIL FROM:<a@example.com> NOTIFY=NEVER",
                "<- 555 5.5.4 Parameter not recognized",
                "-> MAIL FROM:<a@example.com> SIZE=1 RET=HDRS ENVID=a+2Bb BY=120;NT MT-PRIORITY=-3",
                "<- 250 2.1.0 Sender ok",
                "-> RCPT TO:<b@example.com> NOTIFY=NEVER,DELAY",
                "<- 501 5.5.4 Parameter has no such value",
                "-> RCPT TO:<b@example.com> ORCPT=b@example.com",
                "<- 501 5.5.4 Parameter has no such value",
                "-> RCPT TO:<b@example.com> RET=FULL",
                "<- 555 5.5.4 Parameter not recognized",
                "-> RCPT TO:<b@example.com> NOTIFY=SUCCESS,DELAY ORCPT=rfc822;b@example.com",
                "<- 250 2.1.5 Recipient ok",
                "-> RCPT TO:<c@example.com>",
                "<- 250 2.1.5 Recipient ok",
            }));
    replay({}, after(greeted, {
                                  "-> MAIL FROM:<a@example.com> RET=FULL",
                                  "<- 555 5.5.4 Parameter not recognized",
                                  "-> MAIL FROM:<a@example.com>",
                                  "<- 250 2.1.0 Sender ok",
                                  "-> RCPT TO:<b@example.com> NOTIFY=NEVER",
                                  "<- 555 5.5.4 Parameter not recognized",
                              }));
}

TEST_CASE("smtp_server: a line without an end ends the session") {
    const server_config config;
    for (const std::string begin : {"", "NOOP\n", "AUTH "}) {
        CAPTURE(begin);
        session one(config);
        one.feed("EHLO x\r\n");
        one.feed(begin);
        one.output.clear();
        for (int i = 0; i < 256 && !one.closed; ++i)
            one.feed(std::string(2048, 'A'));
        CHECK(one.closed);
        CHECK(one.output == "421 4.7.0 A line without an end, closing\r\n");
    }
}

TEST_CASE("smtp_server: what a judge refuses is no error of the client's") {
    const server_config config{.max_errors = 2};
    session one(config, {}, refusing(server_stage::ehlo, {502, "5.5.1", "Not you"}));
    one.output.clear();
    for (int i = 0; i < 10; ++i)
        one.feed("EHLO x\r\n");
    CHECK_FALSE(one.closed);
}

TEST_CASE(
    "smtp_server: what is pipelined behind a refusal is no error, as far as it belongs to it") {
    struct row {
        std::string said;
        bool lmtp, closed;
        const char* reason;
    };
    const std::string mail = "MAIL FROM:<>\r\n", unknown = "RCPT TO:<unknown@c.org>\r\n";
    const row rows[] = {
        {mail + unknown + "DATA\r\nRSET\r\n", true, false, "RFC 2033 4.2: 503"},
        {mail + unknown + "BDAT 0 LAST\r\nRSET\r\n", true, false, "the same of a chunk"},
        {mail + unknown + "DATA\r\nRSET\r\n", false, false, "RFC 5321 3.3: 554"},
        {mail + "DATA\r\nRSET\r\n", true, true, "nothing was refused"},
        {mail + mail + "RSET\r\n", false, true, "a second MAIL follows from no refusal"},
    };
    for (const row& one : rows) {
        CAPTURE(one.said, one.lmtp, one.reason);
        const server_config config{.speaks = one.lmtp ? dialect::lmtp : dialect::smtp,
                                   .max_errors = 2,
                                   .max_idle_commands = 5};
        session client(config);
        client.feed(one.lmtp ? "LHLO x\r\n" : "EHLO x\r\n");
        for (int i = 0; i < 10 && !client.closed; ++i)
            client.feed(one.said);
        CHECK(client.closed == one.closed);
    }
}

TEST_CASE("smtp_server: a sender that is refused, again and again, may be followed by RSET") {
    const server_config config{.requires_auth = true, .max_errors = 2, .max_idle_commands = 2};
    session one(config, {.mechanisms = "PLAIN"});
    one.feed("EHLO x\r\n");
    for (int i = 0; i < 10; ++i)
        one.feed("MAIL FROM:<>\r\nRCPT TO:<b@c.org>\r\nBDAT 3 LAST\r\nabcRSET\r\n");
    CHECK_FALSE(one.closed);
}

TEST_CASE("smtp_server: what follows a refusal has an end") {
    const server_config config{.max_recipients = 5, .requires_auth = true, .max_errors = 2};
    session one(config, {.mechanisms = "PLAIN"});
    one.feed("EHLO x\r\nMAIL FROM:<>\r\n");
    for (std::uint32_t i = 0; i < 5 + recipients_beyond + 2; ++i)
        one.feed("RCPT TO:<b@c.org>\r\n");
    CHECK_FALSE(one.closed);
    one.feed("RCPT TO:<b@c.org>\r\n");
    CHECK(one.closed);
}

TEST_CASE("smtp_server: what follows a refusal is counted anew from each MAIL on") {
    for (const bool judges : {false, true}) {
        CAPTURE(judges);
        server_config config{.max_recipients = 1, .judges_senders = judges, .max_errors = 2};
        config.requires_auth = !judges;
        smtp_server one(config, "mail.example.com");
        one.announce_auth("PLAIN", "");
        std::string input = "EHLO x\r\n";
        for (int i = 0; i < 5; ++i) {
            input += "MAIL FROM:<>\r\n";
            for (int j = 0; j < 600; ++j)
                input += "RCPT TO:<b@c.org>\r\n";
        }
        std::string out;
        server_step step;
        for (std::string_view left = input; !left.empty() && step.event != server_event::close;) {
            step = one.consume(left, out);
            left.remove_prefix(step.consumed);
            if (step.event == server_event::ask) one.answer(replies::no_such_user, out);
        }
        CHECK(step.event != server_event::close);
    }
}

TEST_CASE("smtp_server: errors count until a message is whole, and failed AUTH does, too") {
    const std::string message = "MAIL FROM:<>\r\nRCPT TO:<b@c.org>\r\nDATA\r\n.\r\n";
    const server_config config{.max_errors = 2};
    session mends(config);
    mends.feed("EHLO x\r\n");
    for (int i = 0; i < 5; ++i)
        mends.feed("A\r\nB\r\n" + message);
    CHECK_FALSE(mends.closed);
    CHECK(mends.messages.size() == 5);

    session guesses(config, {.mechanisms = "PLAIN"});
    guesses.feed("EHLO x\r\n");
    guesses.output.clear();
    guesses.feed("AUTH PLAIN d3Jvbmc=\r\nAUTH PLAIN d3Jvbmc=\r\n");
    CHECK_FALSE(guesses.closed);
    guesses.feed("AUTH PLAIN d3Jvbmc=\r\n");
    CHECK(guesses.output.ends_with("421 4.7.0 Too many errors, closing\r\n"));
}

TEST_CASE(
    "smtp_server: two RSET behind a refusal or a message are as they should be, others are idle") {
    const server_config config{.max_idle_commands = 3};  // with EHLO
    const std::string refused = "MAIL FROM:<>\r\nRCPT TO:<unknown@c.org>\r\nRSET\r\n";
    const std::string used_again =
        refused + "RSET\r\n";  // as Postfix does before it uses a connection anew
    const std::string given_up = "MAIL FROM:<>\r\nRCPT TO:<b@c.org>\r\nRSET\r\n";
    const std::string message = "MAIL FROM:<>\r\nRCPT TO:<b@c.org>\r\nDATA\r\n.\r\nRSET\r\n";
    for (const auto& [said, closed] :
         {std::pair(refused, false), std::pair(message, false), std::pair(used_again, false),
          std::pair(used_again + "RSET\r\n", true), std::pair(given_up, true),
          std::pair(std::string("RSET\r\n"), true), std::pair(std::string("VRFY x\r\n"), true)}) {
        CAPTURE(said);
        session one(config);
        one.feed("EHLO x\r\n");
        for (int i = 0; i < 10 && !one.closed; ++i)
            one.feed(said);
        CHECK(one.closed == closed);
    }
}

TEST_CASE("smtp_server: recipients without an end") {
    const server_config config{.max_recipients = 5, .max_errors = 2};
    for (const std::string who : {"RCPT TO:<b@c.org>\r\n", "RCPT TO:<unknown@c.org>\r\n"}) {
        session one(config);
        one.feed("EHLO x\r\nMAIL FROM:<>\r\n");
        for (std::uint32_t i = 0; i < 5 + recipients_beyond + 2; ++i)
            one.feed(who);
        CHECK_FALSE(one.closed);
        one.feed(who);
        CHECK(one.closed);
        CHECK(one.output.ends_with("421 4.7.0 Too many errors, closing\r\n"));
    }
}
