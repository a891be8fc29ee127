// SPDX-License-Identifier: GPL-3.0-or-later
// What is refused before its content: counted as its sender counts it, once, whatever follows.
#include "session_play.hpp"

using namespace postal;
using namespace postal::serve::test;

TEST_CASE("serve session: a message that is refused early has begun, and ends once") {
    const auto refusing = [](proto::server_stage at, const proto::server_reply& what,
                             settings made = {}) {
        return judged({.at = at, .reply = what}, std::move(made));
    };
    using stage = proto::server_stage;
    const struct {
        proto::server_reply reject{550, "5.7.1", "Rejected on request"};
        proto::server_reply defer{451, "4.7.1", "Deferred on request"};
        proto::server_reply disconnect{421, "4.3.2", "Closing on request"};
    } fault{};
    settings no_room;
    no_room.rules.server.max_recipients = 0;
    const std::string sender = "MAIL FROM:<a@example.com>\r\n",
                      nobody = "RCPT TO:<nobody@x.org>\r\n",
                      somebody = "RCPT TO:<b@example.com>\r\n", both = nobody + somebody;
    const std::string rejected = "550 5.7.1 Rejected on request\r\n",
                      deferred = "451 4.7.1 Deferred on request\r\n",
                      closing = "421 4.3.2 Closing on request\r\n",
                      no_recipients = "554 5.5.1 No valid recipients\r\n",
                      mail_first = "503 5.5.1 MAIL comes first\r\n",
                      rcpt_first = "503 5.5.1 RCPT comes first\r\n",
                      syntax = "501 5.5.4 Syntax: RCPT TO:<address>\r\n",
                      flushed = "250 2.0.0 Flushed\r\n";
    const auto said = [](const std::string& lines, const std::string& replies) {
        return transcript{says(lines), hears(replies)};
    };
    const transcript lmtp_greeted{
        hears("220 mail.example.com LMTP ready\r\n"), says("LHLO client\r\n"),
        hears("250-mail.example.com\r\n250-PIPELINING\r\n250-SIZE 10485760\r\n250-8BITMIME\r\n"
              "250-ENHANCEDSTATUSCODES\r\n250-SMTPUTF8\r\n250-CHUNKING\r\n250 HELP\r\n")};
    const std::string ok = std::string(sender_ok), unknown = std::string(no_such_user),
                      taken = std::string(recipient_ok), go = std::string(start_data),
                      done = std::string(message_ok);
    check({
        {"the sender", refusing(stage::mail, fault.reject),
         greeted + said(sender, rejected) + said(sender, rejected) + quits,
         "2 started, 2 rejected, 2x mail 550 5.7.1"},
        {"the sender, and what was said behind it", refusing(stage::mail, fault.defer),
         greeted +
             said(sender + both + "DATA\r\n", deferred + mail_first + mail_first + mail_first) +
             quits,
         "1 started, 1 deferred, 1x mail 451 4.7.1"},
        {"the sender, with the end of the session", refusing(stage::mail, fault.disconnect),
         greeted + said(sender, closing) + transcript{closed},
         "1 started, 1 deferred, 1x mail 421 4.3.2"},
        {"before the greeting",
         {},
         connected + said(sender, "503 5.5.1 Say hello first\r\n") + quits,
         "1 started, 1 rejected, 1x mail 503 5.5.1"},
        {"a sender given twice",
         {},
         recipient_given + said(sender, "503 5.5.1 Sender already given\r\n") +
             said("DATA\r\n", go) + said(".\r\n", done) + quits,
         "1 started, 1 accepted, 1x mail 503 5.5.1"},
        {"recipients, one for now", no_room,
         sender_given +
             said("RCPT b\r\n" + somebody + "RCPT b\r\n",
                  syntax + "452 4.5.3 Too many recipients\r\n" + syntax) +
             said("RSET\r\n", flushed) + quits,
         "1 started, 1 deferred, 2x rcpt 501 5.5.4, 1x rcpt 452 4.5.3, 1x --max-recipients"},
        {"recipients, and the client quits",
         {},
         sender_given + said(nobody, unknown) + quits,
         "1 started, 1 rejected, 1x rcpt 550 5.1.1"},
        {"recipients, and then one is taken",
         {},
         sender_given + said(both + "DATA\r\n", unknown + taken + go) + said(".\r\n", done) + quits,
         "1 started, 1 accepted, 1x rcpt 550 5.1.1"},
        {"recipients, with the end of the session", refusing(stage::rcpt, fault.disconnect),
         sender_given + said(somebody, closing) + transcript{closed},
         "1 started, 1 deferred, 1x rcpt 421 4.3.2"},
        {"no recipient was named",
         {},
         sender_given + said("DATA\r\n", rcpt_first) + said("RSET\r\n", flushed) + quits,
         "1 started, 1 rejected, 1x data 503 5.5.1"},
        {"DATA", refusing(stage::data, fault.defer),
         recipient_given + said("DATA\r\n", deferred) + said("RSET\r\n", flushed) +
             said(sender, ok) + said("RSET\r\n", flushed) + quits,
         "2 started, 1 deferred, 1 failed, 1x data 451 4.7.1"},
        {"DATA, and then not",
         {},
         recipient_given + said("DATA now\r\n", "501 5.5.4 No argument allowed\r\n") +
             said("DATA\r\n", go) + said(".\r\n", done) + quits,
         "1 started, 1 accepted, 1x data 501 5.5.4"},
        {"a chunk", refusing(stage::chunk, fault.reject),
         recipient_given + said("BDAT 4\r\nbodyRSET\r\n", rejected + flushed) + quits,
         "1 started, 1 rejected, 1x data 550 5.7.1"},
        {"a chunk, and those behind it", refusing(stage::chunk, fault.reject),
         recipient_given +
             said("BDAT 4\r\nbodyBDAT 4\r\nbodyBDAT 0 LAST\r\n",
                  rejected + mail_first + mail_first) +
             quits,
         "1 started, 1 rejected, 1x data 550 5.7.1"},
        {"a chunk for nobody",
         {},
         sender_given + said(nobody + "BDAT 4 LAST\r\nbody", unknown + no_recipients) + quits,
         "1 started, 1 rejected, 1x rcpt 550 5.1.1"},
        {"given up by another greeting",
         {},
         recipient_given + said("HELO client\r\n", "250 mail.example.com\r\n") + quits,
         "1 started, 1 failed"},
        {"given up by QUIT", {}, recipient_given + quits, "1 started, 1 failed"},
        {"LMTP: the sender, with what was said behind it",
         refusing(stage::mail, fault.reject, lmtp()),
         lmtp_greeted +
             said(sender + both + "DATA\r\n", rejected + mail_first + mail_first + mail_first) +
             said("RSET\r\n" + nobody, flushed + mail_first) + quits,
         "2 started, 2 rejected, 1x mail 550 5.7.1, 1x rcpt 503 5.5.1"},
        {"LMTP: all recipients", lmtp(),
         lmtp_greeted +
             said(sender + nobody + nobody + "DATA\r\n", ok + unknown + unknown + rcpt_first) +
             said("RSET\r\n", flushed) + quits,
         "2 started, 2 rejected, 2x rcpt 550 5.1.1"},
        {"LMTP: DATA", refusing(stage::data, fault.defer, lmtp()),
         lmtp_greeted + said(sender + both + somebody, ok + unknown + taken + taken) +
             said("DATA\r\n", deferred) + quits,
         "3 started, 1 rejected, 2 deferred, 1x rcpt 550 5.1.1, 1x data 451 4.7.1"},
        {"LMTP: given up by RSET", lmtp(),
         lmtp_greeted + said(sender + both + "RSET\r\n", ok + unknown + taken + flushed) + quits,
         "2 started, 1 rejected, 1 failed, 1x rcpt 550 5.1.1"},
        {"LMTP: at its end, with that of the session",
         refusing(stage::end, fault.disconnect, lmtp()),
         lmtp_greeted + said(sender + somebody + somebody + "DATA\r\n", ok + taken + taken + go) +
             said(".\r\n", closing + closing) + transcript{closed},
         "2 started, 2 deferred, 2x end 421 4.3.2"},
    });
}
