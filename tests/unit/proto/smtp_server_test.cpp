#include "proto/smtp_server.hpp"

#include <catch2/catch.hpp>

#include <string>
#include <vector>

using namespace postal::proto;

namespace {

// An owner that knows everybody but those called unknown..., and takes every message.
class session {
  public:
    explicit session(const server_config& config) : machine_(config, "mx.test") {
        machine_.greet(output);
    }

    // Returns what was left when the session closed.
    std::string feed(std::string_view input) {
        for (;;) {
            const server_step step = machine_.consume(input, output);
            input.remove_prefix(step.consumed);
            if (step.event == server_event::need_more) return std::string(input);
            if (step.event == server_event::close) closed = true;
            if (closed) return std::string(input);
            obey(step);
        }
    }

    std::string output;
    std::vector<std::string> messages;    // accepted
    std::vector<std::string> recipients;  // asked about
    bool closed = false;
    std::uint32_t refused = 0;

  private:
    void obey(const server_step& step) {
        switch (step.event) {
            case server_event::recipient:
                recipients.emplace_back(step.text);
                if (step.text.starts_with("unknown")) {
                    machine_.answer_recipient({550, "5.1.1", "No such user"}, output);
                } else {
                    machine_.answer_recipient(replies::recipient_ok, output);
                }
                break;
            case server_event::message_begin:
                content_.clear();
                break;
            case server_event::content:
                content_ += step.text;
                break;
            case server_event::message_end:
                CHECK(machine_.message_octets() == content_.size());
                messages.push_back(content_);
                while (machine_.answers_due() != 0) {
                    machine_.answer_delivery(replies::message_ok, output);
                }
                break;
            case server_event::message_refused:
                refused += step.replies;
                break;
            default:
                break;
        }
    }

    smtp_server machine_;
    std::string content_;
};

struct script {
    std::string sent;
    std::string wanted;
};

// "-> " a line from the client (CRLF is added), "=> " raw octets from the client, "<- " a line from
// the server.
script parse(const std::vector<std::string>& lines) {
    script result;
    for (const std::string& line : lines) {
        const std::string text = line.substr(3);
        if (line.starts_with("-> ")) result.sent += text + "\r\n";
        if (line.starts_with("=> ")) result.sent += text;
        if (line.starts_with("<- ")) result.wanted += text + "\r\n";
    }
    return result;
}

struct outcome {
    std::vector<std::string> messages;
    std::vector<std::string> recipients;
    bool closed = false;
    std::uint32_t refused = 0;
};

// The same conversation at once, octet by octet, and cut in two at every place.
outcome replay(const server_config& config, const std::vector<std::string>& lines) {
    const script play = parse(lines);
    session whole(config);
    whole.feed(play.sent);
    CHECK(whole.output == play.wanted);
    session slow(config);
    for (const char c : play.sent) {
        if (!slow.closed) slow.feed(std::string(1, c));
    }
    CHECK(slow.output == play.wanted);
    for (std::size_t at = 0; at <= play.sent.size(); ++at) {
        session cut(config);
        cut.feed(std::string_view(play.sent).substr(0, at));
        if (!cut.closed) cut.feed(std::string_view(play.sent).substr(at));
        if (cut.output != play.wanted || cut.messages != whole.messages) {
            CAPTURE(at);
            CHECK(cut.output == play.wanted);
            CHECK(cut.messages == whole.messages);
        }
    }
    return {whole.messages, whole.recipients, whole.closed, whole.refused};
}

const std::vector<std::string> greeted = {
    "<- 220 mx.test ESMTP ready",
    "-> EHLO client.example",
    "<- 250-mx.test",
    "<- 250-PIPELINING",
    "<- 250-SIZE 10485760",
    "<- 250-8BITMIME",
    "<- 250-ENHANCEDSTATUSCODES",
    "<- 250-SMTPUTF8",
    "<- 250-CHUNKING",
    "<- 250 HELP",
};

const std::vector<std::string> lmtp_greeted = {
    "<- 220 mx.test LMTP ready",
    "-> LHLO client.example",
    "<- 250-mx.test",
    "<- 250-PIPELINING",
    "<- 250-SIZE 10485760",
    "<- 250-8BITMIME",
    "<- 250-ENHANCEDSTATUSCODES",
    "<- 250-SMTPUTF8",
    "<- 250-CHUNKING",
    "<- 250 HELP",
};

std::vector<std::string> after(std::vector<std::string> start,
                               const std::vector<std::string>& rest) {
    start.insert(start.end(), rest.begin(), rest.end());
    return start;
}

}  // namespace

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

