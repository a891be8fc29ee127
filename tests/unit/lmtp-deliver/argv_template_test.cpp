// SPDX-License-Identifier: GPL-3.0-or-later
#include "lmtp-deliver/argv_template.hpp"

#include "base/random.hpp"
#include "base/text.hpp"

#include <catch2/catch.hpp>

#include <array>
#include <cstdio>
#include <memory>
#include <string>
#include <utility>
#include <vector>

using namespace postal;
using namespace postal::lmtp_deliver;
using namespace std::string_literals;

namespace {

using words = std::vector<std::string>;

struct split_row {
    std::string text;
    words wanted;
    std::string reason;  // why this row is here
};

struct refused_row {
    std::string text;
    std::size_t column;
    std::string wanted;  // part of the message
    std::string reason;
};

const expansion sample{.from = "ann@example.com",
                       .from_user = "ann",
                       .from_domain = "example.com",
                       .to = "bob+work@example.net",
                       .to_user = "bob",
                       .to_domain = "example.net",
                       .to_detail = "work",
                       .client = "192.0.2.7",
                       .helo = "mx.example.org",
                       .id = "4F2A",
                       .size = 1234,
                       .recipients = 3};

argv_template parsed(const std::string& text) {
    auto made = argv_template::parse(text);
    if (!made.has_value()) FAIL(text << ": " << made.error().message);
    return std::move(*made);
}

// No row holds a percent sign, so that a shell must split each of them alike.
const split_row shell_rows[]{
    {"/bin/true", {"/bin/true"}, "a program alone"},
    {"/bin/x -a b", {"/bin/x", "-a", "b"}, "blanks"},
    {"  /bin/x\t -a \t", {"/bin/x", "-a"}, "runs of blanks and tabs, at the ends too"},
    {"/bin/x ''", {"/bin/x", ""}, "an empty argument in single quotes"},
    {"/bin/x \"\"", {"/bin/x", ""}, "an empty argument in double quotes"},
    {"/bin/x '' \"\" ''", {"/bin/x", "", "", ""}, "each stays an argument"},
    {"/bin/x ''\"\"", {"/bin/x", ""}, "two empty quotes side by side are one"},
    {"/bin/x a'' ''b", {"/bin/x", "a", "b"}, "empty quotes add nothing to a word"},
    {"/bin/x 'a b'", {"/bin/x", "a b"}, "a blank in single quotes"},
    {"/bin/x 'a\tb'", {"/bin/x", "a\tb"}, "a tab in quotes is data"},
    {"/bin/x \"a  b\"", {"/bin/x", "a  b"}, "blanks in double quotes"},
    {"/bin/x a\\ b", {"/bin/x", "a b"}, "a blank behind a backslash"},
    {"/bin/x \\ ", {"/bin/x", " "}, "a blank alone"},
    {"/bin/x 'a'b\"c\"\\d", {"/bin/x", "abcd"}, "all kinds in one word"},
    {"/bin/x 'a\\b'", {"/bin/x", "a\\b"}, "no escapes in single quotes"},
    {"/bin/x 'a\\'", {"/bin/x", "a\\"}, "nor before the closing quote"},
    {"/bin/x 'a\"b'", {"/bin/x", "a\"b"}, "the other quote"},
    {"/bin/x \"a'b\"", {"/bin/x", "a'b"}, "and the other way round"},
    {"/bin/x \"a\\\"b\"", {"/bin/x", "a\"b"}, "\\\" in double quotes"},
    {"/bin/x \"a\\\\b\"", {"/bin/x", "a\\b"}, "\\\\ in double quotes"},
    {"/bin/x \"a\\\\\"", {"/bin/x", "a\\"}, "\\\\ before the closing quote"},
    {"/bin/x \"a\\$b\\`c\"", {"/bin/x", "a$b`c"}, "\\$ and \\` in double quotes, as POSIX 2.2.3"},
    {"/bin/x \"a\\nb\"", {"/bin/x", "a\\nb"}, "another backslash in double quotes stays"},
    {"/bin/x \"a\\ b\\'\"", {"/bin/x", "a\\ b\\'"}, "before a blank and a single quote too"},
    {"/bin/x a\\\\b", {"/bin/x", "a\\b"}, "an escaped backslash"},
    {"/bin/x \\'a\\\"", {"/bin/x", "'a\""}, "escaped quotes"},
    {"/bin/x \\n", {"/bin/x", "n"}, "not C: a backslash takes the next octet as it is"},
    {"/bin/x 'it'\\''s'", {"/bin/x", "it's"}, "the usual way to a single quote"},
    {"/bin/x '$|&;<>()*`?[{~#!'", {"/bin/x", "$|&;<>()*`?[{~#!"}, "specials in single quotes"},
    {"/bin/x \"|&;<>()*?[{~#!\"", {"/bin/x", "|&;<>()*?[{~#!"}, "most in double quotes"},
    {"/bin/x \\$\\|\\&\\;\\<\\>\\(\\)\\*\\`", {"/bin/x", "$|&;<>()*`"}, "behind backslashes"},
    {"/bin/x \\?\\[\\{\\~ \\#", {"/bin/x", "?[{~", "#"}, "and these"},
    {"/bin/x a~ a#b ''~ ''#", {"/bin/x", "a~", "a#b", "~", "#"}, "~ and # within a word"},
    {"/bin/x a! !a !", {"/bin/x", "a!", "!a", "!"}, "! among the arguments"},
    {"/bin/x ] } ^ a,b @ + , .", {"/bin/x", "]", "}", "^", "a,b", "@", "+", ",", "."}, "harmless"},
    {"/bin/x a=b --c=d =", {"/bin/x", "a=b", "--c=d", "="}, "= among the arguments"},
    {"/bin/a=b x", {"/bin/a=b", "x"}, "a program with = in its path sets no variable"},
    {"\"/opt/my agent/x\" -a", {"/opt/my agent/x", "-a"}, "a program in quotes"},
    {"/opt/my\\ agent/x", {"/opt/my agent/x"}, "a program with a backslash"},
    {"/bin/x j\xc3\xbcrgen \xe2\x82\xac", {"/bin/x", "j\xc3\xbcrgen", "\xe2\x82\xac"}, "UTF-8"},
    {"/bin/x -- -", {"/bin/x", "--", "-"}, "dashes that the operator wrote"},
    {"/bin/x a\\\tb", {"/bin/x", "a\tb"}, "a tab behind a backslash"},
};

const split_row placeholder_rows[]{
    {"x %from%", {"x", "ann@example.com"}, "from"},
    {"x %from_user%", {"x", "ann"}, "from_user"},
    {"x %from_domain%", {"x", "example.com"}, "from_domain"},
    {"x %to%", {"x", "bob+work@example.net"}, "to"},
    {"x %to_user%", {"x", "bob"}, "to_user"},
    {"x %to_domain%", {"x", "example.net"}, "to_domain"},
    {"x %to_detail%", {"x", "work"}, "to_detail"},
    {"x %client%", {"x", "192.0.2.7"}, "client"},
    {"x %helo%", {"x", "mx.example.org"}, "helo"},
    {"x %id%", {"x", "4F2A"}, "id"},
    {"x %size%", {"x", "1234"}, "size"},
    {"x %recipients%", {"x", "3"}, "recipients"},
    {"x %%", {"x", "%"}, "a percent sign"},
    {"x %%%%", {"x", "%%"}, "two"},
    {"x %%from%%", {"x", "%from%"}, "no placeholder, but its name"},
    {"x %%%from%%%", {"x", "%ann@example.com%"}, "between percent signs"},
    {"x 100%%", {"x", "100%"}, "behind a number"},
    {"x%%y a", {"x%y", "a"}, "a percent sign in the program"},
    {"x '%to%'", {"x", "bob+work@example.net"}, "in single quotes"},
    {"x \"%to%\"", {"x", "bob+work@example.net"}, "in double quotes"},
    {"x \\%to%", {"x", "bob+work@example.net"}, "a backslash does not protect it"},
    {"x '%'to\"%\"", {"x", "bob+work@example.net"}, "nor do quotes in its middle"},
    {"x '%%'", {"x", "%"}, "%% in single quotes"},
    {"x a%to_user%b", {"x", "abobb"}, "within an element"},
    {"x %to_user%@%to_domain%", {"x", "bob@example.net"}, "two in one element"},
    {"x %id%%id%", {"x", "4F2A4F2A"}, "side by side"},
    {"x --to=%to_user% -f%from%", {"x", "--to=bob", "-fann@example.com"}, "behind an option"},
    {"x 'a %id% b'", {"x", "a 4F2A b"}, "between blanks of one element"},
    {"x /var/mail/%to_domain%/%to_user%/", {"x", "/var/mail/example.net/bob/"}, "in a path"},
    {"/usr/lib/dovecot/deliver -e -f %from% -d %to% -n",
     {"/usr/lib/dovecot/deliver", "-e", "-f", "ann@example.com", "-d", "bob+work@example.net",
      "-n"},
     "the issue's"},
};

const refused_row refused_rows[]{
    {"", 1, "empty", "nothing"},
    {" \t ", 1, "empty", "only blanks"},
    {"''", 1, "the program is empty", "a program without a name"},
    {"  \"\" a", 3, "the program is empty", "behind blanks"},
    {"x $a", 3, "$ is a variable", "a variable"},
    {"x a$", 4, "$ is", "at the end, where a shell would let it pass"},
    {"x a|y", 4, "| is a pipe", "a pipe"},
    {"x | y", 3, "| is a pipe", "between blanks"},
    {"x &", 3, "& is", "background"},
    {"x 2>&1", 4, "> is a redirection", "the first of them is named"},
    {"x;y", 2, "; is the end of a command", "a list"},
    {"x <a", 3, "< is", "input"},
    {"x >a", 3, "> is", "output"},
    {"x (a", 3, "( is a subshell", "a subshell"},
    {"x )", 3, ") is", "its end"},
    {"x *", 3, "* is a pattern", "a glob"},
    {"x `id`", 3, "` is a command substitution", "a substitution"},
    {"x a?", 4, "? is a pattern", "a glob of one octet"},
    {"x a[bc]", 4, "[ is a pattern", "a glob of a set"},
    {"x {a,b}", 3, "{ is a list in braces", "bash would make two words"},
    {"x ~/a", 3, "~ is a home directory", "at the beginning of a word"},
    {"~/x", 1, "~ is", "of the program"},
    {"x --home=~/a", 10, "~ is", "bash expands it there"},
    {"x a:~", 5, "~ is", "and there"},
    {"x # why", 3, "# is a comment", "what follows would be lost"},
    {"#x", 1, "# is", "of the program"},
    {"! x", 1, "! is a negation", "in front of the program"},
    {"!x", 1, "! is", "bash would look into its history"},
    {"HOME=/a x", 1, "HOME= would set a variable", "an assignment"},
    {" A_1='b' x", 2, "A_1= would set", "behind a blank, with quotes"},
    {"x \"$a\"", 4, "$ is", "double quotes do not protect it"},
    {"x \"a`b\"", 5, "` is", "nor a backquote"},
    {"x \"a\\a$\"", 7, "$ is", "behind a backslash that means itself"},
    {"x 'a'$b", 6, "$ is", "behind quotes"},
    {"x j\xc3\xbc$", 6, "$ is", "columns are octets"},
    {"x 'a b", 3, "single quote is never closed; end it with '", "the column of the quote"},
    {"x a'", 4, "single quote is never closed", "within a word"},
    {"x \"a b", 3, "double quote is never closed; end it with \"", "double"},
    {"x \"a\\\"", 3, "double quote is never closed", "its end is escaped"},
    {"x \"a\\", 3, "double quote is never closed", "ends with a backslash"},
    {"x 'a'\"b\" 'c", 10, "single quote", "the one that is open"},
    {"x \\", 3, "a backslash with nothing behind it", "trailing"},
    {"x a\\\\\\", 6, "a backslash with nothing behind it", "the third of three"},
    {"x %foo%", 3, "%foo% is unknown; known: %from%, %from_user%, ", "unknown"},
    {"x %From%", 3, "%From% is unknown", "in another case"},
    {"x a%to-user%", 4, "%to-user% is unknown", "another sign"},
    {"x %to%%x", 7, "%x is not finished", "behind a finished one"},
    {"x %from", 3, "%from is not finished", "at the end"},
    {"x %from %to%", 3, "%from is not finished", "the blank ends the element"},
    {"x '%from %to%'", 4, "%from is not finished; known: ", "in quotes too"},
    {"x %", 3, "% is not finished", "a percent sign alone"},
    {"x 5%,", 4, "% is not finished", "and %% for a percent sign"},
    {"x %to_user", 3, "%to%, %to_user%, %to_domain%, %to_detail%", "the list of known ones"},
    {"x %", 3, "%client%, %helo%, %id%, %size%, %recipients%, and %% for", "its end"},
    {"%to%", 1, "the program cannot depend", "a program from the network"},
    {"/bin/%to_user% a", 6, "the program cannot depend", "in the middle"},
    {"/a%%b/'x'%id% a", 10, "the program cannot depend", "behind a percent sign"},
    {"x a\nb", 4, "control character 0x0a", "a newline"},
    {"x 'a\nb'", 5, "control character 0x0a", "in quotes too"},
    {"x \"a\\\nb\"", 6, "control character 0x0a", "no continued lines"},
    {"x a\0b"s, 4, "control character 0x00", "argv ends at a NUL"},
    {"x a\r", 4, "control character 0x0d", "a file with CRLF"},
    {"\x1b[0mx", 1, "control character 0x1b", "forges what a terminal shows"},
    {"x \x7f", 3, "control character 0x7f", "DEL"},
};

std::string output_of(const std::string& command) {
    const std::unique_ptr<std::FILE, int (*)(std::FILE*)> pipe(::popen(command.c_str(), "r"),
                                                               ::pclose);
    REQUIRE(pipe != nullptr);
    std::string output;
    std::array<char, 4096> chunk{};
    while (const std::size_t got = std::fread(chunk.data(), 1, chunk.size(), pipe.get()))
        output.append(chunk.data(), got);
    return output;
}

}  // namespace

