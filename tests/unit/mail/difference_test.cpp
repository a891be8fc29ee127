// SPDX-License-Identifier: GPL-3.0-or-later
#include "difference_play.hpp"
#include "mail/body_difference.hpp"

using namespace postal::mail;
using namespace difference_play;

TEST_CASE("difference: a whole message does not differ, whatever relays put around it") {
    for (const body_kind kind : test::all_kinds) {
        const std::string text = made(kind, 3000);
        CHECK(told(text) == "not changed");
        CHECK(told("Return-Path: <a@b>\r\nReceived: x\r\n" + text) == "not changed");
    }
}

TEST_CASE("difference: a cut is named at the octet, with and without a CRLF behind it") {
    for (const body_kind kind : test::all_kinds) {
        const sample one(kind, 1500);
        // Cuts that only take the final CRLF, or blanks at the end of a line, are something else.
        const std::size_t whole = one.text.size() - (one.text.ends_with("\r\n") ? 2 : 0);
        for (std::size_t length = one.head.size(); length < whole; ++length) {
            INFO(name_of(kind) << " " << length);
            const std::string cut = one.text.substr(0, length);
            const difference found = diagnosed(cut);
            if (found.kind == trailing_blanks_cut) {
                CHECK(one.text.find_first_not_of(" \t\r\n", length) == std::string::npos);
                continue;
            }
            REQUIRE(found.kind == truncated);
            REQUIRE(found.octet == length + 1);
            REQUIRE(found.size == one.text.size());
            const std::string_view rest = std::string_view(one.text).substr(length);
            if (rest.starts_with("\r\n") || cut.ends_with('\r') || cut.ends_with('\n')) continue;
            const difference supplied = diagnosed("Received: x\r\n" + cut + "\r\n");
            if (supplied.kind == trailing_blanks_cut || supplied.kind == dot_lost) {
                CHECK(whole - length < 4);
                continue;
            }
            REQUIRE(supplied.kind == truncated);
            REQUIRE(supplied.octet == length + 1);
        }
    }
    const sample one(body_kind::ascii, 1500);
    CHECK(told(one.text.substr(0, 1233)) == "truncated at byte 1234 of 1500");
    CHECK(told(one.head) == fmt::format("truncated at byte {} of 1500", one.head.size() + 1));
    CHECK(told(one.head.substr(0, one.head.size() - 2)) == "truncated within the headers");
    const std::size_t identity_at = one.text.find("X-Postal-Id");
    CHECK(diagnosed(one.text.substr(0, identity_at + 40)).kind == truncated);
}

TEST_CASE("difference: one changed octet of the body is named with both values") {
    for (const body_kind kind : test::all_kinds) {
        const sample one(kind, 900);
        for (std::size_t at = one.head.size(); at + 3 < one.text.size(); ++at) {
            std::string flipped = one.text;
            flipped[at] = static_cast<char>(flipped[at] ^ 0x20);
            INFO(name_of(kind) << " " << at);
            const difference found = diagnosed(flipped);
            REQUIRE(found.kind == changed);
            REQUIRE(found.octet == at + 1);
            REQUIRE(found.octets == 1);
            REQUIRE((found.from ^ found.to) == 0x20);
            flipped[at] = static_cast<char>(one.text[at] ^ '\x80');
            REQUIRE(diagnosed(flipped).kind == changed);
        }
    }
    const sample one(body_kind::ascii, 900);
    std::string text = one.text;
    text[799] = '\x01';
    const std::string expected = "byte 800 changed from " + hex(one.text[799]) + " to 0x01";
    CHECK(told(text) == expected);
    text[850] = '\x01';
    CHECK(told(text) == expected + ", 2 bytes in all");
    CHECK(told("Received: y\r\n" + text.substr(0, 880)) == expected);
}

