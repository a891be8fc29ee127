// SPDX-License-Identifier: GPL-3.0-or-later
#include "proto/imap/parser.hpp"

#include <catch2/catch.hpp>

#include <string>
#include <vector>

using namespace postal::proto;
using kind = imap_token_kind;

namespace {

using tokens = std::vector<std::string>;

// What a row says of a token. Pieces of a literal are one, however they come.
void note(const imap_token& token, tokens& into, bool& in_piece) {
    const std::string text(token.text);
    const bool piece = token.kind == kind::literal_piece;
    if (piece && in_piece) {
        into.back() += text;
        return;
    }
    in_piece = piece;
    switch (token.kind) {
        case kind::atom:
            return into.push_back(text);
        case kind::number:
            return into.push_back("#" + std::to_string(token.number));
        case kind::quoted:
            return into.push_back('"' + text + '"');
        case kind::literal_begin:
            return into.push_back("{" + std::to_string(token.number));
        case kind::literal_piece:
            return into.push_back("=" + text);
        case kind::literal_end:
            return into.push_back("}");
        case kind::list_open:
            return into.push_back("(");
        case kind::list_close:
            return into.push_back(")");
        case kind::text:
            return into.push_back("~" + text);
        case kind::end:
            return into.push_back(".");
        default:
            return into.push_back("!" + text);
    }
}

// Cuts the input at every place of `cuts`; text is taken behind OK, as its owner does.
tokens read(std::string_view input, const std::vector<std::size_t>& cuts) {
    imap_parser parser;
    tokens found;
    bool in_piece = false;
    std::size_t begin = 0;
    for (const std::size_t cut : cuts) {
        // Its own memory, so that a view into an earlier piece is found out.
        const std::string piece(input.substr(begin, cut - begin));
        begin = cut;
        std::string_view left = piece;
        while (true) {
            const imap_token token = parser.next(left);
            left.remove_prefix(token.consumed);
            if (token.kind == kind::need_more) break;
            note(token, found, in_piece);
            if (token.kind == kind::broken) return found;
            if (token.kind == kind::atom && token.text == "OK") parser.take_text();
        }
        CHECK(left.empty());
    }
    return found;
}

std::vector<std::size_t> every_octet(std::string_view input) {
    std::vector<std::size_t> cuts;
    for (std::size_t at = 1; at <= input.size(); ++at)
        cuts.push_back(at);
    return cuts;
}

void check(std::string_view input, const tokens& wanted) {
    CHECK(read(input, {input.size()}) == wanted);
    CHECK(read(input, every_octet(input)) == wanted);
    for (std::size_t at = 0; at <= input.size(); ++at) {
        if (read(input, {at, input.size()}) == wanted) continue;
        CAPTURE(at);
        CHECK(read(input, {at, input.size()}) == wanted);
    }
}

}  // namespace

TEST_CASE("imap_parser: the tokens of responses, however they are cut") {
    struct row {
        std::string_view input;
        tokens wanted;
        const char* reason;
    };
    const row rows[] = {
        {"* 23 EXISTS\r\n", {"*", "#23", "EXISTS", "."}, "RFC 3501 7.3.1"},
        {"* 1 X\n", {"*", "#1", "X", "."}, "LF alone"},
        {"*   a  \r\n", {"*", "a", "."}, "blanks are dropped"},
        {"\r\n", {"."}, "an empty line"},
        {"a1 OK [X] b \"(c\r\nx", {"a1", "OK", "~[X] b \"(c"}, "text is not looked into"},
        {"* OK\r\n* OK \r\n", {"*", "OK", "~", "*", "OK", "~"}, "no text"},
        {"OK a\rb\n", {"OK", "~a\rb"}, "a CR within text"},
        {"(\\Seen \\* $x) NIL\r\n", {"(", "\\Seen", "\\*", "$x", ")", "NIL", "."}, "flags"},
        {"(a(b)c)\r\n", {"(", "a", "(", "b", ")", "c", ")", "."}, "no blanks"},
        {"\"\" \"a b\"\r\n", {"\"\"", "\"a b\"", "."}, "quoted strings"},
        {R"("\"\\" "a\"" "\"a" "a\\b")"
         "\r\n",
         {R"(""\")", R"("a"")", R"(""a")", R"("a\b")", "."},
         "backslashes"},
        {"\"(a {1}\"b\r\n", {"\"(a {1}\"", "b", "."}, "specials within a string"},
        {"\"\xc3\xa9\" \xc3\xa9\r\n", {"\"\xc3\xa9\"", "\xc3\xa9", "."}, "8 bit"},
        {"{3}\r\na\r\nb\r\n", {"{3", "=a\r\n", "}", "b", "."}, "a literal"},
        {"{0}\r\n {1}\nx\r\n", {"{0", "}", "{1", "=x", "}", "."}, "empty, and with LF alone"},
        {{"~{2}\r\n\0\1 x\r\n", 12}, {"{2", {"=\0\1", 3}, "}", "x", "."}, "literal8, with NUL"},
        {"{2+}\r\n()(\"\")\r\n", {"{2", "=()", "}", "(", "\"\"", ")", "."}, "LITERAL+"},
        {"~ ~a a~\r\n", {"~", "~a", "a~", "."}, "a tilde that is no literal8"},
        {"BODY[HEADER.FIELDS (A \"b]\\\"\")]<0> {1}\r\n)",
         {"BODY[HEADER.FIELDS (A \"b]\\\"\")]<0>", "{1", "=)", "}"},
         "a section is one atom"},
        {"BODY[]{1}\r\nx", {"BODY[]", "{1", "=x", "}"}, "no blank before a literal"},
        {"[a b] ]\r\n", {"[a b]", "]", "."}, "brackets elsewhere"},
        {"007 9223372036854775807 9223372036854775808 99999999999999999999 1a 2:3\r\n",
         {"#7", "#9223372036854775807", "9223372036854775808", "99999999999999999999", "1a", "2:3",
          "."},
         "numbers, and what is none"},
        {"{9223372036854775807}\r\nab", {"{9223372036854775807", "=ab"}, "the largest literal"},
        {"{4294967296}\r\n", {"{4294967296"}, "more than 32 bits"},
    };
    for (const row& one : rows) {
        INFO(one.reason << ": " << one.input);
        check(one.input, one.wanted);
    }
}

