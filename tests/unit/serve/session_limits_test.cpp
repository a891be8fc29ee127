// SPDX-License-Identifier: GPL-3.0-or-later
// What a client over a network may do for how long, and how it hears that it was too much.
#include "session_play.hpp"

#include <memory>

using namespace postal;
using namespace postal::serve::test;
using namespace std::chrono_literals;

namespace {

std::string times(unsigned count, const std::string& text) {
    std::string all;
    for (unsigned i = 0; i < count; ++i)
        all += text;
    return all;
}

const std::string ok = "250 2.0.0 Ok\r\n";

}  // namespace

TEST_CASE("serve session: idle commands") {
    const std::string too_many = "421 4.7.0 Too many commands without a message, closing\r\n";
    settings few;
    few.rules.server.max_idle_commands = 3;  // with HELO
    settings neighbour = few;
    neighbour.neighbour = true;
    const std::string message = "MAIL FROM:<a@b.org>\r\nRCPT TO:<b@b.org>\r\nDATA\r\n.\r\n";
    const std::string answers =
        std::string(sender_ok).append(recipient_ok).append(start_data).append(message_ok);
    check({
        {"NOOP", few,
         greeted + transcript{says("NOOP\r\nNOOP\r\nNOOP\r\n"), hears(ok + ok + too_many), closed},
         "1x other 421 4.7.0, 1x --max-idle-commands"},
        {"a message makes up for them", few,
         greeted + transcript{says(times(3, "NOOP\r\n" + message)), hears(times(3, ok + answers))} +
             quits,
         "3 started, 3 accepted"},
        {"a neighbour", neighbour,
         greeted + transcript{says(times(300, "NOOP\r\n")), hears(times(300, ok))} + quits, ""},
    });
}

TEST_CASE("serve session: many commands at once are answered in turns, and in order") {
    settings patient;
    patient.rules.server.max_idle_commands = 0;
    const std::string lines = times(3000, "NOOP\r\nHELP\r\n");
    const std::string help =
        "214-2.0.0 EHLO HELO MAIL RCPT DATA BDAT RSET NOOP VRFY EXPN HELP QUIT\r\n"
        "214 2.0.0 See RFC 5321 and the manual page\r\n";
    check({{"flood", patient,
            greeted + transcript{says(lines), hears(times(3000, ok + help))} + quits, "", false}});
}

TEST_CASE("serve session: a message without an end") {
    settings strict;
    strict.rules.message_time = 4min;  // what comes first; the play does not wait for it
    settings neighbour = strict;
    neighbour.neighbour = true;
    settings lax;
    lax.rules.message_time = 0s;
    const std::string late = "421 4.4.2 Message takes too long (--message-time), closing\r\n";
    const std::string without = "421 4.4.2 No message for too long (--message-time), closing\r\n";
    const settings strict_judge =
        judged({proto::server_stage::mail, proto::replies::no_such_user}, strict);
    check({
        {"too long", strict, sender_given + transcript{silence, hears(late), closed},
         "1 started, 1 failed, 1x rcpt 421 4.4.2, 1x --message-time", false},
        {"no message", strict, greeted + transcript{silence, hears(without), closed},
         "1x mail 421 4.4.2, 1x --message-time", false},
        {"the last sender refused", strict_judge,
         greeted + transcript{says("MAIL FROM:<a@b.org>\r\n"), hears("550 5.1.1 No such user\r\n"),
                              silence, hears(without), closed},
         "1 started, 1 rejected, 1x mail 550 5.1.1, 1x mail 421 4.4.2, 1x --message-time", false},
        {"no limit", lax, sender_given + transcript{silence, hears(silent), closed},
         "1 started, 1 failed, 1x quit 0 timeout", false},
        {"a neighbour", neighbour, sender_given + transcript{silence, hears(silent), closed},
         "1 started, 1 failed, 1x quit 0 timeout", false},
    });
}

TEST_CASE("serve session: no mail is begun while too much is in hand") {
    settings full = judged({});
    full.rules.held = std::make_shared<serve::held_octets>(1 << 20);
    serve::held_octets::share much(full.rules.held.get());
    REQUIRE(much.add(1 << 20));
    check({{"full", full,
            greeted +
                transcript{says("MAIL FROM:<a@b.org>\r\n"),
                           hears("452 4.3.1 Too much unfinished mail here, try again later\r\n")} +
                quits,
            "1 started, 1 deferred, 1x mail 452 4.3.1, 1x --max-held"}});
}