TEST_CASE("difference: what servers do to lines is told apart") {
    const sample dots(body_kind::dots);
    const sample edge(body_kind::crlf_edge);
    const sample eight(body_kind::eight_bit);
    const auto two_dots = [](std::string_view line) { return line.starts_with(".."); };
    const auto one_dot = [](std::string_view line) {
        return line.starts_with('.') && !line.starts_with("..");
    };
    const auto blanks = [](std::string_view line) {
        return line.ends_with(' ') || line.ends_with('\t');
    };
    const std::size_t pair = dots.find(5, two_dots);
    const std::size_t single = dots.find(5, one_dot);
    const std::size_t first = dots.find(1, [](auto line) { return line.starts_with('.'); });
    const std::size_t blank = edge.find(4, blanks);
    const std::size_t first_blank = edge.find(1, blanks);
    REQUIRE(std::min({pair, single, first, blank, first_blank}) > 0);

    const auto without = [](const sample& from, std::size_t at, std::size_t count) {
        return from.head + std::string(from.body).erase(at, count);
    };
    const auto with = [](const sample& from, std::size_t at, const char* added) {
        return from.head + std::string(from.body).insert(at, added);
    };
    const std::string stuffed = replaced_all("\r\n" + dots.body, "\r\n.", "\r\n..").substr(2);
    const std::string unstuffed = replaced_all("\r\n" + dots.body, "\r\n.", "\r\n").substr(2);
    std::string cut = edge.body;
    for (const char* each : {" \r\n", "\t\r\n", " \r\n", "\t\r\n", " \r\n", "\t\r\n"})
        cut = replaced_all(cut, each, "\r\n");
    const std::size_t blank_end = edge.body.find("\r\n", edge.line(blank));
    const std::size_t blank_from = edge.body.find_last_not_of(" \t", blank_end - 1) + 1;
    std::string stripped = eight.body;
    for (char& c : stripped)
        c = static_cast<char>(c & 0x7f);
    const auto eighth = static_cast<std::size_t>(
        std::find_if(eight.body.begin(), eight.body.end(), [](char c) { return (c & 0x80) != 0; }) -
        eight.body.begin());
    const auto lf_from = [&](std::size_t number) {
        const std::size_t at = edge.line(number);
        return edge.head + edge.body.substr(0, at) +
               replaced_all(edge.body.substr(at), "\r\n", "\n");
    };

    struct row {
        std::string received;
        std::string told;
        const char* why;
    };
    const std::vector<row> rows{
        {without(dots, dots.line(pair), 1), fmt::format("dot lost at line {}", pair), "of two"},
        {without(dots, dots.line(single), 1), fmt::format("dot lost at line {}", single), "of one"},
        {dots.head + unstuffed, fmt::format("dot lost at line {}", first), "all lost"},
        {with(dots, dots.line(single), "."), fmt::format("dot added at line {}", single), "one"},
        {dots.head + stuffed, fmt::format("dot added at line {}", first), "left stuffed"},
        {without(edge, edge.line(blank) + blank_from - edge.line(blank), blank_end - blank_from),
         fmt::format("trailing blanks cut at line {}", blank), "of one line"},
        {edge.head + cut, fmt::format("trailing blanks cut at line {}", first_blank), "of all"},
        {eight.head + stripped,
         fmt::format("8th bit stripped from byte {} on, {} became {}",
                     eight.head.size() + eighth + 1, hex(eight.body[eighth]),
                     hex(stripped[eighth])),
         "a filter of 7 bits"},
        {edge.head + replaced_all(edge.body, "\r\n", "\n"),
         "line endings changed from CRLF to LF at line 1", "all"},
        {lf_from(7), "line endings changed from CRLF to LF at line 7", "from there on"},
        {with(edge, edge.line(6) - 1, "\r"), "line endings changed from CRLF to CRCRLF at line 5",
         "one line"},
        {edge.head + replaced_all(edge.body, "\r\n", "\r"),
         "line endings changed from CRLF to CR at line 1", "all"},
        {without(edge, edge.line(6) - 2, 1), "line endings changed from CRLF to LF at line 5",
         "one line"},
        {dots.text + "-- \r\nfooter\r\n",
         fmt::format("13 bytes too many from byte {} on", dots.text.size() + 1), "a footer"},
        {dots.text + "\r\n", fmt::format("2 bytes too many from byte {} on", dots.text.size() + 1),
         "an empty line"},
        {replaced(eight.head, "Encoding: 8bit", "Encoding: quoted-printable") +
             replaced_all(eight.body, "\xc3", "=C3"),
         "body recoded as quoted-printable", "RFC 6152 3: a relay to one without 8BITMIME"},
        {without(dots, dots.line(pair), 1).substr(0, dots.text.size() - 100) + "\r\n",
         fmt::format("dot lost at line {}", pair), "the first of two: then cut"},
        {replaced(without(edge, edge.line(6) - 2, 1), edge.body.substr(edge.body.size() - 90, 50),
                  std::string(20, '#')),
         "line endings changed from CRLF to LF at line 5", "the first of two: then changed"},
        {edge.head + std::string(500, '#') + "\r\n",
         fmt::format("differs from byte {} on", edge.head.size() + 1), "another body"},
    };
    for (const row& one : rows) {
        INFO(one.why);
        CHECK(told(one.received) == one.told);
        CHECK(told("Received: by a relay\r\n" + one.received) == one.told);
    }
}

