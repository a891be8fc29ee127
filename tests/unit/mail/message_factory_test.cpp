// SPDX-License-Identifier: GPL-3.0-or-later
#include "mail/message_factory.hpp"

#include "base/text.hpp"
#include "mail/canonical.hpp"
#include "mail/message_checker.hpp"
#include "support.hpp"

#include <catch2/catch.hpp>

using namespace postal::mail;

namespace {

std::shared_ptr<const message_plan> plan(message_options options) {
    return message_plan::create(std::move(options)).value();
}

integrity integrity_of(std::string_view text) {
    message_checker checker;
    checker.feed(text);
    return checker.finish().what;
}

}  // namespace

TEST_CASE("message: the headers are as documented") {
    message_factory factory(plan(test::options_for(body_kind::eight_bit, 2000)));
    message made;
    factory.make(test::request(3, 17), made);
    const std::string headers(made.headers());
    const std::string id = to_text(made.id());
    const std::size_t subject = headers.find("Subject: ");
    REQUIRE(subject != std::string::npos);
    const std::string words = headers.substr(subject, headers.find("\r\n", subject) - subject);
    CHECK(words.find_first_not_of("abcdefghijklmnopqrstuvwxyz ", 9) == std::string::npos);
    CHECK(words[9] != ' ');
    CHECK(headers ==
          "From: <sender@example.com>\r\nTo: <rcpt@example.com>\r\n" + words +
              "\r\nDate: Mon, 21 Sep 2026 14:13:20 +0000\r\n"
              "Message-ID: <0123456789abcdef.3.17@test.example.com>\r\nX-Postal: postal/1.2.3\r\n"
              "X-Postal-Id: " +
              id +
              "\r\nMIME-Version: 1.0\r\nContent-Type: text/plain; charset=utf-8\r\n"
              "Content-Transfer-Encoding: 8bit\r\n\r\n");
    CHECK(made.id().time_us == 1790000000123456);
    CHECK(made.id().head == headers.size());
    CHECK(made.id().size == 2000);
    CHECK(made.needs_8bit());
    CHECK_FALSE(made.needs_smtputf8());
}

TEST_CASE("message: given fields and a given subject count in its size, and it verifies") {
    for (const body_kind kind : test::all_kinds) {
        for (const std::uint64_t octets : {0U, 700U, 999U, 1000U, 5000U}) {
            for (const auto blanks : {subject_blanks::none, subject_blanks::leading}) {
                auto options = test::options_for(kind, octets);
                options.fields = {"List-Id: <test.example.com>", "X-Spam-Flag: YES"};
                options.subject_text = "buy \t now,   twice";
                options.subject = blanks;
                message_factory factory(plan(options));
                message made;
                factory.make(test::request(1, 5), made);
                const std::string raw = test::joined(made.raw_parts());
                INFO(raw);
                const bool leading = blanks == subject_blanks::leading;
                CHECK(raw.find(leading ? "\r\nSubject:    buy \t now,   twice\r\n"
                                       : "\r\nSubject: buy \t now,   twice\r\n") != raw.npos);
                const std::size_t end = raw.find("\r\n\r\n");
                const std::string fields =
                    "\r\nList-Id: <test.example.com>\r\nX-Spam-Flag: YES\r\n";
                CHECK(raw.find(fields) < end);
                CHECK(made.id().given_subject);
                CHECK(made.id().head == made.headers().size());
                CHECK(made.id().size == raw.size());
                if (raw.size() > made.headers().size()) CHECK(raw.size() == octets);
                CHECK(integrity_of(raw) == integrity::verified);
            }
        }
    }
}

TEST_CASE("message: a given subject leaves the body of a seed as it is") {
    auto options = test::options_for(body_kind::ascii, 0);
    message plain;
    message_factory(plan(options)).make(test::request(1, 5), plain);
    options.subject_text = "mine";
    message given;
    message_factory(plan(options)).make(test::request(1, 5), given);
    CHECK(body_random(plain.id()).next() == body_random(given.id()).next());
    CHECK_FALSE(plain.id().given_subject);
}

