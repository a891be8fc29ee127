// SPDX-License-Identifier: GPL-3.0-or-later
// A server's session: what its client hears, and what is counted, in every state and at every end.
#include "session_play.hpp"

using namespace postal;
using namespace postal::serve::test;
using namespace std::chrono_literals;

TEST_CASE("serve session: transactions, and what is counted of them") {
    const settings deferring = judged(
        {.at = proto::server_stage::end, .reply = proto::server_reply{451, "4.7.1", "Not now"}});
    settings small;
    small.rules.server.max_message = 4;
    const transcript lmtp_envelope{
        hears("220 mail.example.com LMTP ready\r\n"),
        says("LHLO client\r\nMAIL FROM:<a@example.com>\r\n"
             "RCPT TO:<b@example.com>\r\nRCPT TO:<nobody@example.com>\r\n"
             "RCPT TO:<c@example.com>\r\nDATA\r\n"),
        hears("250-mail.example.com\r\n250-PIPELINING\r\n"
              "250-SIZE 10485760\r\n250-8BITMIME\r\n"
              "250-ENHANCEDSTATUSCODES\r\n250-SMTPUTF8\r\n"
              "250-CHUNKING\r\n250 HELP\r\n"),
        hears(sender_ok),
        hears(recipient_ok),
        hears(no_such_user),
        hears(recipient_ok),
        hears(start_data)};
    const transcript content{says("body\r\n.\r\n")};
    const std::string bare_newline = "550 5.5.2 Message has a bare CR or LF\r\n";
    check({
        {"no mail", {}, greeted + quits, ""},
        {"a message", {}, accepted + quits, "1 started, 1 accepted"},
        {"one after the other",
         {},
         accepted +
             transcript{says("MAIL FROM:<>\r\n"), hears(sender_ok),
                        says("RCPT TO:<b@example.com>\r\n"), hears(recipient_ok), says("DATA\r\n"),
                        hears(start_data), says(".\r\n"), hears(message_ok)} +
             quits,
         "2 started, 2 accepted"},
        {"an answer that takes time",
         {.how = answering::later},
         content_sent + transcript{answer, hears(message_ok)} + quits,
         "1 started, 1 accepted"},
        {"no recipient",
         {},
         sender_given +
             transcript{says("RCPT TO:<nobody@example.com>\r\n"), hears(no_such_user),
                        says("DATA\r\n"), hears("554 5.5.1 No valid recipients\r\n")} +
             quits,
         "1 started, 1 rejected, 1x rcpt 550 5.1.1"},
        {"too big", small,
         content_sent + transcript{hears("552 5.3.4 Message too big\r\n")} + quits,
         "1 started, 1 rejected, 1x end 552 5.3.4, 1x --max-size"},
        {"a bare newline",
         {},
         data_begun + transcript{says("a\nb\r\n.\r\n"), hears(bare_newline)} + quits,
         "1 started, 1 rejected, 1x end 550 5.5.2"},
        {"deferred", deferring, content_sent + transcript{hears("451 4.7.1 Not now\r\n")} + quits,
         "1 started, 1 deferred, 1x end 451 4.7.1"},
        {"given up between its chunks",
         {},
         recipient_given +
             transcript{says("BDAT 4\r\nbodyRSET\r\n"),
                        hears("250 2.0.0 Chunk received\r\n250 2.0.0 Flushed\r\n")} +
             quits,
         "1 started, 1 failed"},
        {"LMTP: one answer for each recipient", lmtp(),
         lmtp_envelope + content + transcript{hears(message_ok), hears(message_ok)} + quits,
         "3 started, 2 accepted, 1 rejected, 1x rcpt 550 5.1.1"},
        {"LMTP: refused for each recipient", lmtp(),
         lmtp_envelope +
             transcript{says("a\nb\r\n.\r\n"), hears(bare_newline), hears(bare_newline)} + quits,
         "3 started, 3 rejected, 1x rcpt 550 5.1.1, 2x end 550 5.5.2"},
        {"LMTP: gone within the content", lmtp(),
         lmtp_envelope + transcript{says("body\r\n"), leaves},
         "3 started, 1 rejected, 2 failed, 1x rcpt 550 5.1.1, 1x data 0 no_quit"},
    });
}