TEST_CASE("smtp_server: a line of 64 MB is thrown away as it comes and answered once") {
    const server_config config;
    session one(config);
    one.feed("EHLO x\r\n");
    one.output.clear();
    const std::string block(1 << 20, 'A');
    for (int i = 0; i < 64; ++i)
        one.feed(block);
    CHECK(one.output.empty());
    one.feed("\r\nNOOP\r\n");
    CHECK(one.output == "500 5.5.2 Line too long\r\n250 2.0.0 Ok\r\n");
}

TEST_CASE("smtp_server: too many commands that make no sense end the session") {
    const server_config config{.max_junk = 2};
    const outcome found = replay(config, {
                                             "<- 220 mx.test ESMTP ready",
                                             "-> A",
                                             "<- 500 5.5.1 Command not recognized",
                                             "-> B",
                                             "<- 500 5.5.1 Command not recognized",
                                             "-> NOOP",
                                             "<- 250 2.0.0 Ok",
                                             "-> A",
                                             "<- 500 5.5.1 Command not recognized",
                                             "-> B",
                                             "<- 500 5.5.1 Command not recognized",
                                             "-> C",
                                             "<- 500 5.5.1 Command not recognized",
                                             "<- 421 4.7.0 Too many bad commands, closing",
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
                                      "=> bdat 3 last\r\n\n.\n",
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
    CHECK(found.messages == std::vector<std::string>{"a\r\n.\r\n.\n", "abc"});
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

TEST_CASE("smtp_server: a chunk of 2^64-1 octets is swallowed, not believed") {
    const server_config config;
    session one(config);
    one.feed("EHLO x\r\nMAIL FROM:<a@b>\r\nRCPT TO:<c@d>\r\nBDAT 99999999999999999999 LAST\r\n");
    one.output.clear();
    for (int i = 0; i < 100; ++i)
        one.feed(std::string(1 << 20, 'x'));
    one.feed("\r\n.\r\nQUIT\r\n");
    CHECK(one.output.empty());
    CHECK(one.messages.empty());
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
        if (step.event == server_event::recipient)
            machine.answer_recipient(replies::recipient_ok, out);
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
        if (step.event == server_event::recipient)
            machine.answer_recipient(replies::recipient_ok, out);
        if (step.event == server_event::message_end)
            machine.answer_delivery(replies::message_ok, out);
        if (step.event != server_event::content) stages.push_back(step.stage);
        if (step.event == server_event::close) break;
    }
    using enum server_stage;
    CHECK(stages == std::vector<server_stage>{ehlo, mail, rcpt, data, end, other, quit});
}

TEST_CASE("smtp_server: a stage's fault stands in for the command") {
    server_config config;
    config.actions[static_cast<std::size_t>(server_stage::rcpt)].fault = fault_action::defer;
    config.actions[static_cast<std::size_t>(server_stage::mail)].fault = fault_action::none;
    replay(config, after(greeted, {
                                      "-> MAIL FROM:<a@b>",
                                      "<- 250 2.1.0 Sender ok",
                                      "-> RCPT TO:<a@b>",
                                      "<- 451 4.7.1 Deferred on request",
                                  }));
    config = {};
    config.actions[static_cast<std::size_t>(server_stage::end)].fault = fault_action::reject;
    const outcome found = replay(config, after(greeted, {
                                                            "-> MAIL FROM:<a@b>",
                                                            "<- 250 2.1.0 Sender ok",
                                                            "-> RCPT TO:<a@b>",
                                                            "<- 250 2.1.5 Recipient ok",
                                                            "=> BDAT 2 LAST\r\nhi",
                                                            "<- 550 5.7.1 Rejected on request",
                                                            "-> MAIL FROM:<a@b>",
                                                            "<- 250 2.1.0 Sender ok",
                                                        }));
    CHECK(found.refused == 1);
    config = {};
    config.actions[static_cast<std::size_t>(server_stage::data)].fault = fault_action::disconnect;
    const outcome closed = replay(config, after(greeted, {
                                                             "-> MAIL FROM:<a@b>",
                                                             "<- 250 2.1.0 Sender ok",
                                                             "-> RCPT TO:<a@b>",
                                                             "<- 250 2.1.5 Recipient ok",
                                                             "=> BDAT 2 LAST\r\nhi",
                                                             "<- 421 4.3.2 Closing on request",
                                                         }));
    CHECK(closed.closed);
}
