// SPDX-License-Identifier: GPL-3.0-or-later
// What a behaviour's file says, and what is refused in it.
#include "behaviour/behaviour_file.hpp"

#include <catch2/catch.hpp>

#include <filesystem>
#include <set>
#include <string>
#include <vector>

using namespace postal::behaviour;
using namespace std::chrono_literals;

namespace {

const action& at(const rule& one, stage where) {
    return one.at[static_cast<std::size_t>(where)].value();
}

rule only_rule(const std::string& text) {
    return parse_behaviour("[[rule]]\n" + text, "b.toml").value().rules.at(0);
}

std::string why_not(const std::string& text) {
    const auto parsed = parse_behaviour(text, "b.toml");
    return parsed ? "accepted" : parsed.error().message;
}

}  // namespace

TEST_CASE("behaviour file: a rule has its conditions and what it does at its stages") {
    const auto whole = parse_behaviour(R"(# a comment
[[rule]]
name = "the slow domain"
listener = ["127.0.0.1:2525", "[::1]", "unix:/run/bhm"]
client = "192.0.2.0/24"
tls = false
helo = "*.example.net"
sender = ["<>", "*@example.net"]
recipient = "a*@slow.example"
domain = ["slow.example", "*.slow.example"]
known = true
session = "3../10"
message = 2
time = "10s..40s"
probability = "20%"
[rule.rcpt]
reply = "450 4.2.1 Too many messages"
delay = "1s..3s"
[rule.end]
delay_per_octet = "10us"
close = "rst"
read = "1K..10K"
window = 4096

[[rule]]
[rule.banner]
reply = "greeting-refused"
)",
                                       "b.toml")
                           .value();
    CHECK(whole.file == "b.toml");
    REQUIRE(whole.rules.size() == 2);
    const rule& one = whole.rules[0];
    CHECK(one.name == "the slow domain");
    CHECK(one.line == 2);
    CHECK(one.when.listener ==
          std::vector<std::string>{"127.0.0.1:2525", "[::1]:25", "unix:/run/bhm"});
    CHECK(one.when.client.size() == 1);
    CHECK(one.when.tls == false);
    CHECK(one.when.helo == std::vector<std::string>{"*.example.net"});
    CHECK(one.when.sender == std::vector<std::string>{"<>", "*@example.net"});
    CHECK(one.when.recipient == std::vector<std::string>{"a*@slow.example"});
    CHECK(one.when.domain == std::vector<std::string>{"slow.example", "*.slow.example"});
    CHECK(one.when.known == true);
    CHECK_FALSE(one.when.size.has_value());
    CHECK(one.when.session->step == 10);
    CHECK(one.when.message == number_range{2, 2});
    CHECK(one.when.time->most == std::chrono::nanoseconds(40s).count());
    CHECK(one.when.probability == Approx(0.2));

    const action& rcpt = at(one, stage::rcpt);
    CHECK(rcpt.line == 16);
    CHECK(rcpt.reply == reply_text{450, "4.2.1", "Too many messages"});
    CHECK(rcpt.before.kind == distribution::uniform);
    CHECK_FALSE(rcpt.beyond.has_value());
    const action& end = at(one, stage::end);
    CHECK_FALSE(end.reply.has_value());
    CHECK(end.before.per_octet == 10us);
    CHECK(end.close == postal::proto::cut::rst);
    CHECK(end.read_rate == number_range{1024, 10240});
    CHECK(end.window == 4096);
    CHECK_FALSE(one.at[static_cast<std::size_t>(stage::mail)].has_value());
    CHECK(whole.rules[1].when == conditions{});
    CHECK(at(whole.rules[1], stage::banner).reply->code == 554);
}