TEST_CASE("imap_parser: what cannot be read is said, and said again") {
    struct row {
        std::string_view input;
        tokens wanted;
    };
    const row rows[] = {
        {"a)", {"a", "!unbalanced"}},
        {"(a\r\n", {"(", "a", "!unbalanced"}},
        {"a\rb", {"a", "!bare_cr"}},
        {{"a\0", 2}, {"a", "!control_character"}},
        {"a\tb", {"a", "!control_character"}},
        {"\x7f", {"!control_character"}},
        {"\"a\r\n", {"!open_string"}},
        {"\"a\n", {"!open_string"}},
        {{"\"\0", 2}, {"!open_string"}},
        {"\"\\\n", {"!open_string"}},
        {"BODY[a\r\n", {"!open_section"}},
        {"BODY[\"\\\n", {"!open_section"}},
        {{"OK \0\n", 5}, {"OK", "!nul"}},
        {"{}\r\n", {"!bad_literal"}},
        {"{+}\r\n", {"!bad_literal"}},
        {"{-1}\r\n", {"!bad_literal"}},
        {"{1 }\r\n", {"!bad_literal"}},
        {"{1++}\r\n", {"!bad_literal"}},
        {"{1}a", {"!bad_literal"}},
        {"{1}\r\r\n", {"!bad_literal"}},
        {"{9223372036854775808}\r\n", {"!literal_too_large"}},
        {"{99999999999999999999999999}\r\n", {"!literal_too_large"}},
    };
    for (const row& one : rows) {
        INFO(one.input);
        check(one.input, one.wanted);
    }
    imap_parser parser;
    CHECK(parser.next(")").kind == kind::broken);
    CHECK(parser.next("a ").text == "unbalanced");
    parser.reset();
    CHECK(parser.next("a ").kind == kind::atom);
}

TEST_CASE("imap_parser: hostile input is bounded") {
    struct row {
        std::string input;
        std::string_view problem;
        const char* reason;
    };
    std::string quotes = "\"";
    for (int i = 0; i < 100'000; ++i)
        quotes += "\\\"";
    const row rows[] = {
        {std::string(100'000, '('), "nested_too_deep", "nested 100,000 deep"},
        {std::string(100'000, 'a'), "line_too_long", "an endless atom"},
        {std::string(100'000, ' '), "line_too_long", "endless blanks"},
        {"\"" + std::string(100'000, 'a'), "line_too_long", "an endless string"},
        {quotes, "line_too_long", "an endless string of escapes"},
        {"[" + std::string(100'000, '"'), "line_too_long", "an endless section"},
        {"{" + std::string(100'000, '0'), "line_too_long", "an endless size"},
        {"OK " + std::string(100'000, 'x'), "line_too_long", "endless text"},
    };
    for (const row& one : rows) {
        INFO(one.reason);
        CHECK(read(one.input, {one.input.size()}).back() == "!" + std::string(one.problem));
        CHECK(read(one.input, every_octet(one.input)) == read(one.input, {one.input.size()}));
    }
    std::string words;
    for (int i = 0; i < 1'000'000; ++i)
        words += "1 ";
    CHECK(read(words, {words.size()}).back() == "!line_too_long");
}

TEST_CASE("imap_parser: the limits are exact") {
    const std::string fits(imap_parser::max_token - 1, 'a');
    CHECK(read(fits + " ", {fits.size() + 1}) == tokens{fits});
    const std::string too_long(imap_parser::max_token, 'a');
    CHECK(read(too_long + " ", {too_long.size() + 1}) == tokens{"!line_too_long"});
    const std::string deep(imap_parser::max_depth, '(');
    CHECK(read(deep, {deep.size()}).size() == imap_parser::max_depth);
    // Literals do not count towards the line.
    std::string literals;
    for (int i = 0; i < 20; ++i)
        literals += "{100000}\r\n" + std::string(100'000, 'x') + "\r\n";
    CHECK(read(literals, {literals.size()}).size() == 20 * 4);
}

TEST_CASE("imap_parser: content is never copied") {
    const std::string input = "{5}\r\nabcde\r\n";
    imap_parser parser;
    std::string_view left = input;
    imap_token token = parser.next(left);
    left.remove_prefix(token.consumed);
    CHECK(token.number == 5);
    token = parser.next(left.substr(0, 2));
    CHECK(token.text.data() == left.data());
    token = parser.next(left.substr(2));
    CHECK(token.text.data() == left.data() + 2);
    CHECK(token.text == "cde");
    CHECK(parser.next("").kind == kind::literal_end);
    CHECK(parser.next("").kind == kind::need_more);
}
