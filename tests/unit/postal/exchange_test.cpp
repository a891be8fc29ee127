// SPDX-License-Identifier: GPL-3.0-or-later
// The exchange as dialogues without a network: what it says, and what its books hold afterwards.
#include <algorithm>
#include <string>
#include <vector>

#include "exchange_play.hpp"

using namespace postal;
using namespace postal::sender;
using exchange_play::outcomes;
using exchange_play::setting;
using namespace std::chrono_literals;

namespace {

std::string lines_of(const std::string& said) {
    std::string verbs;
    for (std::size_t at = 0; at < said.size();) {
        const std::size_t end = said.find("\r\n", at);
        const std::string line = said.substr(at, end - at);
        verbs += line.substr(0, line.find_first_of(" :")) + " ";
        if (end == std::string::npos) break;
        at = end + 2;
    }
    return verbs;
}

}  // namespace

TEST_CASE("exchange: without PIPELINING each command waits for its reply") {
    exchange_play::play dialogue({.messages = 2});
    CHECK(lines_of(dialogue.say()) == "MAIL ");
    CHECK(dialogue.say().empty());
    dialogue.hear("250 ok\r\n");
    CHECK(lines_of(dialogue.say()) == "RCPT ");
    dialogue.hear("250 ok\r\n");
    CHECK(lines_of(dialogue.say()) == "DATA ");
    dialogue.hear("354 go\r\n");
    CHECK(dialogue.say() == "<message>.\r\n");
    dialogue.hear("250 ok\r\n");
    CHECK(dialogue.outcomes() == outcomes{1, 0, 0, 0, 0});
    CHECK(lines_of(dialogue.say()) == "MAIL ");
    CHECK_FALSE(dialogue.line().idle());
}

TEST_CASE("exchange: with PIPELINING an envelope is one write, behind the reply to the last one") {
    for (const bool chunked : {false, true}) {
        INFO((chunked ? "BDAT" : "DATA"));
        exchange_play::play dialogue({.pipelining = true, .chunking = chunked, .messages = 2});
        const std::string envelope = chunked ? "MAIL RCPT BDAT " : "MAIL RCPT DATA ";
        CHECK(lines_of(dialogue.say()).starts_with(envelope));
        dialogue.hear(chunked ? "250 ok\r\n250 ok\r\n" : "250 ok\r\n250 ok\r\n354 go\r\n");
        CHECK(dialogue.say() == (chunked ? "" : "<message>.\r\n"));
        dialogue.hear("250 ok\r\n");
        CHECK(lines_of(dialogue.say()).starts_with(envelope));
        dialogue.lose();
    }
}

TEST_CASE("exchange: --pipelining overlap sends the next envelope with the end of a message") {
    exchange_play::play dialogue({.pipelining = true, .overlap = true, .messages = 2});
    CHECK(lines_of(dialogue.say()) == "MAIL RCPT DATA ");
    dialogue.hear("250 ok\r\n250 ok\r\n354 go\r\n");
    const std::string both = dialogue.say();
    CHECK(both.starts_with("<message>.\r\nMAIL FROM"));
    CHECK(both.ends_with("DATA\r\n"));
    dialogue.hear("250 ok\r\n250 ok\r\n250 ok\r\n354 go\r\n");
    CHECK(dialogue.say() == "<message>.\r\n");
    dialogue.hear("250 ok\r\n");
    CHECK(dialogue.outcomes() == outcomes{2, 0, 0, 0, 0});
    CHECK(dialogue.line().finished());
    CHECK(dialogue.line().idle());
}

TEST_CASE("exchange: with CHUNKING envelope and message are one write, several in flight") {
    exchange_play::play dialogue(
        {.pipelining = true, .chunking = true, .in_flight = 3, .messages = 5});
    const std::string said = dialogue.say();
    std::size_t mails = 0;
    for (std::size_t at = said.find("MAIL"); at != std::string::npos;
         at = said.find("MAIL", at + 1)) {
        ++mails;
    }
    CHECK(mails == 3);
    CHECK(said.find("DATA") == std::string::npos);
    const std::string a_message = "250 mail\r\n250 rcpt\r\n250 end\r\n";
    const std::string next = "250 rset\r\n" + a_message;
    dialogue.hear(a_message + "250 rset\r\n");
    CHECK(dialogue.books().messages == 1);
    CHECK(dialogue.say().starts_with("RSET\r\nMAIL"));
    dialogue.hear(a_message + next);
    CHECK(dialogue.books().messages == 3);
    dialogue.say();
    dialogue.hear(next + next);
    CHECK(dialogue.outcomes() == outcomes{5, 0, 0, 0, 0});
    CHECK(dialogue.line().idle());
}

