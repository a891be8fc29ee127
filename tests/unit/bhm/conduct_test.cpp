// SPDX-License-Identifier: GPL-3.0-or-later
// What a session's conduct says against the engine itself, which is told everything at every stage.
#include "bhm/conduct.hpp"

#include "../behaviour/rules.hpp"

#include "base/random.hpp"

#include <catch2/catch.hpp>

#include <array>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

using namespace postal;
using namespace rules_of_tests;
using behaviour::conditions;
using behaviour::stage;

namespace {

std::string said(const behaviour::decision& made) {
    std::string text = "nothing";
    if (made.by != nullptr) text = "rule " + std::to_string(made.by->line);
    if (made.grey) text += ", verdict " + std::to_string(static_cast<int>(*made.grey));
    return text + ", " + std::to_string(made.delay.count()) + " ns";
}

const std::vector<std::string> mailboxes = {"ann@a.example", "bob@b.example", "\"c d\"@a.example",
                                            "eve@x.b.example", "someone@nobody.example"};

// One for each way in which rules are found, and such as look at what is kept.
std::vector<conditions> ways() {
    return {{},
            {.client = {network("192.0.2.0/24")}},
            {.client = {network("10.0.0.0/8")}},
            {.domain = {"b.example", "*.b.example"}},
            {.recipient = {"ann@a.example"}},
            {.recipient = {"*@*.example"}, .known = false},
            {.sender = {"*@a.example"}},
            {.sender = {"<>"}, .domain = {"a.example"}},
            {.sender = {"*d@*"}},
            {.helo = {"mx*"}, .size = behaviour::number_range{500}}};
}

constexpr std::array rule_stages{stage::mail, stage::rcpt, stage::data, stage::end};

behaviour::rule random_rule(std::uint32_t line, base::random_source& random) {
    const auto all = ways();
    behaviour::rule one;
    one.line = line;
    one.when = all[random.below(all.size())];
    if (random.below(3) == 0) one.when.probability = 0.5;
    for (const stage at : rule_stages) {
        if (random.below(2) != 0) continue;
        const bool named = at != stage::mail;
        if (!named && (!one.when.domain.empty() || !one.when.recipient.empty())) continue;
        behaviour::action what;
        what.before = {.from = std::chrono::seconds(line)};
        if (at == stage::rcpt && random.below(4) == 0)
            what.grey = {std::chrono::seconds(10), std::chrono::hours(1), std::chrono::hours(9)};
        if (random.below(4) == 0) what.beyond = {0, 3, behaviour::key::sender};
        if (named && random.below(4) == 0) what.beyond = {0, 3, behaviour::key::recipient};
        one.at[index_of(at)] = what;
    }
    return one;
}

// The engine, told all of a transaction.
struct told {
    explicit told(behaviour::engine& engine, const net::ip_address& client) : rules(engine) {
        here.listener = "127.0.0.1:25";
        here.client = &client;
        here.helo = "mx.example";
        of = rules.begin(here);
    }

    std::string asked(stage at, behaviour::nanoseconds now) {
        here.now = now;
        return said(rules.decide(at, here, of));
    }
    void name(const proto::path& who, std::uint64_t number) {
        here.recipient = &who;
        here.known = false;
        here.recipient_number = number;
    }

