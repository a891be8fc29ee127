// SPDX-License-Identifier: GPL-3.0-or-later
#include "behaviour/engine.hpp"

#include "rules.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <map>
#include <string>
#include <tuple>
#include <vector>

using namespace postal::behaviour;
using namespace rules_of_tests;
using namespace std::chrono_literals;

namespace {

// Everything that a decision says, to be compared.
auto said(const decision& made) {
    return std::tuple(made.by == nullptr ? 0 : made.by->line, made.reply ? made.reply->code : 0,
                      made.delay, made.close, made.read_rate, made.window);
}

action& at_rcpt(rule& one) {
    return *one.at[index_of(stage::rcpt)];
}

}  // namespace

TEST_CASE("engine: each condition, met and not met") {
    struct row {
        conditions when;
        bool wanted;
        std::string_view reason;
    };
    const row rows[] = {
        {{}, true, "no condition"},
        {{.listener = {"[::1]:25", "127.0.0.1:2525"}}, true, "one of the listeners"},
        {{.listener = {"127.0.0.1:25"}}, false, "another listener"},
        {{.client = {network("10.0.0.0/8"), network("192.0.2.0/24")}}, true, "in one range"},
        {{.client = {network("2001:db8::/32")}}, false, "in no range"},
        {{.tls = false}, true, "no TLS"},
        {{.tls = true}, false, "no TLS"},
        {{.helo = {"*.EXAMPLE.org"}}, true, "helo"},
        {{.helo = {"localhost"}}, false, "another helo"},
        {{.sender = {"<>", "ann@*"}}, true, "one of the senders"},
        {{.sender = {"<>"}}, false, "not the null reverse-path"},
        {{.sender = {"*@example.org"}}, true, "the sender's domain"},
        {{.sender = {"*@example.net"}}, false, "another sender's domain"},
        {{.recipient = {"BOB@example.com"}}, true, "the recipient"},
        {{.recipient = {"rob@example.com"}}, false, "another one of that domain"},
        {{.recipient = {"b*b@*"}}, true, "the recipient by a pattern"},
        {{.domain = {"Example.COM"}}, true, "its domain"},
        {{.domain = {"*.com"}}, true, "a domain above"},
        {{.domain = {"*.example.com"}}, false, "it is not below itself"},
        {{.domain = {"ample.com"}}, false, "no end of a label"},
        {{.known = true}, true, "known"},
        {{.known = false}, false, "known"},
        {{.size = number_range{100, 200}}, true, "size"},
        {{.size = number_range{201, 300}}, false, "another size"},
        {{.session = number_range{3, 13, 10}}, true, "the first of every tenth session"},
        {{.session = number_range{1, 13, 10}}, false, "another one of ten"},
        {{.message = number_range{1, 1}}, true, "the first message"},
        {{.message = number_range{2}}, false, "not the second"},
        {{.time = time_range{10'000'000'000}}, true, "from 10 s on"},
        {{.time = time_range{0, 9'999'999'999}}, false, "before 10 s"},
        {{.probability = 0}, false, "never"},
        {{.helo = {"mx*"}, .domain = {"example.com"}}, true, "both"},
        {{.helo = {"ms*"}, .domain = {"example.com"}}, false, "only one of two"},
        {{.client = {network("10.0.0.0/8")}, .domain = {"example.com"}},
         false,
         "found by its domain, and from another client"},
        {{.listener = {"127.0.0.1:25"}, .sender = {"*@example.org"}},
         false,
         "found by its sender's domain, and at another listener"},
    };
    for (const row& one : rows) {
        CAPTURE(one.reason);
        envelope mail("Ann@example.org", "bob@Example.com");
        mail.here.known = true;
        mail.here.size = 200;
        mail.here.session = 3;
        mail.here.now = 10s;
        engine asked(file({refusal(7, one.when)}), 1);
        CHECK((line_of(asked, mail.here) == 7) == one.wanted);
    }
}

TEST_CASE("engine: a condition about what is not known yet does not hold") {
    const conditions all[] = {
        {.client = {network("0.0.0.0/0")}},
        {.helo = {"*"}},
        {.sender = {"*"}},
        {.sender = {"*@example.org"}},
        {.recipient = {"*"}},
        {.domain = {"example.com"}},
        {.known = false},
        {.known = true},
        {.size = number_range{}},
        {.message = number_range{}},
    };
    for (const conditions& one : all) {
        engine asked(file({refusal(1, one)}), 1);
        CHECK(line_of(asked, situation{}) == 0);
    }
}

TEST_CASE("engine: the null reverse-path and quoted local parts") {
    struct row {
        std::string pattern;
        std::string sender;
        bool wanted;
        std::string_view reason;
    };
    const row rows[] = {
        {"<>", "<>", true, "null"},
        {"*", "<>", true, "any text"},
        {"*@*", "<>", false, "a mailbox"},
        {"ann@example.org", "\"ann\"@example.org", true, "quotes that are not needed"},
        {"*@example.org", "\"a b\"@example.org", true, "quotes that are needed"},
        {"a b@*", "\"a b\"@example.org", true, "patterns have no quotes"},
    };
    for (const row& one : rows) {
        CAPTURE(one.pattern, one.sender, one.reason);
        const envelope mail(one.sender, "bob@example.com");
        engine asked(file({refusal(1, {.sender = {one.pattern}})}), 1);
        CHECK((line_of(asked, mail.here) == 1) == one.wanted);
    }
}

TEST_CASE("engine: the first rule of the file counts, however rules are found") {
    // Each way in which a rule can be found, in each order.
    const std::vector<conditions> ways = {
        {},
        {.client = {network("192.0.2.0/24")}},
        {.domain = {"a.example.com"}},
        {.domain = {"*.example.com"}},
        {.domain = {"*.com", "a.example.com"}},
        {.recipient = {"*@a.example.com"}},
        {.sender = {"ann@example.org"}},
    };
    const envelope mail("ann@example.org", "bob@a.example.com");
    for (std::size_t first = 0; first < ways.size(); ++first) {
        for (std::size_t second = 0; second < ways.size(); ++second) {
            CAPTURE(first, second);
            engine asked(file({refusal(1, {.helo = {"nobody"}}), refusal(2, ways[first]),
                               refusal(3, ways[second]), refusal(4)}),
                         1);
            CHECK(line_of(asked, mail.here) == 2);
            CHECK(asked.holding(stage::rcpt, mail.here) == std::vector<std::uint32_t>{1, 2, 3});
        }
    }
}

TEST_CASE("engine: domains above are found, near and far") {
    engine asked(
        file({refusal(1, {.domain = {"b.a.example"}}), refusal(2, {.domain = {"*.a.example"}}),
              refusal(3, {.domain = {"*.example"}}), refusal(4, {.domain = {"a.example"}}),
              refusal(5, {.domain = {"*.b.a.example", "*.example"}})}),
        1);
    struct row {
        std::string domain;
        std::vector<std::uint32_t> wanted;  // numbers from 0
    };
    const row rows[] = {
        {"b.a.example", {0, 1, 2, 4}}, {"c.a.example", {1, 2, 4}}, {"a.example", {2, 3, 4}},
        {"A.B.A.Example", {1, 2, 4}},  {"z.example", {2, 4}},      {"example", {}},
        {"example.com", {}},           {"xa.example", {2, 4}},
    };
    for (const row& one : rows) {
        CAPTURE(one.domain);
        const envelope mail("<>", "bob@" + one.domain);
        CHECK(asked.holding(stage::rcpt, mail.here) == one.wanted);
    }
}

TEST_CASE("engine: a rule is asked at its own stages only") {
    rule both = refusal(1, stage::mail);
    both.at[index_of(stage::end)] = both.at[index_of(stage::mail)];
    engine asked(file({both, refusal(2, {.domain = {"example.com"}})}), 1);
    const envelope mail("ann@example.org", "bob@example.com");
    for (std::size_t i = 0; i < stage_count; ++i) {
        const auto at = static_cast<stage>(i);
        CAPTURE(name_of(at));
        const std::uint32_t wanted = at == stage::mail || at == stage::end ? 1
                                     : at == stage::rcpt                   ? 2
                                                                           : 0;
        CHECK(asked.knows(at) == (wanted != 0));
        CHECK(line_of(asked, mail.here, at) == wanted);
    }
}

TEST_CASE("engine: without rules nothing happens, and a session keeps nothing") {
    engine asked(behaviour{}, 1);
    const envelope mail("ann@example.org", "bob@example.com");
    const of_session of = asked.begin(mail.here);
    CHECK(of.candidates.capacity() == 0);
    const decision made = asked.decide(stage::rcpt, mail.here, of);
    CHECK(made.by == nullptr);
    CHECK_FALSE(made.reply);
    CHECK_FALSE(asked.knows(stage::rcpt));
}

TEST_CASE("engine: the whole action becomes the decision, also without a reply") {
    rule slow = refusal(1);
    at_rcpt(slow).reply.reset();
    at_rcpt(slow).before.from = 20ms;
    at_rcpt(slow).read_rate = {1000, 1000};
    at_rcpt(slow).window = 4096;
    rule broken = refusal(2);
    at_rcpt(broken).close = postal::proto::cut::rst;
    const envelope mail("ann@example.org", "bob@example.com");

    engine first(file({slow, broken}), 1);
    const decision made = first.decide(stage::rcpt, mail.here, first.begin(mail.here));
    REQUIRE(made.by != nullptr);
    CHECK(made.by->line == 1);
    CHECK_FALSE(made.reply);
    CHECK(made.delay == 20ms);
    CHECK(made.close == postal::proto::cut::no);
    CHECK(made.read_rate == 1000);
    CHECK(made.window == 4096);

    engine second(file({broken, slow}), 1);
    const decision closes = second.decide(stage::rcpt, mail.here, second.begin(mail.here));
    REQUIRE(closes.reply);
    CHECK(closes.reply->code == 450);
    CHECK(closes.reply->enhanced == "4.2.1");
    CHECK(closes.reply->text == "Later");
    CHECK(closes.close == postal::proto::cut::rst);
    CHECK(closes.read_rate == 0);
}

TEST_CASE("engine: a thousand rules, of which each finds its own") {
    std::vector<rule> rules;
    for (std::uint32_t i = 0; i < 500; ++i) {
        const std::string number = std::to_string(i);
        const std::string range = "10." + std::to_string(i / 250) + "." + std::to_string(i % 250);
        rules.push_back(refusal(2 * i + 1, {.domain = {"d" + number + ".example"}}));
        rules.push_back(refusal(2 * i + 2, {.client = {network(range + ".0/24")}}));
    }
    engine asked(file(rules), 1);
    for (std::uint32_t i = 0; i < 500; i += 7) {
        CAPTURE(i);
        const envelope by_domain("<>", "bob@d" + std::to_string(i) + ".example");
        CHECK(asked.begin(by_domain.here).candidates.capacity() == 0);
        CHECK(line_of(asked, by_domain.here) == 2 * i + 1);
        const std::string client =
            "10." + std::to_string(i / 250) + "." + std::to_string(i % 250) + ".9";
        const envelope by_client("<>", "bob@other.example", client);
        CHECK(asked.begin(by_client.here).candidates.size() == 1);
        CHECK(line_of(asked, by_client.here) == 2 * i + 2);
        CHECK(line_of(asked, by_client.here, stage::mail) == 0);
    }
}

TEST_CASE("engine: the same numbers meet the same behaviour, in whatever order they are asked") {
    std::vector<rule> rules;
    for (std::uint32_t line = 1; line <= 4; ++line) {
        rule one = refusal(line);
        one.when.probability = 0.3;
        at_rcpt(one).before = {distribution::uniform, 1ms, 1s};
        at_rcpt(one).read_rate = {1'000, 1'000'000};
        rules.push_back(one);
    }
    using numbers = std::tuple<std::uint64_t, std::uint64_t, std::uint64_t>;
    std::vector<numbers> all;
    for (std::uint64_t i = 0; i < 500; ++i)
        all.emplace_back(1 + i / 20, 1 + i / 4 % 5, 1 + i % 4);
    const auto ask = [&rules](std::uint64_t seed, const std::vector<numbers>& order) {
        engine asked(file(rules), seed);
        envelope mail("ann@example.org", "bob@example.com");
        std::map<numbers, decltype(said(decision{}))> answers;
        for (const numbers& one : order) {
            std::tie(mail.here.session, mail.here.message, mail.here.recipient_number) = one;
            const auto of = asked.begin(mail.here);
            answers[one] = said(asked.decide(stage::rcpt, mail.here, of));
        }
        return answers;
    };
    const auto forward = ask(1, all);
    const std::vector<numbers> backward(all.rbegin(), all.rend());
    CHECK((ask(1, backward) == forward));
    CHECK_FALSE((ask(2, all) == forward));
}

TEST_CASE("engine: a rule with a probability takes that share") {
    rule some = refusal(1);
    some.when.probability = 0.2;
    engine asked(file({some}), 42);
    envelope mail("ann@example.org", "bob@example.com");
    int taken = 0;
    for (std::uint64_t session = 1; session <= 10'000; ++session) {
        mail.here.session = session;
        const bool acts = line_of(asked, mail.here) == 1;
        if (acts != asked.drawn(0, stage::rcpt, mail.here)) FAIL("drawn() says something else");
        taken += acts ? 1 : 0;
    }
    CHECK(taken == Approx(2'000).margin(160));
}

TEST_CASE("engine: a reading speed is drawn once for a session and rule") {
    rule slow = refusal(1);
    at_rcpt(slow).read_rate = {1'000, 1'000'000};
    slow.at[index_of(stage::connect)] = slow.at[index_of(stage::rcpt)];
    engine asked(file({slow}), 1);
    envelope mail("ann@example.org", "bob@example.com");
    const auto rate = [&](stage at) {
        return asked.decide(at, mail.here, asked.begin(mail.here)).read_rate;
    };
    const std::uint64_t first = rate(stage::connect);
    CHECK(first >= 1'000);
    CHECK(first <= 1'000'000);
    mail.here.message = 3;
    CHECK(rate(stage::rcpt) == first);
    mail.here.session = 2;
    CHECK(rate(stage::connect) != first);
}

TEST_CASE("engine: what a token bucket lets pass meets later rules") {
    rule limited = refusal(1);
    at_rcpt(limited).beyond = token_bucket{1, 2, key::client};
    engine asked(file({limited, refusal(2, {.sender = {"<>"}})}), 1);
    envelope mail("<>", "bob@example.com");
    const envelope other("ann@example.org", "bob@example.com", "192.0.2.77");
    CHECK(line_of(asked, mail.here) == 2);
    CHECK(line_of(asked, mail.here) == 2);
    CHECK(line_of(asked, mail.here) == 1);
    CHECK(line_of(asked, other.here) == 0);  // a bucket of its own
    mail.here.now = 1s;
    CHECK(line_of(asked, mail.here) == 2);
    CHECK(line_of(asked, mail.here) == 1);
}

TEST_CASE("engine: a gate belongs to one rule and stage, and is asked only where conditions hold") {
    rule limited = refusal(1, {.helo = {"mx.*"}});
    at_rcpt(limited).beyond = token_bucket{0, 1};
    limited.at[index_of(stage::mail)] = limited.at[index_of(stage::rcpt)];
    engine asked(file({limited}), 1);
    envelope mail("<>", "bob@example.com");
    mail.here.helo = "other.example";
    CHECK(line_of(asked, mail.here) == 0);
    mail.here.helo = "mx.example.org";
    CHECK(line_of(asked, mail.here) == 0);  // takes the token of rcpt
    CHECK(line_of(asked, mail.here, stage::mail) == 0);
    CHECK(line_of(asked, mail.here) == 1);
    CHECK(line_of(asked, mail.here, stage::mail) == 1);
}

TEST_CASE("engine: greylisting, and what it says of each try") {
    rule grey = refusal(1);
    at_rcpt(grey).grey = greylist{1min, 1h, 24h};
    engine asked(file({grey}), 1);
    envelope mail("ann@example.org", "bob@example.com");
    struct row {
        nanoseconds now;
        std::uint32_t line;
        grey_verdict wanted;
    };
    const row rows[] = {
        {0s, 1, grey_verdict::first},
        {30s, 1, grey_verdict::early},
        {1min, 0, grey_verdict::passes},
        {2h, 0, grey_verdict::passes},
    };
    for (const row& one : rows) {
        CAPTURE(one.now);
        mail.here.now = one.now;
        const decision made = asked.decide(stage::rcpt, mail.here, asked.begin(mail.here));
        CHECK((made.by == nullptr ? 0 : made.by->line) == one.line);
        CHECK(made.grey == one.wanted);
    }
    const envelope neighbour("ANN@example.org", "bob@example.com", "192.0.2.200");
    situation later = neighbour.here;
    later.now = 2h;
    CHECK(line_of(asked, later) == 0);  // the same network, and case does not matter
}

TEST_CASE("engine: with both gates only what is beyond the rate is greylisted") {
    rule both = refusal(1);
    at_rcpt(both).beyond = token_bucket{0, 1};
    at_rcpt(both).grey = greylist{1min, 1h, 24h};
    engine asked(file({both}), 1);
    envelope mail("ann@example.org", "bob@example.com");
    CHECK(line_of(asked, mail.here) == 0);
    CHECK(line_of(asked, mail.here) == 1);
    mail.here.now = 1min;
    CHECK(line_of(asked, mail.here) == 0);
}