TEST_CASE("argv template: splits as a shell splits a plain command") {
    for (const split_row& each : shell_rows) {
        CAPTURE(each.text, each.reason);
        const auto made = argv_template::parse(each.text);
        if (!made.has_value()) FAIL(made.error().message);
        CHECK(made->expand(sample) == each.wanted);
        CHECK(made->size() == each.wanted.size());
        CHECK(made->program() == each.wanted.front());
        CHECK(made->text() == each.text);
    }
}

TEST_CASE("argv template: /bin/sh gives the same words") {
    for (const split_row& each : shell_rows) {
        CAPTURE(each.text, each.reason);
        std::string wanted;
        for (const std::string& word : each.wanted)
            wanted += "<" + word + ">";
        CHECK(output_of("printf '<%s>' " + each.text) == wanted);
    }
}

TEST_CASE("argv template: placeholders stand for the values of a delivery") {
    for (const split_row& each : placeholder_rows) {
        CAPTURE(each.text, each.reason);
        const auto made = argv_template::parse(each.text);
        if (!made.has_value()) FAIL(made.error().message);
        CHECK(made->expand(sample) == each.wanted);
    }
}

TEST_CASE("argv template: what a shell would do more is refused with its column") {
    for (const refused_row& each : refused_rows) {
        CAPTURE(each.text, each.reason);
        const auto made = argv_template::parse(each.text);
        REQUIRE_FALSE(made.has_value());
        const std::string& message = made.error().message;
        CHECK_THAT(message, Catch::StartsWith(fmt::format("column {}: ", each.column)));
        CHECK_THAT(message, Catch::Contains(each.wanted));
        CHECK(base::printable(message, 1000) == message);
    }
}