// A server whose transaction stays open when its only recipient is refused (RFC 3030 2).
TEST_CASE("exchange: a refused message in flight does not take the next one with it") {
    struct row {
        bool lmtp;
        std::string first;
        std::string second;
        outcomes wanted;
        const char* why;
    };
    const row rows[]{
        {false, "250 m\r\n550 r\r\n550 r\r\n503 b\r\n", "250 m\r\n250 r\r\n250 r\r\n250 b\r\n",
         outcomes{1, 1, 0, 0, 0}, "SMTP: nobody is known"},
        {false, "250 m\r\n250 r\r\n250 r\r\n452 b\r\n", "250 m\r\n250 r\r\n550 r\r\n250 b\r\n",
         outcomes{1, 0, 1, 0, 0}, "SMTP: the chunk fails"},
        {false, "550 m\r\n503 r\r\n503 r\r\n503 b\r\n", "250 m\r\n250 r\r\n250 r\r\n250 b\r\n",
         outcomes{1, 1, 0, 0, 0}, "SMTP: MAIL is refused"},
        {true, "250 m\r\n550 r\r\n450 r\r\n503 b\r\n",
         "250 m\r\n250 r\r\n250 r\r\n250 b\r\n250 b\r\n", outcomes{2, 1, 1, 0, 0},
         "LMTP: one reply for a chunk without recipients"},
        {true, "250 m\r\n250 r\r\n550 r\r\n451 b\r\n",
         "250 m\r\n250 r\r\n250 r\r\n250 b\r\n550 b\r\n", outcomes{1, 2, 1, 0, 0},
         "LMTP: each recipient its own"},
    };
    for (const row& one : rows) {
        INFO(one.why);
        exchange_play::play dialogue({.lmtp = one.lmtp,
                                      .pipelining = true,
                                      .chunking = true,
                                      .in_flight = 2,
                                      .recipients = 2,
                                      .messages = 2});
        const std::string said = dialogue.say();
        CHECK(said.find("<message>RSET\r\nMAIL FROM") != std::string::npos);
        CHECK(dialogue.hear(one.first + "250 rset\r\n" + one.second) == hearing::go_on);
        CHECK(dialogue.outcomes() == one.wanted);
        CHECK(dialogue.line().idle());
    }
}

TEST_CASE("exchange: a connection that never rests does not remember every reply") {
    exchange_play::play dialogue({.pipelining = true, .overlap = true, .messages = 5000});
    dialogue.say();
    dialogue.hear("250 ok\r\n250 ok\r\n354 go\r\n");
    for (int i = 0; i < 2000; ++i) {
        dialogue.say();
        dialogue.hear("250 ok\r\n250 ok\r\n250 ok\r\n354 go\r\n");
    }
    CHECK(dialogue.books().messages == 2000);
    CHECK(dialogue.line().remembered() < 600);
}

TEST_CASE("exchange: LMTP counts each recipient by its own reply") {
    exchange_play::play dialogue({.lmtp = true, .pipelining = true, .recipients = 3});
    CHECK(lines_of(dialogue.say()) == "MAIL RCPT RCPT RCPT DATA ");
    dialogue.hear("250 ok\r\n250 ok\r\n550 5.1.1 no\r\n250 ok\r\n354 go\r\n");
    dialogue.say();
    dialogue.hear("250 delivered\r\n451 4.3.0 later\r\n");
    CHECK(dialogue.outcomes() == outcomes{1, 1, 1, 0, 0});
    CHECK(dialogue.books().recipients == 1);
    CHECK(dialogue.books().errors.total() == 2);
    CHECK(dialogue.line().idle());
}

TEST_CASE("exchange: LMTP hears all recipients' replies behind a 421, and then closes") {
    for (const bool overlap : {false, true}) {
        exchange_play::play dialogue(
            {.lmtp = true, .pipelining = true, .overlap = overlap, .recipients = 3, .messages = 2});
        dialogue.say();
        dialogue.hear("250 ok\r\n250 ok\r\n250 ok\r\n250 ok\r\n354 go\r\n");
        dialogue.say();
        CHECK(dialogue.hear("421 4.3.2 closing\r\n") == hearing::go_on);
        CHECK(dialogue.say().empty());
        CHECK(dialogue.hear("250 two\r\n") == hearing::go_on);
        CHECK(dialogue.hear("550 three\r\n") == hearing::closing);
        dialogue.lose();
        CHECK(dialogue.outcomes() == outcomes{1, 1, 1, overlap ? 3U : 0U, 0});
    }
}