    behaviour::engine& rules;
    behaviour::situation here;
    behaviour::of_session of;
};

// Messages of one session to random recipients, of which some are not taken.
void compare(const behaviour::behaviour& rules, bool lmtp, base::random_source& random) {
    behaviour::engine ours(rules, 1), theirs(rules, 1);
    const net::ip_address client = address("192.0.2.7");
    bhm::conduct conduct(ours, {"127.0.0.1:25", {}, client, 1, lmtp});
    conduct.greeted("before.example");
    conduct.greeted("mx.example");
    told reference(theirs, client);
    for (unsigned message = 1; message <= 8; ++message) {
        const behaviour::nanoseconds now = std::chrono::seconds(message * 5);
        const std::string from =
            message % 4 == 0 ? "<>" : mailboxes[random.below(mailboxes.size())];
        const proto::path sender = path(from);
        reference.here.sender = &sender;
        reference.here.recipient = nullptr;
        reference.here.known.reset();
        reference.here.recipient_number = 0;
        reference.here.message = message;
        reference.here.size.reset();
        REQUIRE(said(conduct.at_sender(sender, 0, now)) == reference.asked(stage::mail, now));
        std::vector<std::pair<proto::path, unsigned>> taken;
        for (unsigned number = 1; number <= 4; ++number) {
            const std::string& name = mailboxes[random.below(mailboxes.size())];
            std::string text = name;  // what the client says now
            const proto::path who = path(text);
            const proto::path whole = path(name);
            reference.name(whole, number);
            REQUIRE(said(conduct.at_recipient(who, false, now)) ==
                    reference.asked(stage::rcpt, now));
            if (random.below(3) != 0) {
                conduct.took_recipient(who);
                taken.emplace_back(whole, number);
            }
            text.assign(text.size(), '!');
        }
        if (taken.empty()) continue;
        reference.name(taken.front().first, taken.front().second);
        REQUIRE(said(conduct.at(stage::data, 0, now)) == reference.asked(stage::data, now));
        reference.here.size = 400 + 100 * message;
        if (!lmtp) {
            REQUIRE(said(conduct.at(stage::end, 400 + 100 * message, now)) ==
                    reference.asked(stage::end, now));
            continue;
        }
        bool any = false;
        for (std::size_t i = 0; i < taken.size(); ++i) {
            reference.name(taken[i].first, taken[i].second);
            const auto wanted = reference.asked(stage::end, now);
            any = any || wanted.starts_with("rule");
            REQUIRE(said(conduct.at_delivery(i, 400 + 100 * message, now)) == wanted);
        }
        if (any) CHECK(conduct.may_judge_deliveries());
    }
}

bool later(bhm::conduct& conduct, const std::string& recipient) {
    (void)conduct.at_recipient(path(recipient), true, {});
    const bool found = conduct.may_meet_later();
    conduct.took_recipient(path(recipient));
    return found;
}

}  // namespace

TEST_CASE("conduct: says what the engine says that is told everything") {
    base::random_source random(7);
    for (unsigned round = 0; round < 400; ++round) {
        CAPTURE(round);
        behaviour::behaviour rules = file({});
        const std::uint64_t count = 1 + random.below(4);
        for (std::uint32_t line = 1; line <= count; ++line)
            rules.rules.push_back(random_rule(line, random));
        compare(rules, round % 2 == 0, random);
    }
}

TEST_CASE("conduct: whom rules may meet once they are taken") {
    behaviour::engine rules(file({refusal(1, {.domain = {"b.example"}}, stage::end),
                                  refusal(2, {.domain = {"c.example"}}, stage::rcpt),
                                  refusal(3, {.client = {network("10.0.0.0/8")}}, stage::data)}),
                            1);
    SECTION("over SMTP the first stands for all") {
        bhm::conduct smtp(rules, {"127.0.0.1:25", {}, address("192.0.2.7"), 1, false});
        (void)smtp.at_sender(path("<>"), 0, {});
        CHECK_FALSE(later(smtp, "c@c.example"));
        CHECK_FALSE(later(smtp, "b@b.example"));
        (void)smtp.at_sender(path("<>"), 0, {});
        CHECK(later(smtp, "b@b.example"));
        CHECK(later(smtp, "c@c.example"));
        CHECK(smtp.at(stage::end, 1, {}).by != nullptr);
    }
    SECTION("over LMTP each has its own reply") {
        bhm::conduct lmtp(rules, {"127.0.0.1:24", {}, address("192.0.2.7"), 1, true});
        (void)lmtp.at_sender(path("<>"), 0, {});
        CHECK_FALSE(later(lmtp, "c@c.example"));
        CHECK_FALSE(lmtp.may_judge_deliveries());
        CHECK(later(lmtp, "b@b.example"));
        CHECK_FALSE(later(lmtp, "c@c.example"));
        CHECK(lmtp.may_judge_deliveries());
        CHECK(lmtp.at_delivery(0, 1, {}).by == nullptr);
        CHECK(lmtp.at_delivery(1, 1, {}).by != nullptr);
        CHECK(lmtp.at_delivery(2, 1, {}).by == nullptr);
    }
    SECTION("by a rule about the session") {
        bhm::conduct here(rules, {"127.0.0.1:25", {}, address("10.0.0.1"), 1, false});
        (void)here.at_sender(path("<>"), 0, {});
        CHECK(later(here, "c@c.example"));
    }
}
