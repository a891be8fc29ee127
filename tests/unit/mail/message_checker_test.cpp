// SPDX-License-Identifier: GPL-3.0-or-later
#include "mail/message_checker.hpp"

#include "support.hpp"

#include <catch2/catch.hpp>

using namespace postal::mail;

namespace {

std::string made(body_kind kind, std::uint64_t octets, std::uint64_t sequence = 1) {
    message_factory factory(message_plan::create(test::options_for(kind, octets)).value());
    message one;
    factory.make(test::request(1, sequence), one);
    return test::joined(one.raw_parts());
}

integrity check(std::string_view text, line_ends ends = line_ends::crlf) {
    message_checker checker(ends);
    checker.feed(text);
    return checker.finish().what;
}

std::string with_lf(std::string text) {
    for (std::size_t at = 0; (at = text.find("\r\n", at)) != std::string::npos; ++at)
        text.erase(at, 1);
    return text;
}

std::string replaced(std::string text, std::string_view from, std::string_view to) {
    const std::size_t at = text.find(from);
    REQUIRE(at != std::string::npos);
    return text.replace(at, from.size(), to);
}

}  // namespace

TEST_CASE("checker: verifies at every split and one octet at a time") {
    for (const body_kind kind : test::all_kinds) {
        const std::string text = made(kind, 900);
        message_checker checker;
        for (std::size_t split = 0; split <= text.size(); ++split) {
            checker.reset();
            checker.feed(std::string_view(text).substr(0, split));
            checker.feed(std::string_view(text).substr(split));
            const auto result = checker.finish();
            INFO(name_of(kind) << " " << split);
            REQUIRE(result.what == integrity::verified);
            REQUIRE(result.id != nullptr);
            REQUIRE(result.id->sequence == 1);
        }
        checker.reset();
        for (const char& c : text)
            checker.feed({&c, 1});
        CHECK(checker.finish().what == integrity::verified);
    }
}

TEST_CASE("checker: one changed octet anywhere that counts is found") {
    const std::string text = made(body_kind::ascii, 700);
    const std::size_t body = header_end(text);
    for (std::size_t at = body; at < text.size() - 2; ++at) {
        std::string changed = text;
        changed[at] = changed[at] == 'x' ? 'y' : 'x';
        INFO(at);
        REQUIRE(check(changed) == integrity::corrupt);
    }
    CHECK(check(replaced(text, "sender@", "tender@")) == integrity::corrupt);
    CHECK(check(replaced(text, "rcpt@", "rcpd@")) == integrity::corrupt);
    CHECK(check(replaced(text, "2026", "2025")) == integrity::corrupt);
    CHECK(check(replaced(text, ".1.1@", ".1.2@")) == integrity::corrupt);
    CHECK(check(replaced(text, "Subject: ", "Subject: x")) == integrity::corrupt);
    CHECK(check(replaced(text, "Date: ", "X-Date: ")) == integrity::corrupt);
    CHECK(check(text.substr(0, text.size() - 3)) == integrity::corrupt);
    CHECK(check(text.substr(0, body)) == integrity::corrupt);
    CHECK(check(text + "\r\n") == integrity::corrupt);
    CHECK(check(text + "more") == integrity::corrupt);
}

TEST_CASE("checker: what relays may do does not matter") {
    const std::string text = made(body_kind::crlf_edge, 900, 3);
    CHECK(check("Received: from a by b;\r\n\tsome day\r\n" + text) == integrity::verified);
    CHECK(check("Return-Path: <x@y>\r\nDelivered-To: z\r\n" + text) == integrity::verified);
    CHECK(check(replaced(text, "\r\n\r\n", "\r\nX-Added: at the end\r\n\r\n")) ==
          integrity::verified);
    CHECK(check(replaced(text, "To: <", "To:\r\n <")) == integrity::verified);
    CHECK(check(replaced(text, "Message-ID:", "Message-Id:")) == integrity::verified);
    CHECK(check(replaced(text, "; s=", ";\r\n\ts=")) == integrity::verified);
    const std::size_t second = text.find("\r\n") + 2;
    const std::size_t third = text.find("\r\n", second) + 2;
    CHECK(check(text.substr(second, third - second) + text.substr(0, second) +
                text.substr(third)) == integrity::verified);
    CHECK(check(text.ends_with("\r\n") ? text.substr(0, text.size() - 2) : text + "\r\n") ==
          integrity::verified);
}