TEST_CASE("serve session: a message reaches its program as it was, and is dropped at most once") {
    single_session whole({});
    whole.run(data_begun + transcript{says("..dot\r\nend\r\n.\r\n"), hears(message_ok)} + quits);
    CHECK(whole.greeting == "client");
    CHECK(whole.content == ".dot\r\nend\r\n");
    CHECK(whole.dropped == 0);

    single_session broken({});
    broken.run(in_content + transcript{leaves});
    CHECK(broken.content == "Subject: x\r\n");
    CHECK(broken.dropped == 1);
}

TEST_CASE("serve session: everything at once is answered in order") {
    const std::string envelope =
        "MAIL FROM:<a@example.com>\r\nRCPT TO:<nobody@example.com>\r\n"
        "RCPT TO:<b@example.com>\r\nDATA\r\n";
    const transcript answers{hears(sender_ok), hears(no_such_user), hears(recipient_ok),
                             hears(start_data), hears(message_ok)};
    const std::string body = "body\r\n.\r\n";
    settings held_back;
    for (const auto stage : {proto::server_stage::mail, proto::server_stage::rcpt,
                             proto::server_stage::end, proto::server_stage::quit}) {
        held_back.rules.delays[static_cast<std::size_t>(stage)] = 1us;
    }
    settings later{.how = answering::later};
    const std::string twice = envelope + body + envelope + body + "QUIT\r\n";
    const transcript end{hears(bye), closed};
    const std::string counted = "2 started, 2 accepted, 2x rcpt 550 5.1.1";
    check({
        {"at once", {}, greeted + transcript{says(twice)} + answers + answers + end, counted},
        {"held back", held_back, greeted + transcript{says(twice)} + answers + answers + end,
         counted},
        {"answers that take time", later,
         greeted + transcript{says(twice), answer} + answers + transcript{answer} + answers + end,
         counted},
        {"the next envelope behind the final dot",
         {},
         greeted + transcript{says(envelope + body + envelope)} + answers +
             transcript{hears(sender_ok), hears(no_such_user), hears(recipient_ok),
                        hears(start_data), says(body), hears(message_ok)} +
             quits,
         counted},
    });
}

TEST_CASE("serve session: lines that are too long, and nonsense") {
    const std::string too_long = "500 5.5.2 Line too long\r\n";
    const std::string unknown = "500 5.5.1 Command not recognized\r\n";
    settings strict;
    strict.rules.server.max_errors = 2;
    const transcript long_line{says("NOOP " + std::string(1200, 'x') + "\r\n"), hears(too_long)};
    check({
        {"a line that is too long", {}, greeted + long_line + quits, "1x other 500 5.5.2"},
        {"within a transaction",
         {},
         recipient_given + long_line +
             transcript{says("DATA\r\n"), hears(start_data), says(".\r\n"), hears(message_ok)} +
             quits,
         "1 started, 1 accepted, 1x other 500 5.5.2"},
        {"gone within one",
         {},
         greeted + transcript{says(std::string(1200, 'x')), leaves},
         "1x quit 0 no_quit"},
        {"nonsense, to its limit", strict,
         connected + transcript{says("A\r\nB\r\nC\r\nQUIT\r\n"), hears(unknown), hears(unknown),
                                hears(unknown), hears("421 4.7.0 Too many errors, closing\r\n"),
                                closed},
         "2x other 500 5.5.1, 1x other 421 4.7.0, 1x --max-errors", false},
    });
    SECTION("a line longer than the buffer for input") {
        const std::string line(3 * serve::worker_context::input_size, 'x');
        const transcript spoken =
            greeted + transcript{says(line + "\r\n"), hears(too_long)} + quits;
        CHECK(single_session({}).run(spoken) == "1x other 500 5.5.2");
    }
}

