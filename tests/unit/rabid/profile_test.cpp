// SPDX-License-Identifier: GPL-3.0-or-later
#include "rabid/profile.hpp"

#include <catch2/catch.hpp>

#include <map>
#include <string>

using namespace postal::rabid;
using namespace std::chrono_literals;

TEST_CASE("profile: every key, and what is left out") {
    const auto full = parse_profile(R"(
about = "all of it"
first = ["flags", "read-one"]
actions = "2..6"
last = ["read"]
think = "500ms..3s"
idle = "10s"
pause = "1m"
resync = true
[weights]
noop = 1
read-one = 2.5
)",
                                    "x.toml");
    REQUIRE(full.has_value());
    CHECK(full->first == std::vector<verb>{verb::flags, verb::read_one});
    CHECK(full->last == std::vector<verb>{verb::read});
    CHECK(full->least_actions == 2);
    CHECK(full->most_actions == 6);
    CHECK(full->think.least == 500ms);
    CHECK(full->think.most == 3s);
    CHECK(full->idle.most == 10s);
    CHECK(full->pause.least == 1min);
    CHECK(full->resync);
    CHECK(full->weights.size() == 2);
    const auto empty = parse_profile("", "x.toml");
    REQUIRE(empty.has_value());
    CHECK(empty->first.empty());
    CHECK(empty->most_actions == 0);
    CHECK_FALSE(empty->resync);
}

TEST_CASE("profile: whether it makes mailboxes beside INBOX") {
    const auto makes = [](const std::string& text) {
        const auto read = parse_profile(text, "x.toml");
        REQUIRE(read.has_value());
        return read->makes_mailboxes();
    };
    for (const std::string one : {"copy", "move", "create"}) {
        CHECK(makes("first = [\"noop\", \"" + one + "\"]"));
        CHECK(makes("last = [\"" + one + "\"]"));
        CHECK(makes("actions = \"1\"\n[weights]\nnoop = 1\n" + one + " = 0.5"));
        CHECK_FALSE(makes("actions = \"1\"\n[weights]\nnoop = 1\n" + one + " = 0"));
    }
    CHECK_FALSE(makes("first = [\"list\", \"append\", \"mark\"]"));
    CHECK_FALSE(makes("first = [\"noop\"]\n[weights]\nmove = 1"));  // none is drawn
}

TEST_CASE("profile: what is wrong is said with its line") {
    struct row {
        std::string text, wanted;
    };
    const row rows[] = {
        {"about = 1", "x.toml:1: about must be a text in quotes"},
        {"\n\nverbs = 1", "x.toml:3: verbs is no key of a profile"},
        {"first = [\"dance\"]", "x.toml:1: first: \"dance\" is no verb; there are read, read-new"},
        {"actions = \"6..2\"\n[weights]\nnoop = 1",
         "x.toml:1: actions: \"6..2\" is no range: the first is larger"},
        {"\nactions = \"1\"", "x.toml:2: actions: some are wanted, but no [weights] say which"},
        {"[weights]\nnoop = 0\nlist = 0",
         "x.toml:1: the weights are 0 altogether; give one more than 0"},
        {"[weights]\nnoop = -1", "x.toml:2: noop: a weight is a number from 0 on"},
        {"[weights]\nwaltz = 1", "x.toml:2: waltz: \"waltz\" is no verb"},
        {"think = \"soon\"", "x.toml:1: think: "},
        {"resync = 1", "x.toml:1: resync must be true or false"},
        {"first = [", "x.toml:1: "},
        {"first = [\"read\"]\nfirst = [\"noop\"]", "x.toml:2: "},
        {"first = 1", "x.toml:1: first"},
        {"first = [1, 2]", "x.toml:1: first"},
        {"actions = 3\n[weights]\nread = 1", "x.toml:1: actions"},
        {"actions = \"1\"\n[weights]\nread = nan", "x.toml:3: read: a weight"},
        {"actions = \"1\"\n[weights]\nread = inf", "x.toml:3: read: a weight"},
        {"actions = \"1\"\n[weights]\nread = \"often\"", "x.toml:3: read: a weight"},
        {"idle = \"5s..1s\"", "x.toml:1: idle"},
        {"pause = \"\"", "x.toml:1: pause"},
    };
    for (const row& each : rows) {
        INFO(each.text);
        const auto parsed = parse_profile(each.text, "x.toml");
        REQUIRE_FALSE(parsed.has_value());
        CHECK(parsed.error().message.substr(0, each.wanted.size()) == each.wanted);
    }
}

