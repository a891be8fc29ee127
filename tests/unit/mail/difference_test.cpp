#include "mail/difference.hpp"

#include "mail/message_checker.hpp"
#include "mail/old_postal.hpp"
#include "proto/base64.hpp"
#include "support.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <functional>

using namespace postal::mail;

namespace {

using enum difference_kind;

std::string made(body_kind kind, std::uint64_t octets, std::uint64_t sequence = 1) {
    message_factory factory(message_plan::create(test::options_for(kind, octets)).value());
    message one;
    factory.make(test::request(1, sequence), one);
    return test::joined(one.raw_parts());
}

difference diagnosed(std::string_view received) {
    static body_rebuilder rebuilder(std::uint64_t{1} << 20U);
    message_checker checker;
    checker.feed(received);
    const auto result = checker.finish();
    const difference found = diagnose(received, result.id, rebuilder);
    CHECK((found.kind == none) == (result.what == integrity::verified));
    CHECK_FALSE(to_text(found).empty());
    return found;
}

std::string told(std::string_view received) {
    return to_text(diagnosed(received));
}

std::string replaced(std::string text, std::string_view from, std::string_view to) {
    const std::size_t at = text.find(from);
    REQUIRE(at != std::string::npos);
    return text.replace(at, from.size(), to);
}

std::string replaced_all(std::string text, std::string_view from, std::string_view to) {
    for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
        text.replace(at, from.size(), to);
    return text;
}

// A message of ours with this header section's identity cannot be had by choice, so the places are
// found in the body that postal made.
struct sample {
    std::string text;
    std::string head;
    std::string body;
    explicit sample(body_kind kind, std::uint64_t octets = 3000, std::uint64_t sequence = 1)
        : text(made(kind, octets, sequence)),
          head(text.substr(0, header_end(text))),
          body(text.substr(head.size())) {}

    // Offset of the line with this number, from 1.
    std::size_t line(std::size_t number) const {
        std::size_t at = 0;
        while (--number > 0)
            at = body.find("\r\n", at) + 2;
        return at;
    }
    // The first line from there on that fits; 0 when there is none.
    std::size_t find(std::size_t from, const std::function<bool(std::string_view)>& fits) const {
        for (std::size_t number = from, at = line(from); at < body.size(); ++number) {
            const std::size_t end = std::min(body.find("\r\n", at), body.size());
            if (fits(std::string_view(body).substr(at, end - at))) return number;
            at = end + 2;
        }
        return 0;
    }
};

// With soft line breaks, as a relay would write it.
std::string quoted_printable(std::string_view text) {
    std::string out;
    std::size_t column = 0;
    for (std::size_t at = 0; at < text.size(); ++at) {
        if (text.substr(at).starts_with("\r\n")) {
            out += "\r\n";
            column = 0;
            ++at;
            continue;
        }
        const char each = text[at];
        const bool plain = each > ' ' && each < 127 && each != '=';
        const std::string code =
            plain ? std::string(1, each) : fmt::format("={:02X}", static_cast<unsigned char>(each));
        if (column + code.size() > 75) {
            out += "=\r\n";
            column = 0;
        }
        out += code;
        column += code.size();
    }
    return out;
}

std::string base64(std::string_view text) {
    const std::string all = postal::proto::to_base64(text);
    std::string out;
    for (std::size_t at = 0; at < all.size(); at += 76)
        out += all.substr(at, 76) + "\r\n";
    return out;
}

std::string hex(char octet) {
    return fmt::format("{:#04x}", static_cast<unsigned char>(octet));
}

}  // namespace

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

TEST_CASE("difference: a rewritten header is named as far as it can be known") {
    const std::string text =
        "Return-Path: <sender@example.com>\r\nX-Original-To: "
        "rcpt@example.com\r\n" +
        made(body_kind::ascii, 900);
    struct row {
        std::string_view from;
        std::string_view to;
        std::string_view name;
    };
    const row rows[]{
        {"Subject: ", "Subject: [SPAM] ", "Subject"},
        {"Subject: ", "X-Subject: ", "Subject"},
        {"2026", "2025", "Date"},
        {"Date: ", "X-Date: ", "Date"},
        {"Message-ID: <", "Message-ID: <x", "Message-ID"},
        {".1.1@", ".1.2@", "Message-ID"},
        {"From: <sender@", "From: <masked@", "From"},
        {"From: <", "From: A Sender <", "From"},
        {"\r\nTo: <rcpt@", "\r\nTo: <other@", "To"},
        {"@test.example.com", "@relay.example.com", "From, To, Message-ID or X-Postal-Id"},
    };
    for (const row& one : rows) {
        INFO(one.to);
        const std::string received = replaced(text, one.from, one.to);
        CHECK(told(received) == "header " + std::string(one.name) + " rewritten");
    }
    CHECK(told(replaced(made(body_kind::ascii, 900), "<sender@", "<masked@")) ==
          "header From, To, Message-ID or X-Postal-Id rewritten");
}

