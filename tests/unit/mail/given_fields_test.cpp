// SPDX-License-Identifier: GPL-3.0-or-later
#include "mail/given_fields.hpp"

#include "mail/canonical.hpp"

#include <catch2/catch.hpp>

using namespace postal::mail;

TEST_CASE("given fields: what may stand in a header is one line of it") {
    struct row {
        std::string given;
        std::string line;
        const char* why;
    };
    const std::vector<row> table = {
        {"List-Id: <a.example.com>", "List-Id: <a.example.com>", "as it is"},
        {"X-Flag:yes", "X-Flag: yes", "a blank behind the colon"},
        {"X-Flag: \t yes  ", "X-Flag: yes", "no others"},
        {"X-Empty:", "X-Empty:", "a value may be empty"},
        {"X-Time: 12:30", "X-Time: 12:30", "the first colon counts"},
        {"X!#$%&'*+-^_`{|}~: 1", "X!#$%&'*+-^_`{|}~: 1", "RFC 5322 3.6.8"},
        {"Received: from a by b; Mon, 1 Jan 2026 00:00:00 +0000",
         "Received: from a by b; Mon, 1 Jan 2026 00:00:00 +0000", "traces of hops"},
        {"X: " + std::string(995, 'x'), "X: " + std::string(995, 'x'), "998 octets"}};
    for (const row& one : table) {
        INFO(one.why);
        const auto made = parse_header_field(one.given);
        REQUIRE(made.has_value());
        CHECK(*made == one.line);
    }
}

TEST_CASE("given fields: what would break a message is refused") {
    struct row {
        std::string given;
        std::string_view named;
    };
    const std::vector<row> table = {{"no colon", "no colon"},
                                    {": value", "no name"},
                                    {"X Y: value", "no name"},
                                    {"X : value", "no name"},
                                    {".X: value", "a dot at the beginning"},
                                    {"X: a\r\nBcc: b", "0x0d"},
                                    {"X: a\r\n", "0x0d"},
                                    {"X: a\nb", "0x0a"},
                                    {std::string("X: a\0b", 6), "0x00"},
                                    {"X\x7f: a", "0x7f"},
                                    {"X: caf\xc3\xa9", "RFC 2047"},
                                    {"X: " + std::string(996, 'x'), "999 octets"},
                                    {"Date: now", "writes Date itself"},
                                    {"dAtE: now", "writes Date itself"},
                                    {"message-id: <a@b>", "--helo"},
                                    {"Subject: x", "give --subject"},
                                    {"From: a@b", "give --from"},
                                    {"TO: a@b", "give --to"},
                                    {"X-Postal: 1", "postal's own"},
                                    {"x-postal-id: 1", "postal's own"},
                                    {"X-Postal-More: 1", "postal's own"}};
    for (const row& one : table) {
        const auto made = parse_header_field(one.given);
        INFO(one.named);
        REQUIRE_FALSE(made.has_value());
        CHECK_THAT(made.error().message, Catch::Contains(std::string(one.named)));
        CHECK(made.error().message.find('\n') == std::string::npos);
    }
}

TEST_CASE("given fields: a subject is a value without blanks around") {
    CHECK(parse_subject("  hello: world ").value() == "hello: world");
    for (const std::string& wrong : {std::string(" "), std::string("a\r\nBcc: b"),
                                     std::string(990, 'x'), std::string("caf\xc3\xa9")})
        CHECK_FALSE(parse_subject(wrong).has_value());
}

TEST_CASE("given fields: which of them say what a body is") {
    CHECK(describes_body({"X: 1", "content-type: text/html"}));
    CHECK(describes_body({"MIME-Version: 1.0"}));
    CHECK_FALSE(describes_body({"X-Content: 1", "Contents: 1"}));
}
