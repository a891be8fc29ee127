// SPDX-License-Identifier: GPL-3.0-or-later
// When the times of an exchange begin, and what a silence behind a final dot says.
#include "exchange_play.hpp"

using namespace postal;
using namespace postal::sender;
using exchange_play::outcomes;
using exchange_play::setting;
using namespace std::chrono_literals;

TEST_CASE("exchange: times begin when octets leave") {
    exchange_play::play dialogue({.pipelining = true});
    const auto longest = [&](phase which) {
        return dialogue.books().latency[static_cast<std::size_t>(which)].max();
    };
    dialogue.say(5ms);
    dialogue.pass(10ms);
    dialogue.hear("250 ok\r\n250 ok\r\n354 go\r\n");
    dialogue.say(3ms);
    dialogue.pass(20ms);
    dialogue.hear("250 ok\r\n");
    CHECK(longest(phase::envelope) == 10ms);
    CHECK(longest(phase::data) == 20ms);
    CHECK(longest(phase::service) == 33ms);
    CHECK(longest(phase::message) == 33ms);
}

TEST_CASE("exchange: the data's time begins when the message before was answered") {
    exchange_play::play dialogue(
        {.pipelining = true, .chunking = true, .in_flight = 3, .messages = 3});
    dialogue.say();
    for (const char* before : {"", "250 rset\r\n", "250 rset\r\n"}) {
        dialogue.pass(20ms);
        dialogue.hear(before + std::string("250 mail\r\n250 rcpt\r\n250 end\r\n"));
    }
    CHECK(dialogue.outcomes() == outcomes{3, 0, 0, 0, 0});
    const auto& times = dialogue.books().latency;
    CHECK(times[static_cast<std::size_t>(phase::data)].max() == 20ms);
    CHECK(times[static_cast<std::size_t>(phase::service)].max() == 60ms);
}

TEST_CASE("exchange: knows when an envelope behind the final dot is not answered") {
    exchange_play::play dialogue({.pipelining = true, .overlap = true, .messages = 2});
    dialogue.say();
    CHECK_FALSE(dialogue.line().awaits_overlapped_mail());
    dialogue.hear("250 ok\r\n250 ok\r\n354 go\r\n");
    dialogue.say();
    CHECK_FALSE(dialogue.line().awaits_overlapped_mail());
    dialogue.hear("250 ok\r\n");
    CHECK(dialogue.line().awaits_overlapped_mail());
    dialogue.hear("250 ok\r\n");
    CHECK_FALSE(dialogue.line().awaits_overlapped_mail());
    dialogue.lose();
}

TEST_CASE("exchange: over LMTP each recipient's message is late by its own due time") {
    exchange_play::play dialogue(
        {.lmtp = true, .pipelining = true, .recipients = 3, .due_every = 100ms});
    dialogue.say(5ms);
    dialogue.pass(10ms);
    dialogue.hear("250 ok\r\n250 ok\r\n550 no\r\n250 ok\r\n354 go\r\n");
    dialogue.say();
    dialogue.pass(20ms);
    dialogue.hear("250 first\r\n");
    dialogue.pass(1ms);
    dialogue.hear("250 third\r\n");
    CHECK(dialogue.outcomes() == outcomes{2, 1, 0, 0, 0});
    const auto& message = dialogue.books().latency[static_cast<std::size_t>(phase::message)];
    CHECK(message.count() == 2);
    CHECK(message.max() == 235ms);
    CHECK(message.mean_us() == Approx((235'000 + 36'000) / 2.0));
    const auto& refused = dialogue.books().unserved;
    CHECK(refused.count() == 1);
    CHECK(refused.max() == 115ms);  // the second, when its RCPT was answered
    CHECK(dialogue.books().latency[static_cast<std::size_t>(phase::service)].max() == 31ms);
}

TEST_CASE("exchange: messages that end together were late by their own due times, too") {
    exchange_play::play dialogue(
        {.lmtp = true, .pipelining = true, .recipients = 3, .due_every = 100ms});
    dialogue.say();
    dialogue.pass(10ms);
    dialogue.hear("250 ok\r\n550 no\r\n250 ok\r\n250 ok\r\n451 later\r\n");
    CHECK(dialogue.outcomes() == outcomes{0, 1, 2, 0, 0});
    const auto& refused = dialogue.books().unserved;
    CHECK(refused.count() == 3);
    CHECK(refused.max() == 210ms);
    CHECK(refused.mean_us() == Approx((210'000 + 110'000 + 10'000) / 3.0));
}