TEST_CASE("message: the size is exact for every kind, and the message verifies") {
    for (const body_kind kind : test::all_kinds) {
        message made;
        std::uint64_t sequence = 0;
        for (std::uint64_t octets = 0;
             octets<2600; octets += octets> 300 && octets < 700 ? 3 : 61) {
            message_factory factory(plan(test::options_for(kind, octets)));
            factory.make(test::request(1, ++sequence), made);
            const std::string raw = test::joined(made.raw_parts());
            INFO(name_of(kind) << " " << octets << "\n" << raw);
            REQUIRE(made.total_octets() == raw.size());
            REQUIRE(made.id().size == raw.size());
            REQUIRE(made.id().head == made.headers().size());
            const bool empty = raw.size() == made.headers().size();
            if (kind != body_kind::crlf_edge || !empty) {
                REQUIRE(raw.size() == std::max<std::uint64_t>(octets, made.headers().size()));
            }
            const std::string stuffed = test::joined(made.stuffed_parts());
            REQUIRE(made.stuffed_octets() == stuffed.size());
            REQUIRE(test::unstuffed(stuffed) == raw + (made.final_newline() ? "" : "\r\n"));
            REQUIRE(made.declared_octets() == test::unstuffed(stuffed).size());
            REQUIRE(integrity_of(raw) == integrity::verified);
            REQUIRE(integrity_of(test::unstuffed(stuffed)) == integrity::verified);
        }
    }
}

TEST_CASE("message: sizes are exact where the figures in the headers get a digit longer") {
    for (const std::uint64_t octets : {998U, 999U, 1000U, 1001U, 1002U, 1003U, 10000U}) {
        message_factory factory(plan(test::options_for(body_kind::ascii, octets)));
        message made;
        auto request = test::request(0, 1);
        for (std::size_t length = 300; length < 800; ++length) {
            const std::string from(length, 'f');
            request.from = from;
            factory.make(request, made);
            INFO(octets << " " << length);
            REQUIRE(made.total_octets() == std::max<std::uint64_t>(octets, made.headers().size()));
            REQUIRE(made.id().head == made.headers().size());
            REQUIRE(made.id().size == made.total_octets());
            REQUIRE(integrity_of(test::joined(made.raw_parts())) == integrity::verified);
        }
    }
}

TEST_CASE("message: the same seed gives the same mail, another session or number another") {
    const auto options = test::options_for(body_kind::ascii, 3000);
    message_factory one(plan(options));
    message_factory two(plan(options));
    message first;
    message second;
    two.make(test::request(9, 9), second);  // what was made before does not matter
    for (std::uint64_t n = 0; n < 20; ++n) {
        one.make(test::request(1, n), first);
        two.make(test::request(1, n), second);
        CHECK(test::joined(first.raw_parts()) == test::joined(second.raw_parts()));
        two.make(test::request(2, n), second);
        CHECK(test::joined(first.raw_parts()) != test::joined(second.raw_parts()));
    }
}

TEST_CASE("message: many recipients are folded and still verify") {
    std::vector<std::string> addresses;
    for (int i = 0; i < 500; ++i)
        addresses.push_back("recipient" + std::to_string(i) + "@example.com");
    const std::vector<std::string_view> views(addresses.begin(), addresses.end());
    message_factory factory(plan(test::options_for(body_kind::dots, 40000)));
    message made;
    auto request = test::request(1, 1);
    request.recipients = views;
    factory.make(request, made);
    CHECK(made.total_octets() == 40000);
    CHECK(integrity_of(test::joined(made.raw_parts())) == integrity::verified);
    std::size_t longest = 0;
    for (const auto line : postal::base::split(made.headers(), '\n'))
        longest = std::max(longest, line.size());
    CHECK(longest <= 130);
    request.recipients = {};
    factory.make(request, made);
    CHECK_THAT(std::string(made.headers()), Catch::Contains("To: undisclosed-recipients:;\r\n"));
    CHECK(integrity_of(test::joined(made.raw_parts())) == integrity::verified);
}

