// SPDX-License-Identifier: GPL-3.0-or-later
#include "lmtp-deliver/exit_statuses.hpp"

#include "support.hpp"

#include <catch2/catch.hpp>

#include <cerrno>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

using namespace postal;
using namespace postal::lmtp_deliver;
using namespace std::string_literals;

namespace {

struct end_row {
    agent_end end;
    delivery_reply wanted;
    std::string reason;  // why this row is here
};

constexpr agent_end exited(int status) {
    return {agent_fate::exited, status};
}

delivery_reply deferred(std::string text) {
    return {451, "4.3.0", std::move(text)};
}

delivery_reply failed(std::string enhanced, std::string text) {
    return {554, std::move(enhanced), std::move(text)};
}

const end_row default_rows[]{
    {exited(0), {250, "2.1.5", "Delivered"}, "the only one that has delivered"},
    {exited(64), failed("5.3.0", "Agent ended with status 64 (command line usage error)"),
     "Postfix: dsn=5.3.0, bounced"},
    {exited(65), failed("5.6.0", "Agent ended with status 65 (data format error)"),
     "Postfix: dsn=5.6.0, bounced"},
    {exited(66), failed("5.3.0", "Agent ended with status 66 (cannot open input)"),
     "Postfix: dsn=5.3.0, bounced; not in the issue's list, so as any other"},
    {exited(67),
     {550, "5.1.1", "Agent ended with status 67 (user unknown)"},
     "Postfix: dsn=5.1.1, bounced"},
    {exited(68), failed("5.3.0", "Agent ended with status 68 (host name unknown)"),
     "Postfix: dsn=5.1.2, bounced; here as any other"},
    {exited(69), failed("5.3.0", "Agent ended with status 69 (service unavailable)"),
     "Postfix: dsn=5.3.0, bounced"},
    {exited(70), failed("5.3.0", "Agent ended with status 70 (internal software error)"),
     "Postfix: dsn=5.3.0, bounced"},
    {exited(71), deferred("Agent ended with status 71 (system resource problem)"),
     "Postfix: dsn=4.3.0, deferred"},
    {exited(72), failed("5.3.0", "Agent ended with status 72 (system file missing)"),
     "Postfix: dsn=5.3.0, bounced; here as any other"},
    {exited(73),
     {550, "5.2.0", "Agent ended with status 73 (cannot create output file)"},
     "Postfix: dsn=5.2.0, bounced"},
    {exited(74), failed("5.3.0", "Agent ended with status 74 (input/output error)"),
     "Postfix: dsn=5.3.0, bounced"},
    {exited(75), deferred("Agent ended with status 75 (temporary failure)"),
     "Postfix: dsn=4.3.0, deferred"},
    {exited(76), failed("5.3.0", "Agent ended with status 76 (remote error in protocol)"),
     "Postfix: dsn=5.5.0, bounced; here as any other"},
    {exited(77),
     {550, "5.7.0", "Agent ended with status 77 (permission denied)"},
     "Postfix: dsn=5.7.0, bounced"},
    {exited(78), failed("5.3.5", "Agent ended with status 78 (configuration error)"),
     "Postfix: dsn=5.3.5, bounced"},
    {exited(1), failed("5.3.0", "Agent ended with status 1"), "Postfix: dsn=5.3.0, bounced"},
    {exited(63), failed("5.3.0", "Agent ended with status 63"), "just below sysexits.h"},
    {exited(79), failed("5.3.0", "Agent ended with status 79"), "just above"},
    {exited(127), failed("5.3.0", "Agent ended with status 127"), "a shell did not find it"},
    {exited(255), failed("5.3.0", "Agent ended with status 255"), "the highest"},
    {{agent_fate::signalled, 9},
     deferred("Agent was ended by signal 9"),
     "Postfix: dsn=4.3.0, deferred"},
    {{agent_fate::timed_out, 0},
     deferred("Agent took too long"),
     "the issue's; Postfix bounces it with dsn=5.3.0"},
    {{agent_fate::not_started, ENOENT},
     deferred("Agent could not be started: No such file or directory"),
     "the errno's text"},
};

base::expected<exit_statuses> load_text(const std::string& text) {
    const test::temporary_file file(text);
    return exit_statuses::load(file.path());
}

std::string all_lines_of(const std::string& path) {
    std::ifstream file(path);
    REQUIRE(file);
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
}

}  // namespace