TEST_CASE("behaviour file: gates have the documented defaults") {
    const auto bucket = [](const std::string& keys) {
        return at(only_rule("[rule.rcpt]\n" + keys), stage::rcpt).beyond.value();
    };
    CHECK(bucket("rate = \"10/s\"") == token_bucket{10, 10, key::all});
    CHECK(bucket("rate = \"6/min\"") == token_bucket{0.1, 1, key::all});
    CHECK(bucket("rate = \"10/s\"\nburst = 3\nper = \"client\"") ==
          token_bucket{10, 3, key::client});
    CHECK(bucket("limit = 5\nper = \"domain\"") == token_bucket{0, 5, key::domain});

    const action grey = at(only_rule("[rule.rcpt]\ngreylist = {}"), stage::rcpt);
    CHECK(grey.grey == greylist{5min, 4h, 35 * 24h});
    CHECK(grey.reply == reply_text{450, "4.2.0", "Greylisted, try again later"});
    const action soon = at(only_rule("[rule.rcpt]\ngreylist = { wait = \"60s\" }"), stage::rcpt);
    CHECK(soon.grey == greylist{60s, 4h, 35 * 24h});
}

TEST_CASE("behaviour file: a gate that is given nothing to say defers") {
    struct row {
        std::string stage;
        std::uint16_t code;
        std::string enhanced;
    };
    const row rows[]{
        {"banner", 421, "4.7.0"}, {"ehlo", 421, "4.7.0"},  {"starttls", 421, "4.7.0"},
        {"auth", 421, "4.7.0"},   {"mail", 451, "4.7.1"},  {"rcpt", 451, "4.7.1"},
        {"data", 451, "4.7.1"},   {"chunk", 451, "4.7.1"}, {"end", 451, "4.7.1"},
        {"rset", 421, "4.7.0"},   {"quit", 421, "4.7.0"},
    };
    for (const row& one : rows) {
        INFO(one.stage);
        const auto place = std::find(stage_names.begin(), stage_names.end(), one.stage);
        const auto where = static_cast<stage>(place - stage_names.begin());
        const action does = at(only_rule("[rule." + one.stage + "]\nlimit = 1"), where);
        REQUIRE(does.reply.has_value());
        CHECK(does.reply->code == one.code);
        CHECK(does.reply->enhanced == one.enhanced);
    }
    const action closes = at(only_rule("[rule.rcpt]\nlimit = 1\nclose = \"fin\""), stage::rcpt);
    CHECK_FALSE(closes.reply.has_value());
    const action says = at(only_rule("[rule.rcpt]\nlimit = 1\nreply = \"552 Full\""), stage::rcpt);
    CHECK(says.reply == reply_text{552, "", "Full"});
}