TEST_CASE("exchange: SMTP counts the transaction, its refused recipients as errors") {
    exchange_play::play dialogue({.recipients = 2});
    dialogue.say();
    dialogue.hear("250 ok\r\n");
    dialogue.say();
    dialogue.hear("550 5.1.1 no\r\n");
    dialogue.say();
    dialogue.hear("250 ok\r\n");
    dialogue.say();
    dialogue.hear("354 go\r\n");
    dialogue.say();
    dialogue.hear("250 ok\r\n");
    CHECK(dialogue.outcomes() == outcomes{1, 0, 0, 0, 0});
    CHECK(dialogue.books().recipients == 1);
    CHECK(dialogue.books().errors.total() == 1);
}

TEST_CASE("exchange: refusals end in one outcome each, and the session goes on after RSET") {
    struct row {
        setting how;
        std::vector<std::string> replies;
        outcomes wanted;
        std::string next;  // what it says first afterwards
        const char* why;
    };
    const setting plain{.messages = 2};
    const setting piped{.pipelining = true, .messages = 2};
    const setting chunked{.pipelining = true, .chunking = true, .messages = 2};
    const setting lmtp{.lmtp = true, .pipelining = true, .recipients = 2, .messages = 2};
    const std::vector<row> rows{
        {plain, {"550 no\r\n"}, {0, 1, 0, 0, 0}, "MAIL ", "MAIL refused: nothing to reset"},
        {plain, {"451 no\r\n"}, {0, 0, 1, 0, 0}, "MAIL ", "MAIL deferred"},
        {plain, {"250 ok\r\n", "550 no\r\n"}, {0, 1, 0, 0, 0}, "RSET ", "RCPT refused"},
        {plain, {"250 ok\r\n", "450 no\r\n"}, {0, 0, 1, 0, 0}, "RSET ", "RCPT deferred"},
        {plain, {"250 ok\r\n", "250 ok\r\n", "554 no\r\n"}, {0, 1, 0, 0, 0}, "RSET ", "DATA"},
        {plain,
         {"250 ok\r\n", "250 ok\r\n", "354 go\r\n", "552 no\r\n"},
         {0, 1, 0, 0, 0},
         "MAIL ",
         "after the data"},
        {piped,
         {"550 no\r\n503 seq\r\n503 seq\r\n"},
         {0, 1, 0, 0, 0},
         "MAIL RCPT DATA ",
         "the rest of the envelope fails too, and counts once"},
        {piped,
         {"250 ok\r\n550 no\r\n554 none\r\n"},
         {0, 1, 0, 0, 0},
         "RSET MAIL RCPT DATA ",
         "no recipient"},
        {chunked,
         {"250 ok\r\n550 no\r\n503 none\r\n"},
         {0, 1, 0, 0, 0},
         "RSET MAIL ",
         "BDAT refused"},
        {chunked, {"550 no\r\n503 no\r\n503 none\r\n"}, {0, 1, 0, 0, 0}, "MAIL ", "MAIL refused"},
        {chunked, {"250 ok\r\n250 ok\r\n552 no\r\n"}, {0, 1, 0, 0, 0}, "RSET MAIL ", "too big"},
        {lmtp,
         {"550 no\r\n503 s\r\n503 s\r\n503 s\r\n"},
         {0, 2, 0, 0, 0},
         "MAIL RCPT RCPT DATA ",
         "both recipients of a refused MAIL"},
        {lmtp,
         {"250 ok\r\n550 no\r\n450 no\r\n503 none\r\n"},
         {0, 1, 1, 0, 0},
         "RSET MAIL RCPT RCPT DATA ",
         "each its own"},
        {lmtp,
         {"250 ok\r\n250 ok\r\n250 ok\r\n451 no\r\n"},
         {0, 0, 2, 0, 0},
         "RSET MAIL RCPT RCPT DATA ",
         "DATA deferred: both"},
    };
    for (const row& one : rows) {
        INFO(one.why);
        exchange_play::play dialogue(one.how);
        std::string said = dialogue.say();
        for (const std::string& reply : one.replies) {
            CHECK(dialogue.hear(reply) == hearing::go_on);
            if (&reply != &one.replies.back()) dialogue.say();
        }
        CHECK(dialogue.outcomes() == one.wanted);
        said = dialogue.say();
        CHECK(lines_of(said).starts_with(one.next));
    }
}

