// SPDX-License-Identifier: GPL-3.0-or-later
// AUTH of the server state machine (RFC 4954) as transcripts.
#include <catch2/catch.hpp>

#include "proto/base64.hpp"
#include "smtp_server_play.hpp"

using namespace postal::proto;
using namespace postal::proto::test;

namespace {

constexpr announced offer{"CRAM-MD5 PLAIN", "LOGIN"};

const std::vector<std::string> greeted_with_auth = {
    "<- 220 mx.test ESMTP ready",
    "-> EHLO client.example",
    "<- 250-mx.test",
    "<- 250-PIPELINING",
    "<- 250-SIZE 10485760",
    "<- 250-8BITMIME",
    "<- 250-ENHANCEDSTATUSCODES",
    "<- 250-SMTPUTF8",
    "<- 250-CHUNKING",
    "<- 250-AUTH CRAM-MD5 PLAIN",
    "<- 250 HELP",
};

}  // namespace

TEST_CASE("smtp_server: AUTH as a client says it") {
    const std::vector<std::vector<std::string>> rows = {
        {"-> AUTH PLAIN cmlnaHQ=", "<- 235 2.7.0 Authentication succeeded",
         "-> AUTH PLAIN cmlnaHQ=", "<- 503 5.5.1 Already authenticated", "-> EHLO again"},
        {"-> auth cram-md5", "<- 334 Zm9yIGNyYW0tbWQ1",
         "-> cmlnaHQ=", "<- 235 2.7.0 Authentication succeeded"},
        {"-> AUTH PLAIN Zm9v", "<- 334 bW9yZQ==", "-> YmFy", "<- 334 bW9yZQ==", "-> ",
         "<- 535 5.7.8 Authentication credentials invalid", "-> NOOP", "<- 250 2.0.0 Ok"},
        {"-> AUTH PLAIN =", "<- 535 5.7.8 Authentication credentials invalid"},
        {"-> AUTH CRAM-MD5", "<- 334 Zm9yIENSQU0tTUQ1", "-> *",
         "<- 501 5.7.0 Authentication cancelled", "-> *", "<- 500 5.5.1 Command not recognized"},
        {"-> AUTH PLAIN *", "<- 501 5.5.2 Not base64"},
        {"-> AUTH PLAIN cmlnaHQ", "<- 501 5.5.2 Not base64", "-> NOOP", "<- 250 2.0.0 Ok"},
        {"-> AUTH CRAM-MD5", "<- 334 Zm9yIENSQU0tTUQ1", "-> no base64", "<- 501 5.5.2 Not base64",
         "-> NOOP", "<- 250 2.0.0 Ok"},
        {"-> AUTH", "<- 501 5.5.4 Syntax: AUTH mechanism [response]"},
        {"-> AUTH PLAIN a b", "<- 501 5.5.4 Syntax: AUTH mechanism [response]"},
        {"-> AUTH GSSAPI", "<- 504 5.5.4 No such mechanism"},
        {"-> AUTH LOGIN", "<- 538 5.7.11 That mechanism needs TLS"},
        {"=> AUTH PLAIN cmlnaHQ=\n", "<- 500 5.5.2 A line ends with CRLF, not with LF alone",
         "=> junk\r\n"},
        {"-> AUTH CRAM-MD5", "<- 334 Zm9yIENSQU0tTUQ1", "=> cmlnaHQ=\n",
         "<- 500 5.5.2 A line ends with CRLF, not with LF alone", "=> junk\r\n", "-> NOOP",
         "<- 250 2.0.0 Ok"},
        {"-> MAIL FROM:<a@example.com>", "<- 250 2.1.0 Sender ok",
         "-> AUTH PLAIN cmlnaHQ=", "<- 503 5.5.1 Not within a mail transaction"},
    };
    for (std::vector<std::string> lines : rows) {
        INFO(lines.front());
        if (lines.back() == "-> EHLO again") {
            lines.insert(lines.end(), greeted_with_auth.begin() + 2, greeted_with_auth.end());
            lines.insert(lines.end(), {"-> AUTH PLAIN =", "<- 503 5.5.1 Already authenticated"});
        }
        replay({}, after(greeted_with_auth, lines), offer);
    }
    replay({}, {"<- 220 mx.test ESMTP ready", "-> AUTH PLAIN =", "<- 503 5.5.1 Say hello first"},
           offer);
}