TEST_CASE("difference: a recoded body is read back, and what else differs is told") {
    const sample one(body_kind::eight_bit, 3000);
    const auto encoded = [&](const std::string& name, const std::string& body) {
        const std::string head = replaced(one.head, "Encoding: 8bit", "Encoding: " + name);
        if (name.size() == 6) return head + base64(body);
        return head + quoted_printable(body);
    };
    const std::string cut = one.body.substr(0, 1000);
    for (const std::string name : {"quoted-printable", "base64", "BASE64"}) {
        INFO(name);
        const std::string recoded =
            name == "BASE64" ? "body recoded as base64" : "body recoded as " + name;
        CHECK(told(encoded(name, one.body)) == recoded);
        CHECK(diagnosed(encoded(name, one.body)).kind == difference_kind::recoded);
        CHECK(told(encoded(name, one.body + "-- \r\nfooter\r\n")) ==
              recoded + fmt::format("; 13 bytes too many from byte {} on", one.text.size() + 1));
        CHECK(told(encoded(name, cut)) ==
              recoded + fmt::format("; truncated at byte {} of 3000", one.head.size() + 1001));
        CHECK(diagnosed(encoded(name, cut)).kind == truncated);
        CHECK(told(replaced(encoded(name, one.body), "Subject: ", "Subject: [x] ")) ==
              recoded + "; header Subject rewritten");
    }
}