TEST_CASE("argv template: a value never becomes two arguments, nor none") {
    const argv_template made = parsed("x -f %from% -d %to%");
    const split_row rows[]{
        {"", {"x", "-f", "", "-d", ""}, "the null sender"},
        {"a b", {"x", "-f", "a b", "-d", "a b"}, "blanks"},
        {"' \"", {"x", "-f", "' \"", "-d", "' \""}, "quotes"},
        {"%to% %%", {"x", "-f", "%to% %%", "-d", "%to% %%"}, "no placeholder in a value"},
        {"$(id) `id`;\n", {"x", "-f", "$(id) `id`;\n", "-d", "$(id) `id`;\n"}, "no shell"},
    };
    for (const split_row& each : rows) {
        CAPTURE(each.text, each.reason);
        CHECK(made.expand({.from = each.text, .to = each.text}) == each.wanted);
    }
}

TEST_CASE("argv template: says which placeholders it uses") {
    const argv_template made = parsed("x %from_user% 'a%size%' %%to%%");
    CHECK(made.uses(placeholder::from_user));
    CHECK(made.uses(placeholder::size));
    CHECK_FALSE(made.uses(placeholder::from));
    CHECK_FALSE(made.uses(placeholder::to));
    CHECK_FALSE(made.uses(placeholder::recipients));
}

