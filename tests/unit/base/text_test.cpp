// SPDX-License-Identifier: GPL-3.0-or-later
// Text helpers, and above all that nothing from outside reaches a terminal as it came.
#include "base/text.hpp"

#include "base/random.hpp"

#include <catch2/catch.hpp>

using namespace postal::base;
using namespace std::string_literals;
using strings = std::vector<std::string_view>;

TEST_CASE("text: case, trimming, splitting") {
    CHECK(lower("MAIL From:<X@\xc3\x84>") == "mail from:<x@\xc3\x84>");
    CHECK(iequals("EHLO", "ehlo"));
    CHECK_FALSE(iequals("EHLO", "ehl"));
    CHECK_FALSE(iequals("[", "{"));
    CHECK(trim(" \t a b \r\n") == "a b");
    CHECK(trim(" \r\n").empty());
    CHECK(split("a,b,,c", ',') == strings{"a", "b", "", "c"});
    CHECK(split("", ',') == strings{""});
    CHECK(split("a,", ',') == strings{"a", ""});
    CHECK(fields(" a\t b  c ") == strings{"a", "b", "c"});
    CHECK(fields(" \t").empty());
    CHECK(join({"a", "b"}, ", ") == "a, b");
}

TEST_CASE("text: words are written as a shell reads them") {
    CHECK(shell_line({"rm", "-d", "/a_b/c.d"}) == "rm -d /a_b/c.d");
    CHECK(shell_line({"a b", "", "it's", "$x", "~"}) == "'a b' '' 'it'\\''s' '$x' '~'");
    CHECK(shell_line({"[::1]:25", "a b"}, [](char c) { return c != ' '; }) == "[::1]:25 'a b'");
}

TEST_CASE("text: printable") {
    struct row {
        std::string text;
        std::size_t limit;
        std::string_view wanted;
        std::string_view reason;
    };
    const std::vector<row> table{
        {"550 no", 20, "550 no", "plain"},
        {"a\r\nb\tc", 20, "a\\r\\nb\\tc", "line ends"},
        {"\x1b[2J", 20, "\\x1b[2J", "a terminal's escape"},
        {"a\0b"s, 20, "a\\x00b", "NUL"},
        {"\x7f", 20, "\\x7f", "DEL"},
        {"Gr\xc3\xbc\xc3\x9f", 20, "Gr\xc3\xbc\xc3\x9f", "UTF-8 stays"},
        {"\xff\xc3", 20, "\\xff\\xc3", "not UTF-8"},
        {"\xc0\xaf", 20, "\\xc0\\xaf", "overlong"},
        {"\xed\xa0\x80", 20, "\\xed\\xa0\\x80", "a surrogate"},
        {"\xc2\x9b", 20, "\\xc2\\x9b", "a C1 control"},
        {"\xe2\x80\xae", 20, "\\xe2\\x80\\xae", "right-to-left override"},
        {"\xef\xbf\xbf", 20, "\\xef\\xbf\\xbf", "no character"},
        {"\xef\xbf\xbd", 20, "\xef\xbf\xbd", "the replacement character is one"},
        {"abcdef", 6, "abcdef", "exactly fits"},
        {"abcdefg", 6, "abc...", "cut"},
        {"ab\xc3\xbc"
         "defg",
         6, "ab...", "never within a character"},
        {"\x01\x01", 6, "...", "never within an escape"},
        {"abc", 2, "..", "a limit below the dots"},
        {"abc", 0, "", "no room at all"},
    };
    for (const auto& [text, limit, wanted, reason] : table) {
        INFO(reason);
        CHECK(printable(text, limit) == wanted);
    }
}

TEST_CASE("text: printable keeps to its limit, is valid UTF-8 and stable, whatever comes") {
    random_source random(3);
    for (int i = 0; i < 3000; ++i) {
        std::string text(random.below(40), ' ');
        for (char& c : text)
            c = static_cast<char>(random.next());
        const std::size_t limit = random.below(30);
        const std::string shown = printable(text, limit);
        REQUIRE(shown.size() <= limit);
        REQUIRE(is_valid_utf8(shown));
        REQUIRE(printable(shown, limit) == shown);
    }
}

TEST_CASE("text: a near name is found and a far one is not") {
    const std::vector<std::string> known = {"--duration", "--rate",  "--record",
                                            "-t",         "message", "to"};
    struct row {
        const char *mistyped, *wanted, *reason;
    };
    const row table[] = {
        {"--durations", "--duration", "one letter more"},
        {"--dration", "--duration", "one letter less"},
        {"--raet", "--rate", "two letters swapped"},
        {"--dur", "--duration", "the start of it"},
        {"mesage", "message", "in the middle"},
        {"--verbose", "", "nothing like it"},
        {"xyzzy", "", "nothing like it"},
        {"foo", "", "more than half of it would change"},
    };
    for (const auto& [mistyped, wanted, reason] : table) {
        INFO(reason);
        CHECK(nearest(mistyped, known) == wanted);
    }
}

TEST_CASE("text: lines that are too long go on below themselves") {
    CHECK(columns_of("µs") == 2);
    struct row {
        std::string_view text, wanted, reason;
    };
    const row rows[] = {
        {"short\n\nlines", "short\n\nlines", "nothing to do"},
        {"aaaa bbbb cccc", "aaaa bbbb\n  cccc", "further in than the first"},
        {"  label   aaa bbb", "  label   aaa\n          bbb", "below the text behind a label"},
        {"  label   µµµ bbb", "  label   µµµ\n          bbb", "columns, not octets"},
        {"aaaaaaaaaaaaaaaaaaa b", "aaaaaaaaaaaaaaaaaaa\n  b",
         "a word that is too long stays whole"},
        {"a  b  c d e f g h i j", "a  b  c d e f\n   g h i j", "blanks within stay"},
        {"", "", "nothing"},
    };
    for (const row& one : rows) {
        CAPTURE(one.reason);
        CHECK(wrapped(one.text, 13) == one.wanted);
    }
}
