// SPDX-License-Identifier: GPL-3.0-or-later
#include "rules.hpp"

#include <catch2/catch.hpp>

#include <limits>
#include <string>
#include <vector>

using namespace postal::behaviour;
using namespace rules_of_tests;
using namespace std::chrono_literals;

namespace {

std::string explained(const std::vector<rule>& rules) {
    const envelope mail("ann@example.org", "bob@example.com");
    return explain(file(rules), 1, mail.here);
}

rule named(std::string name, stage at = stage::rcpt) {
    rule one = refusal(12, at);
    one.name = std::move(name);
    return one;
}

action& at_rcpt(rule& one) {
    return *one.at[index_of(stage::rcpt)];
}

}  // namespace

TEST_CASE("explain: a line for each stage that rules are about") {
    rule slow = named("the slow domain");
    slow.when.domain = {"example.com"};
    at_rcpt(slow).before = {distribution::uniform, 1s, 3s};
    const rule elsewhere = refusal(20, {.sender = {"<>"}}, stage::mail);
    CHECK(explained({slow, elsewhere}) ==
          "mail: nothing\n"
          "rcpt: line 12 \"the slow domain\": 450 4.2.1 Later, after 1s..3s\n");
    CHECK(explained({}).empty());
}

TEST_CASE("explain: what an action does, in words") {
    struct row {
        action what;
        std::string wanted;
    };
    delay lognormal{distribution::lognormal, 200ms, {}, 0.8};
    delay each{distribution::fixed, 1s};
    each.per_octet = 10us;
    delay only_each;
    only_each.per_octet = 10us;
    constexpr auto most = std::numeric_limits<std::uint64_t>::max();
    const reply_text plain{421, "", "Busy"};
    const row rows[] = {
        {{.reply = plain, .close = postal::proto::cut::fin}, "421 Busy, connection closed"},
        {{.reply = plain, .close = postal::proto::cut::rst}, "421 Busy, connection reset"},
        {{.close = postal::proto::cut::silence}, "silence from here on"},
        {{.close = postal::proto::cut::rst}, "connection reset"},
        {{.before = lognormal}, "as usual, after lognormal 200ms 0.8"},
        {{.before = each}, "as usual, after 1s and 10us an octet"},
        {{.before = only_each}, "as usual, after 10us an octet"},
        {{.read_rate = {1024, 1024}}, "as usual, read at 1.0 KiB a second from here on"},
        {{.read_rate = {1024, 2048}}, "as usual, read at 1.0 KiB..2.0 KiB a second from here on"},
        {{.read_rate = {1024, most}}, "as usual, read at 1.0 KiB.. a second from here on"},
        {{.window = 2048}, "as usual, with a window of 2.0 KiB from here on"},
    };
    for (const row& one : rows) {
        rule whole;
        whole.line = 3;
        whole.at[index_of(stage::rcpt)] = one.what;
        CHECK(explained({whole}) == "rcpt: line 3: " + one.wanted + "\n");
    }
}

TEST_CASE("explain: what is not certain is said, and what comes then") {
    rule some = named("some");
    some.when.probability = 0.2;
    rule rate = named("rate");
    at_rcpt(rate).beyond = token_bucket{10, 20, key::client};
    rule limit = named("limit");
    at_rcpt(limit).beyond = token_bucket{0, 5, key::session};
    rule grey = named("grey");
    at_rcpt(grey).grey = greylist{5min, 4h, 840h};
    const rule rest = named("rest");
    const rule never = named("never reached");

    const envelope mail("ann@example.org", "bob@example.com");
    engine asked(file({some}), 1);
    const std::string drawn = asked.drawn(0, stage::rcpt, mail.here) ? "with" : "not with";
    const std::string share = "rcpt: line 12 \"some\": 450 4.2.1 Later, in 20 % of cases (" +
                              drawn + " this seed, session 1, message 1)\n";
    CHECK(explained({some, rate, limit, grey, rest, never}) ==
          share +
              "rcpt: else line 12 \"rate\": 450 4.2.1 Later, if more than 10/s from one client, or "
              "20 at once (a new bucket lets pass)\n"
              "rcpt: else line 12 \"limit\": 450 4.2.1 Later, if more than 5 in one session (a new "
              "bucket lets pass)\n"
              "rcpt: else line 12 \"grey\": 450 4.2.1 Later, until it comes again 5m..4h after its "
              "first time (now is the first)\n"
              "rcpt: else line 12 \"rest\": 450 4.2.1 Later\n");
    CHECK(explained({some}) == share + "rcpt: else nothing\n");
}

TEST_CASE("explain: at each stage only what is known there counts") {
    struct row {
        conditions when;
        stage at;
        bool wanted;
        std::string_view reason;
    };
    const row rows[] = {
        {{.helo = {"*"}}, stage::banner, false, "before EHLO"},
        {{.helo = {"*"}}, stage::ehlo, true, "EHLO"},
        {{.tls = true}, stage::tls, false, "TLS begins after it"},
        {{.tls = true}, stage::mail, true, "after STARTTLS"},
        {{.sender = {"*"}}, stage::auth, false, "before MAIL"},
        {{.sender = {"*"}}, stage::mail, true, "MAIL"},
        {{.message = number_range{1}}, stage::ehlo, false, "before MAIL"},
        {{.message = number_range{1}}, stage::quit, true, "the message before"},
        {{.recipient = {"*"}}, stage::mail, false, "before RCPT"},
        {{.known = true}, stage::mail, false, "before RCPT"},
        {{.known = true}, stage::rcpt, true, "RCPT"},
        {{.domain = {"example.com"}}, stage::data, true, "after RCPT"},
        {{.sender = {"*"}}, stage::rset, false, "may come outside of a transaction"},
        {{.domain = {"example.com"}}, stage::quit, false, "no transaction is open"},
        {{.size = number_range{1}}, stage::mail, true, "as declared"},
        {{.size = number_range{1}}, stage::rcpt, false, "known at mail and end only"},
        {{.size = number_range{1}}, stage::end, true, "as it came"},
    };
    for (const row& one : rows) {
        CAPTURE(name_of(one.at), one.reason);
        envelope mail("ann@example.org", "bob@example.com");
        mail.here.tls = true;
        mail.here.known = true;
        mail.here.size = 1000;
        const std::string text = explain(file({refusal(1, one.when, one.at)}), 1, mail.here);
        const std::string start = std::string(name_of(one.at)) + ": ";
        CHECK(text == start + (one.wanted ? "line 1: 450 4.2.1 Later\n" : "nothing\n"));
    }
}