TEST_CASE("checker: mail of others is foreign, and its body is skipped") {
    const std::string rows[]{
        "",
        "\r\n",
        "Subject: x\r\n\r\nbody\r\n",
        "no headers at all",
        "X-Postal: postal/0.76\r\nX-PostalHash: abc\r\nSubject: x\r\n\r\nbody\r\n",
        "X-Postal-Id: v=2; something new\r\n\r\nbody\r\n"};
    for (const std::string& text : rows) {
        INFO(text);
        message_checker checker;
        checker.feed(text);
        const auto result = checker.finish();
        CHECK(result.what == integrity::foreign);
        CHECK(result.id == nullptr);
    }
    message_checker checker;
    checker.feed("Subject: x\r\n\r\n");
    CHECK(checker.skipping());
}

TEST_CASE("checker: an identity that cannot be read is corrupt, without an identity") {
    const std::string text = made(body_kind::ascii, 900);
    message_checker checker;
    checker.feed(replaced(text, "kind=ascii", "kind=asciz"));
    const auto result = checker.finish();
    CHECK(result.what == integrity::corrupt);
    CHECK(result.id == nullptr);
    checker.reset();
    checker.feed(text);
    CHECK(checker.finish().what == integrity::verified);
}

TEST_CASE("checker: an identity that says what the Message-ID does not is corrupt") {
    const std::string text = made(body_kind::ascii, 900);
    identity sent;
    REQUIRE(parse_identity(scan_headers(text).identity, sent) == identity_parse::ok);
    const std::string session = "; s=" + std::to_string(sent.session) + ";";
    const std::string number = "; n=" + std::to_string(sent.sequence) + ";";
    std::string run = "run=";
    append_run(sent.run, run);
    const std::pair<std::string, std::string> rows[]{
        {run, "run=00000000000000aa"}, {session, "; s=77;"}, {number, "; n=77;"}};
    for (const auto& [from, to] : rows) {
        INFO(to);
        message_checker checker;
        checker.feed(replaced(text, from, to));
        const auto result = checker.finish();
        CHECK(result.what == integrity::corrupt);
        REQUIRE(result.id != nullptr);
        CHECK(*result.id == sent);  // the digest covers the Message-ID
        // Without the digest nobody knows which of the two is right.
        checker.reset();
        checker.feed(replaced(text, from, to) + "more");
        const auto harmed = checker.finish();
        CHECK(harmed.what == integrity::corrupt);
        CHECK_FALSE(*harmed.id == sent);
    }
}

TEST_CASE("checker: real mail has a Message-ID of its own") {
    const std::string mail = "From: <a@example.com>\r\nMessage-ID: <0000000000000001.2.3@x>\r\n";
    identity id;
    id.run = 5;
    id.kind = body_kind::corpus;
    id.covers = scan_headers(mail).present;
    std::string canonical;
    append_canonical(scan_headers(mail), id.covers, canonical);
    body_digester digester;
    digester.begin(id.digest.kind, canonical);
    digester.feed("body\r\n");
    id.digest = digester.finish();
    const std::string text = "X-Postal-Id: " + to_text(id) + "\r\n" + mail + "\r\nbody\r\n";
    CHECK(check(text) == integrity::verified);
}

TEST_CASE("checker: header sections beyond 64 KiB are foreign, just below they count") {
    const std::string text = made(body_kind::ascii, 900);
    const auto padded = [&](std::size_t octets) {
        std::string padding;
        while (padding.size() + 80 <= octets)
            padding += "X-Padding: " + std::string(67, 'x') + "\r\n";
        return padding + text;
    };
    CHECK(check(padded(60000)) == integrity::verified);
    CHECK(check(padded(66000)) == integrity::foreign);
    CHECK(check(std::string(1'000'000, 'x')) == integrity::foreign);
    message_checker checker;
    for (const char& c : padded(66000))
        checker.feed({&c, 1});
    CHECK(checker.skipping());
    CHECK(checker.finish().what == integrity::foreign);
    checker.reset();
    for (const char& c : padded(60000))
        checker.feed({&c, 1});
    CHECK(checker.finish().what == integrity::verified);
}

TEST_CASE("checker: files with LF line ends verify when told so") {
    for (const body_kind kind : test::all_kinds) {
        const std::string text = with_lf(made(kind, 3000));
        INFO(name_of(kind));
        CHECK(check(text, line_ends::lf) == integrity::verified);
        CHECK(check(text, line_ends::crlf) == integrity::corrupt);
    }
}
