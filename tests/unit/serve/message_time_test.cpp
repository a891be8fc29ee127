// SPDX-License-Identifier: GPL-3.0-or-later
#include "serve/message_time.hpp"

#include <catch2/catch.hpp>

#include <chrono>

using postal::serve::message_time;
using namespace std::chrono_literals;

namespace {

const message_time::time start{1000h};

}  // namespace

TEST_CASE("message_time: refusals at speed go on for ever, those of one who drips do not") {
    struct row {
        std::chrono::nanoseconds pace;  // from one MAIL to the next, none of which brings a message
        bool ends;
        const char* reason;
    };
    for (const row& each :
         {row{1ms, false, "a load that is refused on purpose"},
          row{1s, false, "as slow as that may be"}, row{1100ms, true, "a little slower"},
          row{4min, true, "each within what silence may last"}}) {
        INFO(each.reason);
        message_time of;
        of.restart(start, 1h);
        auto now = start;
        unsigned said = 0;
        for (; said < 100'000 && now < of.session_until(); ++said, now += each.pace)
            of.mail_comes(now, 1h);
        CHECK((said < 100'000) == each.ends);
        if (each.ends) CHECK(now < start + 12h);
        CHECK(of.session_until() <= now + 1h);  // nothing is saved up
    }
}

TEST_CASE(
    "message_time: a transaction has its time, unless the session had none left to begin it in") {
    message_time of;
    of.restart(start, 1h);
    of.mail_comes(start + 59min, 1h);
    CHECK(of.transaction_until() == start + 119min);
    const auto over = of.session_until();
    CHECK(over == start + 1h + 1s);
    for (int i = 0; i < 100; ++i)
        of.mail_comes(start + 110min,
                      1h);  // pipelined behind RSET, so that nobody waits between two
    CHECK(of.transaction_until() <= over + 1h + 100s);
    of.restart(start + 2h, 1h);
    of.mail_comes(start + 2h + 1min, 1h);
    CHECK(of.transaction_until() == start + 3h + 1min);
}

TEST_CASE("message_time: what the server holds back is not the client's") {
    message_time of;
    of.restart(start, 1h);
    of.mail_comes(start, 1h);
    of.held_back(5min);
    CHECK(of.transaction_until() == start + 65min);
    CHECK(of.session_until() == start + 65min);
}