TEST_CASE("difference: line ends that changed in all of the message") {
    const sample one(body_kind::ascii);
    const std::string doubled = replaced_all(one.text, "\r\n", "\r\r\n");
    const std::string large = replaced_all(made(body_kind::dots, 200'000), "\r\n", "\r\r\n");
    for (const std::string& each : {doubled, large}) {
        CHECK(told(each) == "line endings changed from CRLF to CRCRLF in headers and body");
        CHECK(diagnosed(each).kind == line_ends_changed);
    }
    message_checker checker;
    for (const char& c : doubled)
        checker.feed({&c, 1});
    CHECK(checker.finish().id != nullptr);
    const std::string head = replaced_all(one.head, "\r\n", "\r\r\n");
    CHECK(told(head + one.body) == "not changed");  // what relays may do with header fields
    CHECK(told(head + one.body + "x\r\n") ==
          fmt::format("3 bytes too many from byte {} on; line endings of the headers changed from "
                      "CRLF to CRCRLF",
                      one.text.size() + 1));
}

TEST_CASE("difference: all header fields that were rewritten are named, and the body, too") {
    const std::string text = made(body_kind::ascii, 900);
    const auto rewritten = [&](const std::string& of) {
        return replaced(replaced(of, "Subject: ", "Subject: [x] "), "2026", "2025");
    };
    CHECK(told(rewritten(text)) == "headers Subject and Date rewritten");
    CHECK(told(replaced(rewritten(text), ".1.1@", ".1.2@")) ==
          "headers Subject, Date and Message-ID rewritten");
    CHECK(told(rewritten(text) + "footer\r\n") ==
          "8 bytes too many from byte 901 on; headers Subject and Date rewritten");
    CHECK(told(replaced(text, "From: <sender@", "From: <masked@").substr(0, 800)) ==
          "truncated at byte 801 of 900; header From, To, Message-ID or X-Postal-Id rewritten");
    CHECK(diagnosed(rewritten(text) + "footer\r\n").kind == extra);
}

TEST_CASE("difference: an identity header that says what the Message-ID does not") {
    const std::string text = made(body_kind::ascii, 900);
    CHECK(told(replaced(text, "; n=1;", "; n=2;")) == "header X-Postal-Id rewritten");
}

TEST_CASE("difference: the Subject is remade for every mix and spread of sizes") {
    for (const char* mix : {"ascii", "ascii=90,8bit=10", "crlf-edge,dots"}) {
        for (const char* sizes : {"fixed:5K", "uniform:0,20K", "lognormal:5K,2"}) {
            auto options = test::options_for(body_kind::ascii, 0);
            options.bodies = body_mix::parse(mix).value();
            const auto spread = size_spec::parse(sizes);
            INFO(mix << " " << sizes);
            REQUIRE(spread.has_value());
            options.sizes = *spread;
            message_factory factory(message_plan::create(options).value());
            message one;
            for (std::uint64_t n = 0; n < 20; ++n) {
                factory.make(test::request(2, n), one);
                const std::string text = test::joined(one.raw_parts());
                CHECK(told(replaced(text, "To: <", "To: <x")) ==
                      "header From, To, Message-ID or X-Postal-Id rewritten");
                CHECK(told(replaced(text, "Subject: ", "Subject: x")) ==
                      "header Subject rewritten");
            }
        }
    }
}

TEST_CASE("difference: what cannot be told is said so") {
    const std::string text = made(body_kind::ascii, 900);
    CHECK(told(replaced(text, "kind=ascii", "kind=asciz")) == "identity header unreadable");
    CHECK(told(replaced(text, "kind=ascii", "kind=corpus").substr(0, 800)) ==
          "differs, and cannot be remade to say how");
    const std::string harmed = text.substr(0, 890) + "#" + text.substr(891);
    REQUIRE(told(harmed).starts_with("byte 891 changed from "));
    CHECK(told(replaced(harmed, "size=900", "size=9000000")) ==
          "differs, and cannot be remade to say how");
    CHECK(diagnosed(replaced(harmed, "seed=42", "seed=43")).kind == other);
    const std::size_t digest_at = text.find("xxh3:") + 5;
    std::string other_digest = text;
    other_digest[digest_at] = text[digest_at] == '0' ? '1' : '0';
    CHECK(told(other_digest) == "header From, To, Message-ID or X-Postal-Id rewritten");
    CHECK(name_of(none) == "none");
    CHECK(name_of(other) == "other");
    CHECK(name_of(header_rewritten) == "header-rewritten");
}

TEST_CASE("difference: mail of the original postal is recognised, and its digest checked") {
    // As postal 0.76 of Debian 12 (amd64) sent them.
    const std::string fields =
        "From: <u2@example.com>\r\nTo: <u1@example.com>\r\nSubject: q>Z(6:,sJc\r\n"
        "Date: Fri, 20 Nov 2026 20:13:31 +0000\r\n"
        "Message-Id: <6B00A9F6.157.001.u2@example.com>\r\n"
        "X-PostalHash: e2df045f08b3f308aaf7f1d25bf74cd6\r\n"
        "X-Postal: 0.75 - the mad postman.\r\nX-Postal: http://www.coker.com.au/postal/\r\n"
        "X-Postal: This is not a real email.\r\n";
    const std::string text = fields + "\r\n";
    CHECK(is_old_postal(fields));
    CHECK(check_old_postal(text) == true);
    CHECK(check_old_postal("Received: from a by b\r\n\tlater\r\n" + text) == true);
    CHECK(check_old_postal(text + "x") == false);
    CHECK(check_old_postal(replaced(text, "q>Z", "q>z")) == false);
    // Its sum where words have 32 bits is a true MD5: of the same five lines.
    CHECK(check_old_postal(replaced(text, "e2df045f08b3f308aaf7f1d25bf74cd6",
                                    "05f137797eb0eeb58374225f8825019f")) == true);
    CHECK(check_old_postal("From: <u1@example.com>\r\n"
                           "To: <u2@example.com>\r\n"
                           "Subject: lB7:e1K\r\n"
                           "Date: Fri, 20 Nov 2026 20:07:20 +0000\r\n"
                           "Message-Id: <6B00A9F0.343.002.u1@example.com>\r\n"
                           "X-PostalHash: c12f631ae78add08e1986e570d336aab\r\n"
                           "X-Postal: 0.75 - the mad postman.\r\n"
                           "X-Postal: http://www.coker.com.au/postal/\r\n"
                           "X-Postal: This is not a real email.\r\n"
                           "\r\n"
                           "K@>j-M6,1 nViF#kestetI\r\n"
                           " 09Hvg _Na(Y<YMi+O9fm3= QQ)p-Y jtENKH>r*//A'T \r\n") == true);
    for (const char* not_old :
         {"", "X-Postal: postal/1.0\r\n", "X-PostalHash: e2df045f08b3f308aaf7f1d25bf74cd6\r\n",
          "X-PostalHash: e2df\r\nX-Postal: x\r\n",
          "X-PostalHash: g2df045f08b3f308aaf7f1d25bf74cd6\r\nX-Postal: x\r\n"}) {
        INFO(not_old);
        CHECK_FALSE(is_old_postal(not_old));
        CHECK_FALSE(check_old_postal(not_old).has_value());
    }
    CHECK_FALSE(is_old_postal(made(body_kind::ascii, 900)));
}