TEST_CASE("serve session: the client goes, is silent, or is told to go, in every state") {
    struct state {
        std::string reason;
        transcript spoken;
        std::string stage;       // at which its end is counted
        std::string begun = {};  // what is counted of a message
    };
    const std::string failed = "1 started, 1 failed";
    const std::vector<state> states{
        {"after the banner", connected, "quit"},
        {"after the greeting", greeted, "quit"},
        {"within a command", greeted + transcript{says("MAIL FR")}, "quit"},
        {"after MAIL", sender_given, "quit", failed},
        {"after RCPT", recipient_given, "quit", failed},
        {"after DATA", data_begun, "data", failed},
        {"within the content", in_content, "data", failed},
        {"within a chunk", recipient_given + transcript{says("BDAT 10\r\nbody")}, "data", failed},
        {"between two chunks",
         recipient_given +
             transcript{says("BDAT 4\r\nbody"), hears("250 2.0.0 Chunk received\r\n")},
         "quit", failed},
        {"after a message, within a command", accepted + transcript{says("NOO")}, "quit",
         "1 started, 1 accepted"},
    };
    std::vector<row> rows;
    for (const state& one : states) {
        const auto end = [&](std::string_view why) {
            const std::string error = "1x " + one.stage + " 0 " + std::string(why);
            return one.begun.empty() ? error : one.begun + ", " + error;
        };
        rows.push_back(
            {one.reason + ": gone", {}, one.spoken + transcript{leaves}, end("no_quit")});
        rows.push_back({one.reason + ": the end of its output",
                        {},
                        one.spoken + transcript{{act::turns_off}, closed},
                        end("no_quit")});
        rows.push_back({one.reason + ": silence",
                        {},
                        one.spoken + transcript{silence, hears(silent), closed},
                        end("timeout")});
        rows.push_back({one.reason + ": stop now",
                        {},
                        one.spoken + transcript{stop_now, hears(stopping), closed},
                        one.begun == failed ? one.begun + ", 1x data 0 stopped" : one.begun});
    }
    rows.push_back({"before it has read a reply",
                    {},
                    greeted + transcript{says("NOOP\r\n"), leaves},
                    "1x quit 0 no_quit"});
    check(rows);
}

TEST_CASE("serve session: an idle connection that its client closes is no error once it was used") {
    const transcript turns_off{{act::turns_off}, closed};
    const std::string one = "1 started, 1 accepted, 1 closed idle";
    check({
        {"closed", {}, accepted + transcript{leaves}, one},
        {"the end of its output", {}, accepted + turns_off, one},
        {"after a transaction that was given up",
         {},
         recipient_given + transcript{says("RSET\r\n"), hears("250 2.0.0 Flushed\r\n"), leaves},
         "1 started, 1 failed, 1 closed idle"},
        {"a client that has not read its reply",
         {},
         content_sent + transcript{leaves},
         "1 started, 1 accepted, 1 unheard, 1x quit 0 no_quit"},
        {"silence",
         {},
         accepted + transcript{silence, hears(silent), closed},
         "1 started, 1 accepted, 1x quit 0 timeout"},
        {"in the next transaction",
         {},
         accepted + transcript{says("MAIL FROM:<a@example.com>\r\n"), hears(sender_ok), leaves},
         "2 started, 1 accepted, 1 failed, 1x quit 0 no_quit"},
    });
}