TEST_CASE("difference: a lost 8th bit is named also where that makes line ends") {
    // A body of ours in which 0x8a, 0x8d and 0x80 follow each other cannot be had by choice.
    std::uint64_t sequence = 1;
    const auto has_all = [](const std::string& text) {
        return text.find('\x8a') != std::string::npos && text.find('\x8d') != std::string::npos &&
               text.find('\x80') != std::string::npos;
    };
    while (!has_all(made(body_kind::eight_bit, 9000, sequence)))
        ++sequence;
    const sample one(body_kind::eight_bit, 9000, sequence);
    std::string stripped = one.body;
    for (char& c : stripped)
        c = static_cast<char>(c & 0x7f);
    const auto crlf_of_lf = [](std::string text) {
        return replaced_all(replaced_all(std::move(text), "\r\n", "\n"), "\n", "\r\n");
    };
    const std::string stored = crlf_of_lf(stripped);
    const std::string all_crlf =
        crlf_of_lf(replaced_all(replaced_all(stripped, "\r\n", "\n"), "\r", "\n"));
    std::string imap = stored;
    for (char& c : imap)
        c = c == '\0' ? '\x80' : c;
    const std::size_t lf = one.body.find('\x8a');
    const std::size_t next_line = one.body.find("\r\n", lf);
    const std::string in_one_line = one.body.substr(0, lf) + "\r\n" + one.body.substr(lf + 1);
    std::string line = one.body.substr(0, next_line);
    std::size_t character = lf;  // where that of 0x8a begins
    while ((one.body[character] & 0x40) == 0)
        --character;
    for (std::size_t at = character; at < line.size(); ++at)
        line[at] = static_cast<char>(line[at] & 0x7f);
    const auto first = static_cast<std::size_t>(
        std::find_if(one.body.begin(), one.body.end(), [](char c) { return (c & 0x80) != 0; }) -
        one.body.begin());
    const auto wanted = [&](std::size_t at) {
        return fmt::format("8th bit stripped from byte {} on, {} became {}",
                           one.head.size() + at + 1, hex(one.body[at]),
                           hex(static_cast<char>(one.body[at] & 0x7f)));
    };
    struct row {
        std::string body;
        std::string told;
        const char* why;
    };
    const std::vector<row> rows{
        {stripped, wanted(first), "octet by octet"},
        {stored, wanted(first), "LF as CRLF, as Dovecot stores and hands it out"},
        {all_crlf, wanted(first), "CR as CRLF too"},
        {imap, wanted(first), "NUL as 0x80: what IMAP can carry"},
        {stored.substr(0, stored.size() - 2), wanted(first), "and no final line end"},
        {stored + "\r\n", wanted(first), "or one supplied"},
        {crlf_of_lf(line) + one.body.substr(next_line), wanted(character), "of one line only"},
        {stored.substr(0, stored.size() - 1200) + "\r\n", wanted(first), "and then cut"},
        {in_one_line.substr(0, lf + 2) + in_one_line.substr(lf + 2 + 20),
         fmt::format("differs from byte {} on", one.head.size() + lf + 1), "something was lost"},
    };
    for (const row& each : rows) {
        INFO(each.why);
        CHECK(told(one.head + each.body) == each.told);
    }
    // Line ends that no bit made are compared as they are.
    const std::string lf_alone = replaced_all(one.body, "\r\n", "\n");
    CHECK(told(one.head + lf_alone) == "line endings changed from CRLF to LF at line 1");
}

TEST_CASE("difference: lines that a relay broke are named with the break") {
    const std::string made = "line\r\n" + std::string(3000, 'x') + "\r\n.\r\nend\r\n";
    const auto broken = [&](const std::string& with, std::initializer_list<std::size_t> at) {
        std::string body = made;
        std::size_t moved = 6;
        for (const std::size_t each : at) {
            body.insert(each + moved, with);
            moved += with.size();
        }
        return to_text(compare_bodies(made, body));
    };
    CHECK(broken("\r\n ", {998}) == "line 2 broken after 998 bytes by CRLF and a blank");
    CHECK(broken("\r\n ", {998, 1995}) ==
          "line 2 broken after 998 bytes by CRLF and a blank, 2 breaks in all");
    CHECK(broken("\r\n", {998}) == "line 2 broken after 998 bytes by CRLF");
    CHECK(broken("!\r\n ", {990, 1980}) ==
          "line 2 broken after 990 bytes by \"!\", CRLF and a blank, 2 breaks in all");
    CHECK(broken("?", {998}).find("broken") == std::string::npos);
}

TEST_CASE("difference: a body of one empty line that lost it was cut, no line end was changed") {
    const difference found = compare_bodies("\r\n", "");
    CHECK(found.kind == truncated);
    CHECK(found.octet == 1);
}

TEST_CASE("difference: empty bodies, and bodies without a final CRLF") {
    const sample empty(body_kind::ascii, 0);
    REQUIRE(empty.body.empty());
    CHECK(told(empty.text + "\r\n") ==
          fmt::format("2 bytes too many from byte {} on", empty.text.size() + 1));
    CHECK(told(empty.text + "x") ==
          fmt::format("1 bytes too many from byte {} on", empty.text.size() + 1));
    std::uint64_t sequence = 1;
    while (made(body_kind::crlf_edge, 900, sequence).ends_with("\r\n"))
        ++sequence;
    const sample open(body_kind::crlf_edge, 900, sequence);
    CHECK(told(open.text + "\r\n") == "not changed");
    CHECK(told(open.text + "\r\nx") == "3 bytes too many from byte 901 on");
    std::string flipped = open.text + "\r\n";
    flipped[800] = '\x01';
    CHECK(diagnosed(flipped).kind == changed);
}