TEST_CASE("exit statuses: each end of an agent has its reply") {
    const exit_statuses table;
    for (const end_row& each : default_rows) {
        CAPTURE(each.end.fate, each.end.number, each.reason);
        const delivery_reply found = table.judge(each.end, "");
        CHECK(found.code == each.wanted.code);
        CHECK(found.enhanced == each.wanted.enhanced);
        CHECK(found.text == each.wanted.text);
    }
}

TEST_CASE("exit statuses: what the agent printed stands behind the sentence") {
    const exit_statuses table;
    CHECK(table.judge(exited(67), "no bob\nhere\n").text ==
          "Agent ended with status 67 (user unknown): no bob");
    CHECK(table.judge(exited(0), "\nstored\n").text == "Delivered: stored");
    CHECK(table.judge(exited(0), " \n\t\n").text == "Delivered");
    const agent_end longest{agent_fate::not_started, ENOENT};
    CHECK(table.judge(longest, std::string(100000, 'x')).text.size() < 450);
}

TEST_CASE("exit statuses: a file overrides single ends") {
    const auto table = load_text(
        "[exit]\n75 = \"450 4.2.1 Not yet\"\n99 = \"250 2.0.0\"\n67 = \"451 4.1.1\"\n"
        "\"signal\" = \"554 5.3.0 Broken\"\n\"not started\" = \"421 4.3.2  Soon \"\n"
        "timeout = \"554 5.3.0\"\nother = \"451 4.3.5\"\n0 = \"451 4.0.0\"\n");
    if (!table.has_value()) FAIL(table.error().message);
    const end_row rows[]{
        {exited(75), {450, "4.2.1", "Not yet"}, "with a text"},
        {exited(99), {250, "2.0.0", "Delivered"}, "qmail's status for done"},
        {exited(67), {451, "4.1.1", "Agent ended with status 67 (user unknown)"}, "without"},
        {exited(66), {451, "4.3.5", "Agent ended with status 66 (cannot open input)"}, "other"},
        {exited(77), {550, "5.7.0", "Agent ended with status 77 (permission denied)"}, "default"},
        {exited(0), {451, "4.0.0", "Agent ended with status 0"}, "not even 0 is Delivered"},
        {{agent_fate::signalled, 6}, failed("5.3.0", "Broken"), "a signal"},
        {{agent_fate::timed_out, 0}, failed("5.3.0", "Agent took too long"), "a timeout"},
        {{agent_fate::not_started, EACCES}, {421, "4.3.2", "Soon"}, "no start; blanks trimmed"},
    };
    for (const end_row& each : rows) {
        CAPTURE(each.reason);
        CHECK(table->judge(each.end, "") == each.wanted);
    }
    CHECK(table->judge(exited(75), "busy").text == "Not yet: busy");
}