TEST_CASE("behaviour file: what is wrong is named with its line") {
    const std::string rcpt = "[rule.rcpt]\nreply = \"450 Later\"\n";
    struct row {
        std::string text;  // behind [[rule]]
        std::string why;   // behind "b.toml:"
    };
    const row rows[]{
        {"nmae = \"a\"\n" + rcpt, "2: nmae is no key of [[rule]]; did you mean name?"},
        {"[rule.rctp]\nreply = \"450 Later\"\n",
         "2: rctp is no key of [[rule]]; did you mean rcpt?"},
        {"name = \"a\"\n",
         "1: [[rule]] says nothing of any stage; give it a table such as "
         "[rule.rcpt]"},
        {"rcpt = 1\n", "2: rcpt is a table: write [rule.rcpt]"},
        {"[rule.rcpt]\n", "2: [rule.rcpt] is empty; give reply, delay or another key"},
        {rcpt + "repy = 1\n", "4: repy is no key of [rule.rcpt]; did you mean reply?"},
        {rcpt + "[[rule]]\n[rule.rcpt]\ndelay = \"1s\"\n",
         "5: [rule.rcpt] can never match: the rule of line 1 takes all at rcpt"},
        {"name = \"a\"\ntls = true\n" + rcpt +
             "[[rule]]\nname = \"a\"\n[rule.mail]\ndelay = "
             "\"1s\"\n",
         "7: name: the rule of line 1 is called \"a\", too"},
        {"[rule.rcpt]\nper = \"client\"\nrate = \"fast\"\n", "4: rate: 'fast' is not a rate"},
        {"name = 3\n" + rcpt, "2: name must be a text in quotes"},
        {"helo = []\n" + rcpt, "2: helo: is empty; leave it out where it does not matter"},
        {"helo = \"\"\n" + rcpt, "2: helo: is empty; leave it out where it does not matter"},
        {"helo = \"a\\u0001\"\n" + rcpt,
         "2: helo: \"a\\x01\" is no pattern: want at most 320 octets "
         "and no control characters"},
        {"client = \"192.0.2.1/24\"\n" + rcpt, "2: client: \"192.0.2.1/24\" has bits behind"},
        {"listener = \"[::1\"\n" + rcpt, "2: listener: '[::1': the bracket is not closed"},
        {"domain = \"*@example.com\"\n" + rcpt, "2: domain: \"*@example.com\" is no domain; want"},
        {"domain = \"a.*.example\"\n" + rcpt, "2: domain: \"a.*.example\" is no domain; want"},
        {"domain = \"*\"\n" + rcpt, "2: domain: \"*\" is no domain; want"},
        {"tls = \"yes\"\n" + rcpt, "2: tls must be true or false"},
        {"size = \"10X\"\n[rule.mail]\ndelay = \"1s\"\n", "2: size: '10X' is not a size"},
        {"size = true\n[rule.mail]\ndelay = \"1s\"\n",
         "2: size must be a number, or a text in quotes"},
        {"session = \"9..3\"\n" + rcpt, "2: session: \"9..3\" holds nothing: it ends before"},
        {"session = 0\n" + rcpt, "2: session: \"0\" holds nothing: they are counted from 1"},
        {"time = \"10s\"\n" + rcpt, "2: time: \"10s\" is no stretch of time; write it as"},
        {"probability = \"120%\"\n" + rcpt, "2: probability: \"120%\" is more than always, 100%"},
        {"probability = \"0%\"\n" + rcpt, "2: probability: \"0%\" is never; leave the rule out"},
        {"probability = \"0.1\"\n" + rcpt, "2: probability: \"0.1\" is no share; write it as"},
        {"tls = true\n[rule.starttls]\ndelay = \"1s\"\n",
         "2: tls: a connection that has TLS cannot have STARTTLS"},
    };
    for (const row& one : rows) {
        INFO(one.text);
        const std::string why = why_not("[[rule]]\n" + one.text);
        CHECK(why.substr(0, one.why.size() + 7) == "b.toml:" + one.why);
    }
    CHECK(why_not("") == "b.toml:1: there are no rules; write [[rule]]");
    CHECK(why_not("# nothing\n") == "b.toml:1: there are no rules; write [[rule]]");
    CHECK(why_not("[[rules]]\n") == "b.toml:1: rules is no key of a behaviour; did you mean rule?");
    CHECK(why_not("rule = 3\n") == "b.toml:1: rule is a list of tables: write [[rule]]");
    CHECK(why_not("[[rule]\n").substr(0, 9) == "b.toml:1:");
}