TEST_CASE("smtp_server: without mechanisms there is no AUTH") {
    replay({}, after(greeted, {"-> AUTH PLAIN =", "<- 502 5.5.1 Command not implemented", "-> AUTH",
                               "<- 502 5.5.1 Command not implemented"}));
}

TEST_CASE("smtp_server: lines of AUTH may be long, and no longer") {
    const std::string line = "AUTH PLAIN ";
    const std::string most(max_auth_line - line.size() - 2 - 1, 'A');  // groups of four
    const std::string too_long(max_auth_line - line.size() - 1, 'A');
    REQUIRE(most.size() % 4 == 2);
    const server_config config;
    const auto play = [&](const std::string& sent, const std::string& wanted) {
        for (const std::size_t piece : {std::size_t{1}, std::size_t{700}, sent.size()}) {
            session client(config, offer);
            client.feed("EHLO x\r\n");
            client.output.clear();
            for (std::size_t at = 0; at < sent.size(); at += piece) {
                client.feed(std::string_view(sent).substr(at, piece));
            }
            CHECK(client.output == wanted);
        }
    };
    const std::string wrong = "535 5.7.8 Authentication credentials invalid\r\n";
    const std::string long_one = "500 5.5.6 Line too long\r\n";
    play(line + most.substr(2) + "\r\n", wrong);
    play(line + too_long + "\r\nNOOP\r\n", long_one + "250 2.0.0 Ok\r\n");
    play("AUTH CRAM-MD5\r\n" + std::string(max_auth_line - 4, 'A') + "\r\n",
         "334 Zm9yIENSQU0tTUQ1\r\n" + wrong);
    play("AUTH CRAM-MD5\r\n" + std::string(max_auth_line - 1, 'A') + "\r\nNOOP\r\n",
         "334 Zm9yIENSQU0tTUQ1\r\n" + long_one + "250 2.0.0 Ok\r\n");
}

TEST_CASE("smtp_server: who must authenticate has to before mail and questions about users") {
    server_config config;
    config.requires_auth = true;
    replay(config,
           after(greeted_with_auth, {"-> MAIL FROM:<a@example.com>",
                                     "<- 530 5.7.0 Authentication required",
                                     "-> VRFY a",
                                     "<- 530 5.7.0 Authentication required",
                                     "-> EXPN a",
                                     "<- 530 5.7.0 Authentication required",
                                     "-> RCPT TO:<b@example.com>",
                                     "<- 503 5.5.1 MAIL comes first",
                                     "-> NOOP",
                                     "<- 250 2.0.0 Ok",
                                     "-> RSET",
                                     "<- 250 2.0.0 Flushed",
                                     "-> BDAT 4 LAST",
                                     "=> QUIT",
                                     "<- 503 5.5.1 MAIL comes first",
                                     "-> AUTH PLAIN d3Jvbmc=",
                                     "<- 535 5.7.8 Authentication credentials invalid",
                                     "-> MAIL FROM:<a@example.com>",
                                     "<- 530 5.7.0 Authentication required",
                                     "-> AUTH PLAIN cmlnaHQ=",
                                     "<- 235 2.7.0 Authentication succeeded",
                                     "-> MAIL FROM:<a@example.com>",
                                     "<- 250 2.1.0 Sender ok"}),
           offer);
}

TEST_CASE("smtp_server: what a transcript may show of a command") {
    CHECK(without_secret("AUTH PLAIN AHRpbQB0\r\n") == "AUTH PLAIN ***\r\n");
    CHECK(without_secret("auth  plain\tAHRpbQB0 more\r\n") == "auth plain ***\r\n");
    for (const char* line : {"AUTH PLAIN\r\n", "AUTH\r\n", "MAIL FROM:<a> AUTH=<>\r\n", "\r\n", ""})
        CHECK(without_secret(line) == line);
}

TEST_CASE("smtp_server: announcing anew, as after STARTTLS, forgets who has authenticated") {
    const server_config config;
    smtp_server machine(config, "mx.test");
    std::string out;
    machine.announce_auth("PLAIN", "");
    machine.consume("EHLO x\r\n", out);
    machine.consume("AUTH PLAIN =\r\n", out);
    machine.answer_auth(replies::authenticated, out);
    machine.announce_auth("LOGIN", "");
    out.clear();
    CHECK(machine.consume("AUTH LOGIN\r\n", out).event == server_event::auth_begin);
    CHECK(out.empty());
}