TEST_CASE("argv template: a dash from the network at the beginning of an argument is found") {
    constexpr std::size_t none = 999;
    expansion dashes = sample;
    dashes.from = "-ann@example.com";
    dashes.from_user = dashes.to_user = dashes.to = dashes.helo = dashes.id = "-b";
    dashes.to_detail = "";
    struct row {
        std::string text;
        std::size_t at_mail, at_rcpt;
        std::string reason;
    };
    const row rows[]{
        {"x -f %from%", 2, 2, "the sender is known at MAIL"},
        {"x %from_user%", 1, 1, "its local part"},
        {"x -d %to%", none, 2, "the recipient at RCPT"},
        {"x %to_user%@%to_domain%", none, 1, "at the beginning of two"},
        {"x %to% %helo%", 2, 1, "each stage finds its own first"},
        {"x -f%from%", none, none, "behind an option"},
        {"x --to=%to%", none, none, "behind a long option"},
        {"x '' %from%", 2, 2, "an empty argument counts"},
        {"x %from_domain%", none, none, "begins with no dash"},
        {"x %to_detail%%to%", none, 1, "behind an empty value"},
        {"x %to_detail%%from%", none, 1, "behind one that MAIL does not know"},
        {"x %from%%to%", 1, 1, "what follows does not matter"},
        {"x %id%", none, none, "an id is ours"},
        {"x %size%%from%", none, none, "behind a number"},
        {"x %recipients%%from%", none, none, "behind another"},
        {"x %to_detail%-a", none, none, "a dash of the operator's"},
        {"x - -- -a", none, none, "and these"},
    };
    for (const row& each : rows) {
        CAPTURE(each.text, each.reason);
        const argv_template made = parsed(each.text);
        CHECK(made.leading_dash(dashes, stage::mail).value_or(none) == each.at_mail);
        CHECK(made.leading_dash(dashes, stage::rcpt).value_or(none) == each.at_rcpt);
        CHECK_FALSE(made.leading_dash(sample, stage::rcpt).has_value());
    }
}