TEST_CASE("exchange: what the server does not take is left out alone") {
    for (const bool overlap : {false, true}) {
        const std::uint64_t messages = 30;
        exchange_play::play dialogue(
            {.pipelining = true, .overlap = overlap, .messages = messages, .non_ascii = true});
        std::uint64_t left_out = 0;
        for (std::string said = dialogue.say(); !said.empty(); said = dialogue.say()) {
            CHECK(said.find("\u00e7") == std::string::npos);
            const std::string verbs = lines_of(said);
            CHECK(verbs.find("RSET RSET") == std::string::npos);  // each waits for its reply
            if (verbs.starts_with("<message>")) dialogue.hear("250 ok\r\n");
            if (verbs.find("RSET") != std::string::npos) {
                ++left_out;
                dialogue.hear("250 reset\r\n");
            }
            if (verbs.find("MAIL") != std::string::npos) {
                dialogue.hear("250 ok\r\n250 ok\r\n354 go\r\n");
            }
        }
        CHECK(dialogue.line().finished());
        CHECK((left_out > 0 && left_out < messages));
        CHECK(dialogue.outcomes() == outcomes{messages - left_out, 0, 0, left_out, 0});
        REQUIRE(dialogue.books().errors.entries().size() == 1);
        CHECK(dialogue.books().errors.entries()[0].detail == "no_smtputf8");
        CHECK(dialogue.books().errors.total() == left_out);
    }
}

TEST_CASE("exchange: a go-ahead without recipients gets the end of data alone") {  // RFC 2920 3.1
    exchange_play::play dialogue({.pipelining = true});
    dialogue.say();
    dialogue.hear("250 ok\r\n450 no\r\n354 go\r\n");
    CHECK(dialogue.say() == ".\r\n");
    dialogue.hear("554 none\r\n");
    CHECK(dialogue.outcomes() == outcomes{0, 0, 1, 0, 0});
    CHECK(dialogue.books().errors.total() == 1);
    CHECK(dialogue.line().idle());
}

TEST_CASE("exchange: a lost connection leaves doubt only behind complete data") {
    SECTION("in the envelope") {
        exchange_play::play dialogue({.pipelining = true});
        dialogue.say();
        dialogue.lose();
        CHECK(dialogue.outcomes() == outcomes{0, 0, 0, 1, 0});
    }
    SECTION("within the data") {
        exchange_play::play dialogue({.pipelining = true});
        dialogue.say();
        dialogue.hear("250 ok\r\n250 ok\r\n354 go\r\n");
        dialogue.say();
        dialogue.lose(1);
        CHECK(dialogue.outcomes() == outcomes{0, 0, 0, 1, 0});
        CHECK(dialogue.books().errors.entries().at(0).stage == "data");
    }
    SECTION("behind the data, with the next envelope on its way") {
        exchange_play::play dialogue({.pipelining = true, .overlap = true, .messages = 2});
        dialogue.say();
        dialogue.hear("250 ok\r\n250 ok\r\n354 go\r\n");
        dialogue.say();
        dialogue.lose();
        CHECK(dialogue.outcomes() == outcomes{0, 0, 0, 1, 1});
        CHECK(dialogue.books().errors.entries().at(0).stage == "end");
        CHECK(dialogue.books().errors.total() == 2);
    }
    SECTION("between the replies for LMTP recipients") {
        exchange_play::play dialogue({.lmtp = true, .pipelining = true, .recipients = 3});
        dialogue.say();
        dialogue.hear("250 ok\r\n250 ok\r\n250 ok\r\n250 ok\r\n354 go\r\n");
        dialogue.say();
        dialogue.hear("250 one\r\n");
        dialogue.lose();
        CHECK(dialogue.outcomes() == outcomes{1, 0, 0, 0, 2});
    }
}

TEST_CASE("exchange: what a server must not say breaks the connection and is counted") {
    struct row {
        std::vector<std::string> replies;
        hearing wanted;
        std::string stage;
        const char* why;
    };
    const std::vector<row> rows{
        {{"354 go\r\n"}, hearing::broken, "mail", "wrong class for MAIL"},
        {{"250 ok\r\n", "354 go\r\n"}, hearing::broken, "rcpt", "wrong class for RCPT"},
        {{"250 ok\r\n", "250 ok\r\n", "250 ok\r\n"}, hearing::broken, "data", "2xx for DATA"},
        {{"250 ok\r\n250 early\r\n"}, hearing::broken, "mail", "a reply too many"},
        {{"421 bye\r\n"}, hearing::closing, "mail", "421 in place of a reply"},
        {{"250 ok\r\n", "421 bye\r\n"}, hearing::closing, "rcpt", "421 for a recipient"},
        {{"250 ok\r\n", "250 ok\r\n", "421 bye\r\n"}, hearing::closing, "data", "421 to DATA"},
        {{"250 ok\r\n421 bye\r\n"}, hearing::closing, "mail", "421 out of the blue"},
    };
    for (const row& one : rows) {
        INFO(one.why);
        exchange_play::play dialogue({});
        hearing last = hearing::go_on;
        for (const std::string& reply : one.replies) {
            dialogue.say();
            last = dialogue.hear(reply);
        }
        CHECK(last == one.wanted);
        REQUIRE(dialogue.books().errors.total() == 1);
        CHECK(dialogue.books().errors.entries().at(0).stage == one.stage);
        dialogue.lose();
        dialogue.outcomes();
    }
}