TEST_CASE("serve session: who is owed answers and leaves is told of at once, and once") {
    struct play {
        std::string_view reason;
        transcript leaving;
        unsigned left;
    };
    const step look = calls([](const accepting_session&) {});
    const play plays[] = {
        {"waits", {look}, 0},
        {"says more, and waits", {says("NOOP\r\n"), look}, 0},
        {"closes", {leaves, look, look}, 1},
        {"closes behind QUIT, which of a Unix socket can be seen", {says("QUIT\r\n"), leaves}, 1},
        {"ends its output", {{act::turns_off}, look}, 1},
        {"ends its output behind QUIT", {says("RSET\r\nquit\r\n"), {act::turns_off}, look}, 0},
        {"ends its output behind something like QUIT", {says("XQUIT\r\n"), {act::turns_off}}, 1},
        {"ends its output within QUIT", {says("QUIT"), {act::turns_off}}, 1},
        {"says more than is looked at", {says(std::string(100'000, 'x')), {act::turns_off}}, 1},
    };
    for (const play& one : plays) {
        INFO(one.reason);
        single_session session({.how = answering::later});
        unsigned told = 0;
        const step ask = calls([&](const accepting_session& now) { told = now.left; });
        session.run(content_sent + one.leaving + transcript{ask, answer});
        CHECK(told == one.left);
        CHECK(session.left == one.left);
    }
    SECTION("QUIT that came with the message") {
        single_session session({.how = answering::later});
        session.run(in_content + transcript{says("body\r\n.\r\nQUIT\r\n"),
                                            {act::turns_off},
                                            look,
                                            answer,
                                            hears(message_ok),
                                            hears(bye),
                                            closed});
        CHECK(session.left == 0);
    }
}

TEST_CASE("serve session: a gentle stop lets a transaction end, and nothing else begin") {
    const transcript goodbye{hears(stopping), closed};
    const transcript rest_of_mail{says("RCPT TO:<b@example.com>\r\n"),
                                  hears(recipient_ok),
                                  says("DATA\r\n"),
                                  hears(start_data),
                                  says("body\r\n.\r\n"),
                                  hears(message_ok)};
    const std::string one = "1 started, 1 accepted";
    settings stopped_before{.stopped_before = true};
    settings stopped_before_tls{.tls = true, .stopped_before = true};
    check({
        {"before it first ran", stopped_before, connected + goodbye, ""},
        {"before it first ran, with TLS", stopped_before_tls, {closed}, ""},
        {"after the banner", {}, connected + transcript{stop_gently} + goodbye, ""},
        {"within a command", {}, greeted + transcript{says("MAIL FR"), stop_gently} + goodbye, ""},
        {"after a message", {}, accepted + transcript{stop_gently} + goodbye, one},
        {"after MAIL", {}, sender_given + transcript{stop_gently} + rest_of_mail + goodbye, one},
        {"the transaction is given up",
         {},
         recipient_given +
             transcript{stop_gently, says("RSET\r\n"), hears("250 2.0.0 Flushed\r\n")} + goodbye,
         "1 started, 1 failed"},
        {"a message's answer takes time",
         {.how = answering::later},
         content_sent + transcript{stop_gently, answer, hears(message_ok)} + goodbye,
         one},
        {"the next envelope has come already",
         {},
         sender_given +
             transcript{stop_gently,
                        says("RCPT TO:<b@example.com>\r\nDATA\r\n.\r\n"
                             "MAIL FROM:<a@example.com>\r\n"),
                        hears(recipient_ok), hears(start_data), hears(message_ok)} +
             goodbye,
         one,
         false},
        {"and then now",
         {},
         in_content + transcript{stop_gently, stop_now} + goodbye,
         "1 started, 1 failed, 1x data 0 stopped"},
    });
}

TEST_CASE("serve session: lost between a message's end and its answer") {
    settings later{.how = answering::later};
    const auto hold = [](proto::server_stage stage) {
        settings made;
        made.rules.delays[static_cast<std::size_t>(stage)] = 1h;
        return made;
    };
    const transcript goodbye{hears(stopping), closed};
    check({
        {"stopped before the answer is there: nothing is said of it", later,
         content_sent + transcript{stop_now, closed}, "1 started, 1 in doubt, 1x end 0 stopped"},
        {"stopped while the answer is held back", hold(proto::server_stage::end),
         content_sent + transcript{stop_now, closed}, "1 started, 1 in doubt, 1x end 0 stopped"},
        {"gone before the answer is there", later, content_sent + transcript{leaves, answer},
         "1 started, 1 accepted, 1 unheard, 1x quit 0 reset"},
        {"stopped while the banner is held back", hold(proto::server_stage::banner),
         transcript{stop_gently} + goodbye, ""},
        {"stopped while a reply is held back", hold(proto::server_stage::ehlo),
         connected + transcript{says("HELO client\r\n"), stop_gently} + goodbye, ""},
        {"a gentle stop while a transaction's reply is held back, and then one now",
         hold(proto::server_stage::rcpt),
         sender_given + transcript{says("RCPT TO:<b@example.com>\r\n"), stop_gently, stop_now} +
             goodbye,
         "1 started, 1 failed, 1x data 0 stopped"},
    });
}

TEST_CASE("serve session: transactions, and whose commands came before they were due") {
    const std::string mail = "MAIL FROM:<a@example.com>\r\n";
    const std::string rcpt = "RCPT TO:<b@example.com>\r\n";
    const std::string unknown = "RCPT TO:<nobody@example.com>\r\n";
    const transcript content{says("body\r\n.\r\n"), hears(message_ok)};
    struct play {
        std::string_view reason;
        transcript spoken;
        std::uint64_t transactions, pipelined;
    };
    const play plays[] = {
        {"no mail", greeted + quits, 0, 0},
        {"each command after the reply to the one before", accepted + quits, 1, 0},
        {"a whole envelope",
         greeted +
             transcript{says(mail + rcpt + "DATA\r\n"), hears(sender_ok), hears(recipient_ok),
                        hears(start_data)} +
             content + quits,
         1, 1},
        {"from RCPT on",
         sender_given +
             transcript{says(rcpt + "DATA\r\n"), hears(recipient_ok), hears(start_data)} + content +
             quits,
         1, 1},
        {"behind a recipient that is refused",
         sender_given +
             transcript{says(unknown + rcpt), hears(no_such_user), hears(recipient_ok),
                        says("DATA\r\n"), hears(start_data)} +
             content + quits,
         1, 1},
        {"the first of two, and the second as it was due",
         greeted +
             transcript{says(mail + rcpt + "DATA\r\n"), hears(sender_ok), hears(recipient_ok),
                        hears(start_data)} +
             content +
             transcript{says(mail), hears(sender_ok), says(rcpt), hears(recipient_ok),
                        says("DATA\r\n"), hears(start_data)} +
             content + quits,
         2, 1},
        {"one that comes to nothing",
         greeted +
             transcript{says(mail + rcpt + "RSET\r\n"), hears(sender_ok), hears(recipient_ok),
                        hears("250 2.0.0 Flushed\r\n")} +
             quits,
         0, 0},
    };
    for (const play& one : plays) {
        INFO(one.reason);
        single_session session({});
        session.run(one.spoken);
        CHECK(session.transactions == one.transactions);
        CHECK(session.pipelined == one.pipelined);
    }
}

TEST_CASE("serve session: sent away with the banner") {
    const settings closing = judged(
        {.at = proto::server_stage::banner, .reply = proto::server_reply{421, "", "Not now"}});
    check({{"421", closing, {hears("421 Not now\r\n"), closed}, "1x banner 421 "}});
}

TEST_CASE("serve session: of a client that never reads no more is taken than the sockets hold") {
    settings patient;
    patient.rules.server.max_idle_commands = 0;
    for (const bool stopped : {false, true}) {
        const transcript spoken = greeted + transcript{{act::floods}, stopped ? stop_now : silence};
        CHECK(single_session(patient).run(spoken) == (stopped ? "" : "1x quit 0 timeout"));
    }
}

TEST_CASE("serve session: a line has as long as silence may last, however slowly it comes") {
    std::vector<load::steady_time> deadlines;
    const step note =
        calls([&](const accepting_session& session) { deadlines.push_back(session.deadline()); });
    const transcript spoken =
        greeted +
        transcript{
            note, says("NO"), note, says("OP\r"), note, says("\n"), hears("250 2.0.0 Ok\r\n"),
            note} +
        quits;
    CHECK(single_session({}).run(spoken) == "");
    REQUIRE(deadlines.size() == 4);
    CHECK(deadlines[1] == deadlines[0]);
    CHECK(deadlines[2] == deadlines[0]);
    CHECK(deadlines[3] > deadlines[0]);
}

TEST_CASE("serve session: its worker ends it when it was silent too long") {
    settings impatient;
    impatient.rules.timeout = 1ms;
    const transcript spoken = connected + transcript{hears(silent), closed};
    CHECK(single_session(impatient).run(spoken) == "1x quit 0 timeout");
}

TEST_CASE("serve session: outlives its client while it has work left") {
    const step begin = calls([](accepting_session& session) { session.begin_work(); });
    const step end = calls([](accepting_session& session) { session.end_work(); });
    check({{"gone", {}, greeted + transcript{begin, leaves, end}, "1x quit 0 no_quit"},
           {"said QUIT", {}, greeted + transcript{begin} + quits + transcript{end}, ""}});
}

TEST_CASE("serve session: a socket that cannot be used is counted, and its slot given back") {
    single_session nothing({.no_socket = true});
    CHECK(nothing.run({}) == "1x connect 0 other");
}

TEST_CASE("serve session: what cannot be allocated ends it, and its message has failed") {
    check({{"in the content",
            {},
            data_begun + transcript{says("no memory\r\n"), closed},
            "1 started, 1 failed, 1x connect 0 resources",
            false}});
}

TEST_CASE(
    "serve session: what memory did not suffice for is heard by nobody, the next client least of "
    "all") {
    const std::string envelope =
        "EHLO client\r\nMAIL FROM:<a@example.com>\r\nRCPT TO:<b@example.com>\r\n";
    const std::string dies = "BDAT 4\r\nbodyBDAT 9 LAST\r\nno memory";
    const std::string message = "BDAT 4 LAST\r\nbody";
    struct row {
        std::string reason;
        std::string said;
        std::string counted;
    };
    const std::vector<row> rows{
        {"replies that were not sent", envelope + dies,
         "2 started, 1 accepted, 1 failed, 1x connect 0 resources"},
        {"an acceptance that was not sent",
         envelope + message + "MAIL FROM:<>\r\nRCPT TO:<b@example.com>\r\n" + dies,
         "3 started, 2 accepted, 1 failed, 1 unheard, 1x connect 0 resources"},
    };
    for (const row& one : rows) {
        INFO(one.reason);
        const transcript first = connected + transcript{says(one.said), closed};
        CHECK(single_session({}).run_all({first, accepted + quits}) == one.counted);
    }
}