TEST_CASE("argv template: the operator's text for the null sender may begin with a dash") {
    const argv_template made = parsed("x %from%");
    expansion values{.from = "-", .null_sender = true};
    CHECK_FALSE(made.leading_dash(values, stage::rcpt).has_value());
    values.null_sender = false;
    CHECK(made.leading_dash(values, stage::rcpt) == 1U);
}

namespace {

constexpr std::array<std::pair<std::string_view, std::string_view expansion::*>, 10> text_values{{
    {"from", &expansion::from},
    {"from_user", &expansion::from_user},
    {"from_domain", &expansion::from_domain},
    {"to", &expansion::to},
    {"to_user", &expansion::to_user},
    {"to_domain", &expansion::to_domain},
    {"to_detail", &expansion::to_detail},
    {"client", &expansion::client},
    {"helo", &expansion::helo},
    {"id", &expansion::id},
}};

// A random octet with the quoting of a random kind around it.
std::string quoted(base::random_source& random, char c) {
    const std::string text(1, c);
    const bool escapable = "\"\\$`"s.find(c) != std::string::npos;
    switch (random.below(3)) {
        case 0:
            return c == '\'' ? "\\'" : "'" + text + "'";
        case 1:
            return "\"" + (escapable ? "\\" + text : text) + "\"";
        default:
            return "\\" + text;
    }
}

// A random template, and how to expand it without the code under test.
struct generated {
    struct part {
        std::string literal;
        std::size_t value = text_values.size();  // this one, or the literal
    };
    std::string text = "/bin/agent";
    std::vector<std::vector<part>> arguments;
};

generated generate(base::random_source& random) {
    generated made;
    made.arguments.resize(random.below(6));
    for (auto& parts : made.arguments) {
        made.text += random.below(2) == 0 ? " " : " \t ";
        parts.resize(random.below(5));
        if (parts.empty()) made.text += random.below(2) == 0 ? "''" : "\"\"";
        for (generated::part& each : parts) {
            if (random.below(3) == 0) {
                each.value = random.below(text_values.size());
                made.text += "%" + std::string(text_values[each.value].first) + "%";
                continue;
            }
            const char c = static_cast<char>(' ' + random.below(95));
            each.literal = std::string(1, c);
            made.text += c == '%' ? "%%" : quoted(random, c);
        }
    }
    return made;
}

std::string any_value(base::random_source& random) {
    constexpr std::string_view nasty = "-\"' \t\n\\%$`;@a+/.\xc3\xa4";
    std::string value(random.below(9), ' ');
    for (char& c : value)
        c = nasty[random.below(nasty.size())];
    return random.below(5) == 0 ? "%from%" + value : value;
}

words expanded(const generated& made, const expansion& values) {
    words wanted{"/bin/agent"};
    for (const auto& parts : made.arguments) {
        std::string& argument = wanted.emplace_back();
        for (const auto& each : parts) {
            argument += each.value == text_values.size()
                            ? each.literal
                            : std::string(values.*text_values[each.value].second);
        }
    }
    return wanted;
}

}  // namespace

TEST_CASE("argv template: the number of arguments does not depend on any address") {
    base::random_source random(20260101);
    for (int round = 0; round < 2000; ++round) {
        const generated made = generate(random);
        CAPTURE(round, made.text);
        const auto found = argv_template::parse(made.text);
        if (!found.has_value()) FAIL(found.error().message);
        REQUIRE(found->size() == made.arguments.size() + 1);
        for (int delivery = 0; delivery < 8; ++delivery) {
            std::array<std::string, text_values.size()> texts;
            expansion values;
            for (std::size_t i = 0; i < texts.size(); ++i) {
                texts[i] = any_value(random);
                values.*text_values[i].second = texts[i];
            }
            const words argv = found->expand(values);
            REQUIRE(argv.size() == found->size());
            REQUIRE(argv == expanded(made, values));
            const auto dash = found->leading_dash(values, stage::rcpt);
            if (dash) REQUIRE(argv[*dash].front() == '-');
        }
    }
}
