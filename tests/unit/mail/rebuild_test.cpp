// SPDX-License-Identifier: GPL-3.0-or-later
#include "mail/rebuild.hpp"

#include "mail/message_checker.hpp"
#include "support.hpp"

#include <catch2/catch.hpp>

using namespace postal::mail;

TEST_CASE("rebuild: the body sent comes out of the identity received") {
    auto options = test::options_for(body_kind::ascii, 0);
    options.bodies = body_mix::parse("ascii,8bit,dots,long-lines,crlf-edge,multipart").value();
    options.sizes = size_spec::parse("uniform:0,20K").value();
    message_factory factory(message_plan::create(options).value());
    body_rebuilder rebuilder;
    message made;
    for (std::uint64_t n = 0; n < 300; ++n) {
        factory.make(test::request(5, n), made);
        const std::string raw = test::joined(made.raw_parts());
        message_checker checker;
        checker.feed("Received: by a relay\r\n" + raw);
        const auto result = checker.finish();
        REQUIRE(result.what == integrity::verified);
        const auto body = rebuilder.body(*result.id);
        REQUIRE(body.has_value());
        const std::string sent = raw.substr(made.headers().size());
        REQUIRE(*body == sent);
        REQUIRE_FALSE(first_difference(*body, sent));
    }
}

TEST_CASE("rebuild: identities that no sender made are refused") {
    body_rebuilder rebuilder(1000);
    identity id;
    id.size = 100;
    id.head = 101;
    CHECK_FALSE(rebuilder.body(id).has_value());
    id.head = 0;
    id.size = 1001;
    CHECK_FALSE(rebuilder.body(id).has_value());
    id.size = 1000;
    CHECK(rebuilder.body(id).value().size() == 1000);
    id.kind = body_kind::corpus;
    CHECK_FALSE(rebuilder.body(id).has_value());
    for (std::uint64_t seed = 0; seed < 20; ++seed) {  // many seeds do not keep many pools
        id.kind = body_kind::ascii;
        id.seed = seed;
        CHECK(rebuilder.body(id).value().size() == 1000);
    }
}

TEST_CASE("rebuild: the first octet that differs is named, a final CRLF aside") {
    CHECK_FALSE(first_difference("a\r\n", "a"));
    CHECK_FALSE(first_difference("", ""));
    CHECK(first_difference("", "\r\n") == 0U);
    CHECK(first_difference("abc\r\n", "abd\r\n") == 2U);
    CHECK(first_difference("abc\r\n", "ab\r\n") == 2U);
    CHECK(first_difference("ab", "abc") == 2U);
}
