// SPDX-License-Identifier: GPL-3.0-or-later
#include "lmtp-deliver/agent_templates.hpp"

#include "lmtp-deliver/argv_template.hpp"
#include "support.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <string>
#include <vector>

using namespace postal;
using namespace postal::lmtp_deliver;

namespace {

base::expected<std::vector<agent>> load_text(const std::string& text) {
    const test::temporary_file file(text);
    return load_agents(file.path());
}

std::vector<agent> known() {
    auto agents = built_in_agents();
    if (!agents.has_value()) FAIL(agents.error().message);
    return std::move(*agents);
}

}  // namespace

TEST_CASE("agents: three are built in, each with a template that is accepted and what it needs") {
    std::vector<std::string> names;
    for (const agent& each : known()) {
        CAPTURE(each.name);
        names.push_back(each.name);
        const auto made = argv_template::parse(each.command);
        if (!made.has_value()) FAIL(made.error().message);
        CHECK(made->program().front() == '/');
        CHECK(made->uses(placeholder::from));
        CHECK(made->uses(placeholder::to_user));
        CHECK_FALSE(each.about.empty());
        CHECK_FALSE(each.root.empty());  // all three become the recipient
    }
    CHECK(names == std::vector<std::string>{"dovecot", "maildrop", "procmail"});
}

TEST_CASE("agents: the compiled ones are those of the sample") {
    const auto sample = load_agents(test::sample_path("agents.toml"));
    REQUIRE(sample.has_value());
    const auto same = [](const agent& a, const agent& b) {
        return a.name == b.name && a.command == b.command && a.root == b.root && a.about == b.about;
    };
    const std::vector<agent> compiled = known();
    CHECK(std::equal(compiled.begin(), compiled.end(), sample->begin(), sample->end(), same));
}

TEST_CASE("agents: the built-in templates become the argv that was tried by hand") {
    const expansion values{.from = "a@example.com",
                           .to = "bob+work@example.net",
                           .to_user = "bob",
                           .to_domain = "example.net",
                           .to_detail = "work"};
    struct row {
        std::string name;
        std::vector<std::string> wanted;
    };
    const row rows[]{
        {"dovecot",
         {"/usr/lib/dovecot/dovecot-lda", "-e", "-f", "a@example.com", "-a", "bob+work@example.net",
          "-d", "bob@example.net"}},
        {"maildrop", {"/usr/bin/maildrop", "-f", "a@example.com", "-d", "bob", "work"}},
        {"procmail", {"/usr/bin/procmail", "-t", "-f", "a@example.com", "-a", "work", "-d", "bob"}},
    };
    for (const row& each : rows) {
        CAPTURE(each.name);
        const auto text = find_template(each.name, known());
        REQUIRE(text.has_value());
        CHECK(argv_template::parse(text->command).value().expand(values) == each.wanted);
    }
}

TEST_CASE("agents: a name, a path and a template are told apart") {
    const std::vector<agent> agents{{"one", "/bin/one -a", "is careful", ""},
                                    {"two-b", "/bin/two", "", ""}};
    struct row {
        std::string text, wanted, reason, root{};
    };
    const row rows[]{
        {"one", "/bin/one -a", "a name", "is careful"},
        {"two-b", "/bin/two", "with a dash"},
        {"/bin/x", "/bin/x", "a path is a template without arguments"},
        {"./one", "./one", "a path below the working directory"},
        {"one -b", "one -b", "more than a word is a template"},
        {"one\t", "one\t", "a tab is a blank"},
        {"'one'", "'one'", "in quotes it is a program"},
        {"%to%", "%to%", "left to the template's parser to refuse"},
        {"", "", "left to the template's parser to refuse"},
    };
    for (const row& each : rows) {
        CAPTURE(each.text, each.reason);
        const auto found = find_template(each.text, agents);
        REQUIRE(found.has_value());
        CHECK(found->command == each.wanted);
        CHECK(found->root == each.root);
    }
}

TEST_CASE("agents: a word that is no known name is refused with those that are") {
    const auto found = find_template("dovecott", known());
    REQUIRE_FALSE(found.has_value());
    CHECK(found.error().message ==
          "\"dovecott\" is no known agent; did you mean dovecot? known: dovecot, maildrop, "
          "procmail; or give a program with its path");
    const auto other = find_template("Xyzzy", known());
    REQUIRE_FALSE(other.has_value());
    CHECK(other.error().message ==
          "\"Xyzzy\" is no known agent; known: dovecot, maildrop, procmail; or give a program with "
          "its path");
}

TEST_CASE("agents: a file takes the place of the built-in ones") {
    const auto agents =
        load_text("[a-1_B]\ntemplate = '/bin/x \"%to%\"'\n[b]\ntemplate='/bin/y'\n");
    if (!agents.has_value()) FAIL(agents.error().message);
    REQUIRE(agents->size() == 2);
    CHECK(agents->front().name == "a-1_B");
    CHECK(agents->front().command == "/bin/x \"%to%\"");
    CHECK(agents->front().about.empty());
    CHECK(agents->front().root.empty());
}

TEST_CASE("agents: a malformed file is refused with file and line") {
    struct row {
        std::string text, wanted, reason;
    };
    const row rows[]{
        {"", "toml: no agent in it", "empty"},
        {"# nothing\n", "toml: no agent in it", "only a comment"},
        {"template = '/bin/x'\n", "toml:1: template stands outside a table", "no name"},
        {"[a]\n", "toml: [a] has no template", "an empty table"},
        {"[a]\nabout = 'x'\n", "toml: [a] has no template", "only an about"},
        {"[a]\ntemplate = ''\n", "toml:2: template: column 1: the template is empty", "empty"},
        {"[a]\n\ntemplate = '/x $a'\n", "toml:3: template: column 4: $ is",
         "refused by the parser"},
        {"[a]\ntemplate = ['/bin/x']\n", "toml:2: template of [a] is no text", "a list"},
        {"[a]\ncommand = '/bin/x'\n", "toml:2: command is unknown", "another key"},
        {"['a b']\ntemplate = '/bin/x'\n", "toml:2: \"a b\" is no name", "a blank"},
        {"['a/b']\ntemplate = '/bin/x'\n", "toml:2: \"a/b\" is no name", "a path"},
        {"['']\ntemplate = '/bin/x'\n", "toml:2: \"\" is no name", "nothing"},
        {"[a.b]\ntemplate = '/bin/x'\n", "b of [a] is no text", "a table in a table"},
        {"[a]\ntemplate = '/bin/x'\n[a]\n", "toml:3: ", "twice"},
        {"[a\n", "toml:1: ", "no TOML"},
    };
    for (const row& each : rows) {
        CAPTURE(each.text, each.reason);
        const auto agents = load_text(each.text);
        REQUIRE_FALSE(agents.has_value());
        CHECK_THAT(agents.error().message, Catch::Contains(each.wanted));
        CHECK(agents.error().message.find('\n') == std::string::npos);
    }
    const auto missing = load_agents("/nowhere/at/all");
    REQUIRE_FALSE(missing.has_value());
    CHECK(missing.error().message == "/nowhere/at/all: cannot be read: No such file or directory");
}