TEST_CASE("behaviour file: what is wrong at a stage is named with its line") {
    struct row {
        std::string stage;
        std::string keys;
        std::string why;  // behind "b.toml:3: "
    };
    const row rows[]{
        {"connect", "reply = \"554 No\"", "reply: nothing is said at connect yet"},
        {"rcpt", "reply = \"gmail-rat\"",
         "reply: \"gmail-rat\" is neither a reply nor a preset; "
         "did you mean gmail-rate?"},
        {"rcpt", "reply = \"\"", "reply: \"\" is neither a reply nor a preset; write it as"},
        {"rcpt", "reply = \"45 x\"", "reply: \"45 x\" is neither a reply nor a preset"},
        {"rcpt", "reply = \"450 5.2.1 x\"", "reply: 450 and 5.2.1 are of different classes"},
        {"rcpt", "reply = \"450 4.2 x\"", "reply: \"4.2\" is no enhanced code; one is such as"},
        {"rcpt", "reply = \"450 4.02.1 x\"", "reply: \"4.02.1\" is no enhanced code"},
        {"rcpt", "reply = \"450 4.2.1000 x\"", "reply: \"4.2.1000\" is no enhanced code"},
        {"rcpt", "reply = \"450 a\\r\\n250 b\"",
         "reply: the text \"a\\r\\n250 b\" is not printable"},
        {"rcpt", "reply = \"450 \xc3\xa4\"", "reply: the text \"\xc3\xa4\" is not printable ASCII"},
        {"rcpt", "reply = \"450 " + std::string(401, 'a') + "\"", "reply: the text has 401 octets"},
        {"rcpt", "delay = \"3s..1s\"", "delay: \"3s..1s\" holds nothing: it ends before it begins"},
        {"rcpt", "delay = \"25h\"", "delay: '25h' is longer than a day"},
        {"rcpt", "delay = \"fast\"", "delay: 'fast' is not a duration"},
        {"rcpt", "delay = \"lognormal 1s\"", "delay: \"lognormal 1s\": want \"lognormal MEDIAN"},
        {"rcpt", "delay = \"lognormal 1s 0\"", "delay: \"lognormal 1s 0\": sigma, of the"},
        {"rcpt", "delay_per_octet = \"1us\"", "delay_per_octet: stands at end only"},
        {"rcpt", "close = \"slam\"",
         "close: \"slam\" is no way to close; there are fin, rst, "
         "silence"},
        {"rcpt", "read = 0", "read: want octets a second, more than 0"},
        {"rcpt", "read = \"1K..\"", "read: want octets a second, more than 0"},
        {"rcpt", "window = \"2G\"", "window: want more than 0 and at most 1G"},
        {"rcpt", "rate = \"fast\"", "rate: 'fast' is not a rate"},
        {"rcpt", "rate = \"0/s\"", "rate: want more than 0"},
        {"rcpt", "limit = 0", "limit: want 1 to 1000000000000"},
        {"rcpt", "limit = -1", "limit must be a whole number, 0 or more"},
        {"rcpt", "burst = 3", "burst: is the most at once of a rate; give rate, too"},
        {"rcpt", "per = \"client\"", "per: says what a rate or limit counts apart"},
        {"mail", "greylist = {}", "greylist: stands at rcpt only"},
        {"rcpt", "greylist = true", "greylist is a table: write { wait = \"5m\" }, or {}"},
        {"rcpt", "greylist = { wiat = \"1s\" }", "wiat is no key of greylist; did you mean wait?"},
        {"rcpt", "greylist = { window = \"1m\" }", "window: ends before the wait is over"},
    };
    for (const row& one : rows) {
        INFO(one.stage << ": " << one.keys);
        const std::string why = why_not("[[rule]]\n[rule." + one.stage + "]\n" + one.keys + "\n");
        CHECK(why.substr(0, one.why.size() + 10) == "b.toml:3: " + one.why);
    }
}

TEST_CASE("behaviour file: a stage has one gate, which does something") {
    const std::string rcpt = "[[rule]]\n[rule.rcpt]\n";
    CHECK(why_not(rcpt + "limit = 1\nrate = \"1/s\"\n") ==
          "b.toml:3: limit: is never filled again, and has no rate; give one of them");
    CHECK(why_not(rcpt + "limit = 1\ngreylist = {}\n") ==
          "b.toml:4: greylist: a stage has one gate; give a rate, a limit or a greylist");
    CHECK(why_not(rcpt + "limit = 1\nper = \"ip\"\n") ==
          "b.toml:4: per: \"ip\" is no key; there are all, listener, client, helo, sender, "
          "recipient, domain, session");
    const std::string connect = "[[rule]]\n[rule.connect]\nlimit = 1\n";
    CHECK(why_not(connect) ==
          "b.toml:2: [rule.connect] has a gate and no effect on who is beyond "
          "it; give close");
    CHECK(why_not(connect + "close = \"rst\"\n") == "accepted");
    CHECK(why_not(connect + "delay = \"1s\"\n") == "accepted");
    CHECK(why_not(connect + "close = \"rst\"\nper = \"helo\"\n") ==
          "b.toml:5: per: nothing is known of the helo at connect");
}