TEST_CASE("profile: those of the project can be read, and are known by name") {
    for (const named_text& one : built_in_profiles()) {
        INFO(one.name);
        const auto loaded = load_profile(std::string(one.name));
        REQUIRE(loaded.has_value());
        CHECK(one.text.find("about = \"") != std::string_view::npos);
    }
    CHECK(built_in_profiles().size() >= 6);
    CHECK(load_profile("nobody").error().message.find("is no profile; there are append, archive") !=
          std::string::npos);
}

TEST_CASE("profile: verbs are drawn by their weights") {
    const auto loaded = parse_profile("[weights]\nnoop = 3\nlist = 1\nidle = 0", "x.toml");
    REQUIRE(loaded.has_value());
    postal::base::random_source random(7);
    std::map<verb, int> drawn;
    for (int i = 0; i < 4000; ++i)
        ++drawn[loaded->pick(random)];
    CHECK(drawn[verb::idle] == 0);
    CHECK(drawn[verb::noop] > 2800);
    CHECK(drawn[verb::noop] < 3200);
    CHECK(drawn[verb::noop] + drawn[verb::list] == 4000);
}

TEST_CASE("profile: a session does what is first, as many as are drawn, and what is last") {
    const auto made = parse_profile(R"(
first = ["flags"]
actions = "2..4"
last = ["read"]
[weights]
noop = 1
)",
                                    "x.toml");
    REQUIRE(made.has_value());
    postal::base::random_source random(1);
    std::map<std::size_t, int> lengths;
    for (int i = 0; i < 300; ++i) {
        const std::vector<verb> script = made->script(random);
        CHECK(script.front() == verb::flags);
        CHECK(script[1] == verb::noop);
        CHECK(script.back() == verb::read);
        ++lengths[script.size()];
    }
    CHECK(lengths.size() == 3);
    CHECK(lengths.begin()->first == 4);
}

TEST_CASE("profile: what it wants of each verb, for the record") {
    const auto given = parse_profile(R"(
first = ["flags", "read-one"]
last = ["flags"]
actions = "2..6"
[weights]
noop = 1
read-one = 2.5
)",
                                     "x.toml");
    REQUIRE(given.has_value());
    const auto wanted = wanted_of(*given, "mine");
    CHECK(wanted.name == "mine");
    CHECK(wanted.least_actions == 2);
    CHECK(wanted.most_actions == 6);
    const auto of = [&](verb one) { return wanted.actions[static_cast<std::size_t>(one)]; };
    REQUIRE(wanted.actions.size() == static_cast<std::size_t>(verb::thread) + 1);
    CHECK(of(verb::flags).verb == "flags");
    CHECK(of(verb::flags).first == 1);
    CHECK(of(verb::flags).last == 1);
    CHECK(of(verb::flags).weight == 0);
    CHECK(of(verb::read_one).weight == 2.5);
    CHECK(of(verb::noop).verb == "noop");
    CHECK(of(verb::noop).wanted());
    CHECK_FALSE(of(verb::idle).wanted());
}

TEST_CASE("profile: weights of which none is ever drawn want nothing") {
    const auto given = parse_profile("[weights]\nnoop = 1\n", "x.toml");
    REQUIRE(given.has_value());
    CHECK_FALSE(wanted_of(*given, "mine").actions[static_cast<std::size_t>(verb::noop)].wanted());
}
