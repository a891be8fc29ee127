// SPDX-License-Identifier: GPL-3.0-or-later
// What a program adds to a stage: delays, endings, slow reading; what the client hears of it, and
// what is counted.
#include "session_play.hpp"

using namespace postal;
using namespace postal::serve::test;
using namespace std::chrono_literals;
using serve::cut;
using stage = proto::server_stage;

namespace {

settings cut_at(stage at, cut how, std::optional<proto::server_reply> reply = {}) {
    return judged({.at = at,
                   .reply = reply,
                   .effect = {.close = how, .why = "a rule"},
                   .answered = reply.has_value()});
}

settings delayed(stage at, std::optional<proto::server_reply> reply = {}) {
    return judged({.at = at, .reply = reply, .effect = {.delay = 1us}});
}

const proto::server_reply refusal{550, "5.7.1", "Not you"};

}  // namespace

TEST_CASE("serve session: cut in the place of a reply") {
    const auto line = [](std::string_view text) { return transcript{says(text), closed}; };
    check({
        {"connect", cut_at(stage::connect, cut::fin), {closed}, "1x connect 0 closed"},
        {"banner", cut_at(stage::banner, cut::rst), {closed}, "1x banner 0 reset"},
        {"ehlo", cut_at(stage::ehlo, cut::fin), connected + line("EHLO x\r\n"), "1x ehlo 0 closed"},
        {"mail", cut_at(stage::mail, cut::fin), greeted + line("MAIL FROM:<a@b.org>\r\n"),
         "1 started, 1 failed, 1x mail 0 closed"},
        {"rcpt, behind what was said before", cut_at(stage::rcpt, cut::fin),
         greeted + transcript{says("MAIL FROM:<a@b.org>\r\nRCPT TO:<b@b.org>\r\nDATA\r\n"),
                              hears(sender_ok), closed},
         "1 started, 1 failed, 1x rcpt 0 closed", false},
        {"data", cut_at(stage::data, cut::rst), recipient_given + line("DATA\r\n"),
         "1 started, 1 failed, 1x data 0 reset"},
        {"chunk, when it has come", cut_at(stage::chunk, cut::fin),
         recipient_given + line("BDAT 4\r\nbody"), "1 started, 1 failed, 1x data 0 closed"},
        {"end", cut_at(stage::end, cut::fin), content_sent + transcript{closed},
         "1 started, 1 in doubt, 1x end 0 closed"},
        {"quit", cut_at(stage::quit, cut::fin), greeted + line("QUIT\r\n"), "1x quit 0 closed"},
    });
}

TEST_CASE("serve session: cut behind a reply") {
    const std::string said = "550 5.7.1 Not you\r\n";
    check({
        {"rcpt", cut_at(stage::rcpt, cut::fin, refusal),
         sender_given + transcript{says("RCPT TO:<b@b.org>\r\n"), hears(said), closed},
         "1 started, 1 rejected, 1x rcpt 550 5.7.1, 1x rcpt 0 closed"},
        {"end", cut_at(stage::end, cut::fin, refusal),
         content_sent + transcript{hears(said), closed},
         "1 started, 1 rejected, 1x end 550 5.7.1, 1x end 0 closed"},
    });
}

TEST_CASE("serve session: silence lasts until the client goes, its time is over, or a stop") {
    const settings quiet = cut_at(stage::rcpt, cut::silence);
    const transcript asked = sender_given + transcript{says("RCPT TO:<b@b.org>\r\nDATA\r\n")};
    const std::string counted = "1 started, 1 failed, 1x rcpt 0 silence";
    check({
        {"the client goes", quiet, asked + transcript{leaves}, counted},
        {"its time is over", quiet, asked + transcript{silence, closed}, counted},
        {"a gentle stop", quiet, asked + transcript{stop_gently, closed}, counted},
        {"a stop now", quiet, asked + transcript{stop_now, closed},
         "1 started, 1 failed, 1x rcpt 0 silence, 1x data 0 stopped"},
    });
}

TEST_CASE("serve session: a client that talks into the silence keeps nobody from ending it") {
    const transcript talking =
        sender_given + transcript{says("RCPT TO:<b@b.org>\r\n" + std::string(300'000, 'x'))};
    check(
        {{"its time is over", cut_at(stage::rcpt, cut::silence),
          talking + transcript{silence, closed}, "1 started, 1 failed, 1x rcpt 0 silence", false}});
}

TEST_CASE("serve session: an answer that takes its time is heard before the end") {
    settings late = cut_at(stage::end, cut::fin);
    late.judged.answered = true;
    late.how = answering::later;
    settings delayed_too = late;
    delayed_too.judged.effect.delay = 1us;
    const transcript heard = content_sent + transcript{answer, hears(message_ok), closed};
    const std::string counted = "1 started, 1 accepted, 1x end 0 closed";
    check({{"at once", late, heard, counted}, {"delayed, too", delayed_too, heard, counted}});
}

TEST_CASE("serve session: delays, of refusals and ends too") {
    check({
        {"connect", delayed(stage::connect), accepted + quits, "1 started, 1 accepted"},
        {"banner", delayed(stage::banner), accepted + quits, "1 started, 1 accepted"},
        {"mail", delayed(stage::mail), accepted + quits, "1 started, 1 accepted"},
        {"end", delayed(stage::end), accepted + quits, "1 started, 1 accepted"},
        {"chunk", delayed(stage::chunk),
         recipient_given +
             transcript{says("BDAT 4\r\nbody"), hears("250 2.0.0 Chunk received\r\n"),
                        says("BDAT 0 LAST\r\n"), hears(message_ok)} +
             quits,
         "1 started, 1 accepted"},
        {"a refusal", delayed(stage::rcpt, refusal),
         sender_given + transcript{says("RCPT TO:<b@b.org>\r\n"), hears("550 5.7.1 Not you\r\n")} +
             quits,
         "1 started, 1 rejected, 1x rcpt 550 5.7.1"},
        {"421", delayed(stage::mail, proto::server_reply{421, "4.3.2", "Not now"}),
         greeted +
             transcript{says("MAIL FROM:<a@b.org>\r\n"), hears("421 4.3.2 Not now\r\n"), closed},
         "1 started, 1 deferred, 1x mail 421 4.3.2"},
        {"the end of the session", delayed(stage::quit), greeted + quits, ""},
    });
}

TEST_CASE("serve session: what is read slowly is read whole") {
    const settings slow =
        judged({.at = stage::data, .effect = {.read_rate = 100'000, .window = 4096}});
    const std::string text(20'000, 'x');
    std::string lines;
    for (std::size_t i = 0; i < text.size(); i += 70)
        lines += text.substr(i, 70) + "\r\n";
    single_session one(slow);
    const auto begin = std::chrono::steady_clock::now();
    CHECK(one.run(data_begun + transcript{says(lines + ".\r\n"), hears(message_ok)} + quits) ==
          "1 started, 1 accepted");
    CHECK(one.content == lines);
    // At the rate, and not the last piece, which is not waited for before its reply.
    CHECK(std::chrono::steady_clock::now() - begin >= 80ms);
}