TEST_CASE("behaviour file: conditions are known from their stage on") {
    struct row {
        std::string condition;
        std::set<std::string> known_at;
    };
    const std::set<std::string> everywhere(stage_names.begin(), stage_names.end());
    const std::set<std::string> behind_rcpt{"rcpt", "data", "chunk", "end"};
    const row rows[]{
        {"client = \"::1\"", everywhere},
        {"listener = \"unix:/s\"", everywhere},
        {"session = 1", everywhere},
        {"time = \"1s..\"", everywhere},
        {"tls = false", everywhere},
        {"helo = \"*\"",
         {"ehlo", "starttls", "auth", "mail", "rcpt", "data", "chunk", "end", "rset", "quit"}},
        {"sender = \"<>\"", {"mail", "rcpt", "data", "chunk", "end"}},
        {"recipient = \"*\"", behind_rcpt},
        {"domain = \"a.example\"", behind_rcpt},
        {"known = false", behind_rcpt},
        {"size = \"1K..\"", {"mail", "end"}},
        {"message = 1", {"mail", "rcpt", "data", "chunk", "end", "rset", "quit"}},
    };
    for (const row& one : rows) {
        for (const std::string& where : everywhere) {
            INFO(one.condition << " at " << where);
            const std::string why =
                why_not("[[rule]]\n" + one.condition + "\n[rule." + where + "]\ndelay = \"1s\"\n");
            const std::string name = one.condition.substr(0, one.condition.find(' '));
            CHECK(why == (one.known_at.contains(where)
                              ? "accepted"
                              : "b.toml:2: " + name + ": is not known at " + where +
                                    ", so that the rule can never match there"));
        }
    }
}

TEST_CASE("behaviour file: a stage has the replies that a client can hear there") {
    struct row {
        std::string stage;
        std::vector<int> can;
        std::vector<int> cannot;
    };
    const row rows[]{
        {"banner", {421, 554}, {220, 450, 500, 550}},
        {"ehlo", {421, 450, 500, 599}, {250, 399, 600}},
        {"starttls", {454, 501}, {220, 250}},
        {"auth", {454, 535}, {235, 334}},
        {"mail", {250, 400, 599}, {251, 354}},
        {"rcpt", {250, 251, 450, 550}, {252}},
        {"data", {451, 554}, {250, 354}},
        {"chunk", {452, 554}, {250}},
        {"end", {250, 451, 554}, {251}},
        {"rset", {250, 421, 500, 502}, {450}},
        {"quit", {221, 421, 500, 502}, {250, 450}},
    };
    for (const row& one : rows) {
        const auto says = [&](int code) {
            return why_not("[[rule]]\n[rule." + one.stage + "]\nreply = \"" + std::to_string(code) +
                           " x\"\n");
        };
        INFO(one.stage);
        for (const int code : one.can)
            CHECK(says(code) == "accepted");
        for (const int code : one.cannot)
            CHECK(says(code).find("is no reply at " + one.stage + "; it can have") !=
                  std::string::npos);
    }
    CHECK(why_not("[[rule]]\n[rule.quit]\nreply = \"450 x\"\n") ==
          "b.toml:3: reply: 450 is no reply at quit; it can have 221, 421, 500-599");
}

TEST_CASE("behaviour file: rules are shadowed only by one that takes all") {
    const std::string second = "[[rule]]\n[rule.rcpt]\ndelay = \"1s\"\n";
    for (const char* const first :
         {"probability = \"99%\"\n[rule.rcpt]\ndelay = \"2s\"\n",
          "client = \"::1\"\n[rule.rcpt]\ndelay = \"2s\"\n", "[rule.rcpt]\nlimit = 1\n",
          "[rule.rcpt]\ngreylist = {}\n", "[rule.mail]\ndelay = \"2s\"\n"}) {
        INFO(first);
        CHECK(why_not("[[rule]]\n" + (first + second)) == "accepted");
    }
}

TEST_CASE("behaviour file: the samples are good") {
    const std::filesystem::path samples(POSTAL_SAMPLES);
    for (const char* const name :
         {"behaviour", "profiles/fast", "profiles/slow-dialup", "profiles/greylisting",
          "profiles/big-provider", "profiles/broken", "profiles/silent", "profiles/mixed-world"}) {
        const auto loaded = load_behaviour((samples / (std::string(name) + ".toml")).string());
        INFO(name << ": " << (loaded ? "" : loaded.error().message));
        CHECK(loaded.has_value());
    }
    const auto missing = load_behaviour("/nonexistent/b.toml");
    REQUIRE_FALSE(missing.has_value());
    CHECK(missing.error().message.find("/nonexistent/b.toml: ") == 0);
}