TEST_CASE("message: UTF-8 addresses need SMTPUTF8 and 8BITMIME") {
    message_factory factory(plan(test::options_for(body_kind::ascii, 2000)));
    message made;
    auto request = test::request(1, 1);
    request.from = "j\xc3\xbcrgen@example.com";
    factory.make(request, made);
    CHECK(made.needs_smtputf8());
    CHECK(made.needs_8bit());
    CHECK(integrity_of(test::joined(made.raw_parts())) == integrity::verified);
    factory.make(test::request(1, 2), made);
    CHECK_FALSE(made.needs_smtputf8());
    CHECK_FALSE(made.needs_8bit());
}

TEST_CASE("message: subjects have leading blanks only on request, and verify either way") {
    auto options = test::options_for(body_kind::ascii, 1000);
    options.subject = subject_blanks::leading;
    message_factory factory(plan(options));
    message made;
    factory.make(test::request(1, 1), made);
    CHECK_THAT(std::string(made.headers()), Catch::Contains("Subject:  "));
    CHECK(integrity_of(test::joined(made.raw_parts())) == integrity::verified);
}

TEST_CASE("message: a mix and each digest verify") {
    for (const auto digest : {digest_kind::xxh3, digest_kind::md5, digest_kind::sha256}) {
        auto options = test::options_for(body_kind::ascii, 0, digest);
        options.bodies = body_mix::parse("ascii,8bit,dots,long-lines,crlf-edge,multipart").value();
        options.sizes = size_spec::parse("uniform:0,20K").value();
        message_factory factory(plan(options));
        message made;
        std::size_t kinds = 0;
        std::size_t empty = 0;
        for (std::uint64_t n = 0; n < 400; ++n) {
            factory.make(test::request(7, n), made);
            kinds |= std::size_t{1} << static_cast<unsigned>(made.id().kind);
            if (made.id().kind == body_kind::crlf_edge && made.id().size == made.id().head) ++empty;
            REQUIRE(integrity_of(test::joined(made.raw_parts())) == integrity::verified);
            REQUIRE(integrity_of(test::unstuffed(test::joined(made.stuffed_parts()))) ==
                    integrity::verified);
        }
        CHECK(kinds == 63);
        CHECK(empty > 0);
    }
}

TEST_CASE("message: dates are right across seconds, days and leap years") {
    struct row {
        std::time_t at;
        std::string wanted;
    };
    const row rows[]{{0, "Thu, 01 Jan 1970 00:00:00 +0000"},
                     {1709164799, "Wed, 28 Feb 2024 23:59:59 +0000"},
                     {1709164800, "Thu, 29 Feb 2024 00:00:00 +0000"},
                     {1735689599, "Tue, 31 Dec 2024 23:59:59 +0000"},
                     {1795190400, "Fri, 20 Nov 2026 16:00:00 +0000"}};
    date_text date;
    for (const row& each : rows) {
        const auto now = std::chrono::system_clock::from_time_t(each.at);
        CHECK(date.at(now) == each.wanted);
        CHECK(date.at(now + std::chrono::milliseconds(999)) == each.wanted);
    }
}

TEST_CASE("message: what would break a header is refused") {
    for (const std::string host : {"", "a b", "a\r\nX: y", "a@b", "<a>", "\xc3\xa4"}) {
        auto options = test::options_for(body_kind::ascii, 100);
        options.host = host;
        CHECK_FALSE(message_plan::create(options).has_value());
    }
    auto options = test::options_for(body_kind::ascii, 100);
    options.version = "1\r\n";
    CHECK_FALSE(message_plan::create(options).has_value());
}