TEST_CASE("exit statuses: a malformed file is refused with file and line") {
    struct row {
        std::string text;
        int line;
        std::string wanted, reason;
    };
    const row rows[]{
        {"[exit]\n75 = 451\n", 2, "is no text", "a number"},
        {"75 = \"451 4.3.0\"\n", 1, "outside a table", "no table"},
        {"[exits]\n75 = \"451 4.3.0\"\n", 2, "[exits] is unknown", "another table"},
        {"[exits]\n", 1, "[exits] is unknown", "another table without keys"},
        {"[exit]\n256 = \"451 4.3.0\"\n", 2, "\"256\" is no end", "no such status"},
        {"[exit]\n075 = \"451 4.3.0\"\n", 2, "\"075\" is no end", "two ways to write one"},
        {"[exit]\n-1 = \"451 4.3.0\"\n", 2, "\"-1\" is no end", "below 0"},
        {"[exit]\n\"\" = \"451 4.3.0\"\n", 2, "\"\" is no end", "nothing"},
        {"[exit]\nsignals = \"451 4.3.0\"\n", 2, "\"signals\" is no end", "mistyped"},
        {"[exit]\n75 = \"\"\n", 2, "75: \"\" is no reply code", "nothing"},
        {"[exit]\n75 = \"45 4.3.0\"\n", 2, "is no reply code", "two digits"},
        {"[exit]\n75 = \"4510 4.3.0\"\n", 2, "is no reply code", "four"},
        {"[exit]\n75 = \"45x 4.3.0\"\n", 2, "is no reply code", "a letter"},
        {"[exit]\n\n75 = \"351 3.0.0\"\n", 3, "351 is no code", "class 3 is for DATA"},
        {"[exit]\n75 = \"199 1.0.0\"\n", 2, "199 is no code", "below 200"},
        {"[exit]\n75 = \"600 6.0.0\"\n", 2, "600 is no code", "above 599"},
        {"[exit]\n75 = \"451\"\n", 2, "\"\" is no enhanced", "no enhanced code"},
        {"[exit]\n75 = \"451 Try again\"\n", 2, "\"Try\" is no enhanced", "a text in its place"},
        {"[exit]\n75 = \"451 4.3\"\n", 2, "is no enhanced", "two numbers"},
        {"[exit]\n75 = \"451 4.3.1000\"\n", 2, "is no enhanced", "RFC 3463: three digits"},
        {"[exit]\n75 = \"451 4..0\"\n", 2, "is no enhanced", "an empty number"},
        {"[exit]\n75 = \"451 5.3.0\"\n", 2, "different classes", "deferred or not?"},
        {"[exit]\n75 = \"451 4.3.0 a\\nb\"\n", 2, "printable ASCII", "a second line"},
        {"[exit]\n75 = \"451 4.3.0 \xc3\xa4\"\n", 2, "printable ASCII", "not ASCII"},
        {"[exit]\n75 = \"451 4.3.0 " + std::string(201, 'x') + "\"\n", 2, "at most 200", "long"},
        {"[exit]\nother = \"250 2.0.0\"\n", 2, "other: 250 would call", "any status delivered"},
        {"[exit]\nsignal = \"250 2.0.0\"\n", 2, "signal: 250 would call", "a lie"},
        {"[exit]\ntimeout = \"250 2.0.0\"\n", 2, "timeout: 250 would call", "a lie"},
        {"[exit]\n\"not started\" = \"250 2.0.0\"\n", 2, "would call", "a lie"},
        {"[exit]\n75 = \n", 2, "", "no TOML"},
        {"[exit]\n75 = \"451 4.3.0\"\n75 = \"451 4.3.0\"\n", 3, "", "twice"},
    };
    for (const row& each : rows) {
        CAPTURE(each.text, each.reason);
        const auto table = load_text(each.text);
        REQUIRE_FALSE(table.has_value());
        CHECK_THAT(table.error().message, Catch::Contains(fmt::format("toml:{}: ", each.line)));
        CHECK_THAT(table.error().message, Catch::Contains(each.wanted));
        CHECK(table.error().message.find('\n') == std::string::npos);
    }
}

TEST_CASE("exit statuses: a file that is not there is refused by name") {
    const auto table = exit_statuses::load("/nowhere/at/all");
    REQUIRE_FALSE(table.has_value());
    CHECK(table.error().message == "/nowhere/at/all: cannot be read: No such file or directory");
}

TEST_CASE("exit statuses: the sample holds every default") {
    const std::string sample = all_lines_of(test::sample_path("exit-statuses.toml"));
    const std::regex commented_out("^#([\"a-z0-9]+[a-z \"]* = )", std::regex::multiline);
    const std::string uncommented = std::regex_replace(sample, commented_out, "$1");
    CHECK(std::count(uncommented.begin(), uncommented.end(), '=') == 16);
    for (const std::string& text : {sample, uncommented}) {
        const auto table = load_text(text);
        if (!table.has_value()) FAIL(table.error().message);
        for (const end_row& each : default_rows) {
            CAPTURE(each.end.number);
            CHECK(table->judge(each.end, "") == each.wanted);
        }
    }
}

TEST_CASE("exit statuses: the first line of an agent's output fits a reply") {
    struct row {
        std::string output, wanted, reason;
    };
    const row rows[]{
        {"", "", "nothing"},
        {"\n\r\n \t\n", "", "only blanks"},
        {"a", "a", "no line end"},
        {"a\nb\n", "a", "one of two"},
        {"\n\n  a b \nc", "a b", "the first that is not blank, trimmed"},
        {"a\r\nb", "a", "CRLF"},
        {"a\rb", "a", "CR alone begins a line anew"},
        {"a\tb", "a b", "a tab is a blank"},
        {"a\0b"s, "a?b", "NUL"},
        {"\x1b[1ma\x7f", "?[1ma?", "nothing for a terminal"},
        {"j\xc3\xbc", "j??", "octets that are not ASCII"},
        {std::string(200, 'x'), std::string(200, 'x'), "exactly 200 octets"},
        {std::string(201, 'x'), std::string(200, 'x'), "cut"},
        {std::string(199, 'x') + " y", std::string(199, 'x'), "no blank at the cut"},
        {std::string(300, ' ') + "a", "a", "blanks do not count"},
    };
    for (const row& each : rows) {
        CAPTURE(each.output, each.reason);
        CHECK(first_line(each.output) == each.wanted);
    }
}
