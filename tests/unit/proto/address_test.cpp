// SPDX-License-Identifier: GPL-3.0-or-later
#include "proto/address.hpp"

#include <catch2/catch.hpp>

#include <string>

using namespace postal::proto;

namespace {

struct row {
    std::string input;
    std::string mailbox;  // what is found; "!" when it must be refused
    std::string reason;   // why this row is here
};

std::string repeat(std::size_t count, char c) {
    return std::string(count, c);
}

// 4 labels that make a domain of the length wanted (up to 255).
std::string long_domain(std::size_t length) {
    std::string domain = repeat(63, 'a') + '.' + repeat(63, 'b') + '.' + repeat(63, 'c') + '.';
    return domain + repeat(length - domain.size(), 'd');
}

void check(const row& wanted, path_rules rules) {
    CAPTURE(wanted.input, wanted.reason);
    const path_result found = parse_path(wanted.input, rules);
    if (wanted.mailbox == "!") {
        CHECK_FALSE(found.ok());
        CHECK_FALSE(found.refusal.empty());
        return;
    }
    CAPTURE(found.refusal);
    REQUIRE(found.ok());
    CHECK(found.value.mailbox == wanted.mailbox);
    CHECK(found.value.length == wanted.input.size());
}

}  // namespace

TEST_CASE("address: forward paths") {
    const std::string nul("<a\0b@example.com>", 17);
    const row rows[] = {
        {"<a@example.com>", "a@example.com", "the plain one"},
        {"<a.b+c=d@example.com>", "a.b+c=d@example.com", "atext and dots"},
        {"<a@b>", "a@b", "one label"},
        {"<a@my_host.example>", "a@my_host.example", "underscore: lenient"},
        {"<\"a b\"@example.com>", "\"a b\"@example.com", "quoted blank"},
        {"<\"a\\\"b\"@example.com>", "\"a\\\"b\"@example.com", "quoted pair"},
        {"<\"a>b\"@example.com>", "\"a>b\"@example.com", "a bracket inside quotes"},
        {"<\"\"@example.com>", "\"\"@example.com", "an empty quoted string is one"},
        {"<@relay.example:a@example.com>", "a@example.com", "a source route is ignored"},
        {"<@one.example,@two.example:a@example.com>", "a@example.com", "a long source route"},
        {"<a@[127.0.0.1]>", "a@[127.0.0.1]", "IPv4 literal"},
        {"<a@[IPv6:::1]>", "a@[IPv6:::1]", "IPv6 literal"},
        {"<a@[IPv6:2001:db8::7:1]>", "a@[IPv6:2001:db8::7:1]", "IPv6 compressed in the middle"},
        {"<a@[IPv6:1:2:3:4:5:6:7:8]>", "a@[IPv6:1:2:3:4:5:6:7:8]", "IPv6 in full"},
        {"<a@[IPv6:::ffff:192.0.2.1]>", "a@[IPv6:::ffff:192.0.2.1]", "IPv4 in IPv6"},
        {"<a@[x400:c=de]>", "a@[x400:c=de]", "general literal"},
        {"<postmaster>", "postmaster", "RFC 5321 4.1.1.3"},
        {"<PostMaster>", "PostMaster", "without regard to case"},
        {"<\xc3\xbc@b\xc3\xbc"
         "cher.example>",
         "\xc3\xbc@b\xc3\xbc"
         "cher.example",
         "UTF-8"},
        {"<" + repeat(64, 'x') + "@a.example>", repeat(64, 'x') + "@a.example", "64 octets"},
        {"<a@" + long_domain(252) + ">", "a@" + long_domain(252), "256 octets in all"},
        {"", "!", "nothing"},
        {"a@example.com", "!", "no brackets"},
        {"<a@example.com", "!", "not closed"},
        {"<>", "!", "a recipient is never null"},
        {"< a@example.com>", "!", "blank inside"},
        {"<a@example.com >", "!", "blank inside"},
        {"<user>", "!", "no domain"},
        {"<@example.com>", "!", "no local part"},
        {"<a@>", "!", "no domain"},
        {"<a..b@example.com>", "!", "empty atom"},
        {"<.a@example.com>", "!", "leading dot"},
        {"<a.@example.com>", "!", "trailing dot"},
        {"<a@example..com>", "!", "empty label"},
        {"<a@.example.com>", "!", "empty label"},
        {"<a@example.com.>", "!", "trailing dot"},
        {"<a@-example.com>", "!", "label begins with a hyphen"},
        {"<a@example-.com>", "!", "label ends with a hyphen"},
        {"<a@b@c>", "!", "two at signs"},
        {"<a b@example.com>", "!", "blank without quotes"},
        {"<a@exam ple.com>", "!", "blank in the domain"},
        {"<\"a@example.com>", "!", "quote not closed"},
        {"<\"a\\\">", "!", "quoted pair at the end"},
        {nul, "!", "NUL"},
        {"<\"a\tb\"@example.com>", "!", "control character in quotes"},
        {"<a\r\n@example.com>", "!", "line end"},
        {"<a@example.com\x7f>", "!", "DEL"},
        {"<\xff@example.com>", "!", "not UTF-8"},
        {"<\xc0\xaf@example.com>", "!", "overlong UTF-8"},
        {"<\xed\xa0\x80@example.com>", "!", "surrogate"},
        {"<a@[127.0.0.256]>", "!", "octet above 255"},
        {"<a@[127.0.0]>", "!", "three octets"},
        {"<a@[1.2.3.4.5]>", "!", "five octets"},
        {"<a@[IPv6:1::2::3]>", "!", "two ::"},
        {"<a@[IPv6:1:2:3:4:5:6:7]>", "!", "seven groups"},
        {"<a@[IPv6:12345::1]>", "!", "five digits"},
        {"<a@[IPv6:1:]>", "!", "ends with a colon"},
        {"<a@[127.0.0.1>", "!", "literal not closed"},
        {"<a@[]>", "!", "empty literal"},
        {"<@relay.example a@example.com>", "!", "route without a colon"},
        {"<@relay.example,a@example.com>", "!", "route without an at sign"},
        {"<@:a@example.com>", "!", "empty route"},
        {"<" + repeat(65, 'x') + "@a.example>", "!", "65 octets"},
        {"<a@" + repeat(64, 'x') + ".example>", "!", "label of 64 octets"},
        {"<a@" + long_domain(253) + ">", "!", "257 octets in all"},
    };
    for (const row& wanted : rows)
        check(wanted, {});
}

TEST_CASE("address: reverse paths may be null, bare users are a matter of taste") {
    const path_result null = parse_path("<>", {.role = path_role::reverse});
    REQUIRE(null.ok());
    CHECK(null.value.null);
    CHECK(null.value.length == 2);
    check({"<user>", "user", "allowed"}, {.bare = bare_local_part::allowed});
    CHECK(parse_mailbox("a@b", bare_local_part::postmaster_only).ok());
    CHECK_FALSE(parse_mailbox("a@b>", bare_local_part::postmaster_only).ok());
    CHECK_FALSE(parse_mailbox("", bare_local_part::allowed).ok());
}

TEST_CASE("address: a path is taken from the front and says where it ends") {
    const path_result found = parse_path("<@x:\xc3\xbc@example.com> SIZE=3", {});
    REQUIRE(found.ok());
    CHECK(found.value.length == 19);
    CHECK(found.value.non_ascii);
    CHECK(found.value.local_part == "\xc3\xbc");
    CHECK(found.value.domain == "example.com");
}

TEST_CASE("address: every prefix and every single changed octet is handled") {
    const std::string whole = "<@a.b,@c:\"q \\\" q\"@[IPv6:1::2.3.4.5]>";
    REQUIRE(parse_path(whole, {}).ok());
    for (std::size_t length = 0; length < whole.size(); ++length) {
        CHECK_FALSE(parse_path(std::string(whole, 0, length), {}).ok());
    }
    for (std::size_t at = 0; at < whole.size(); ++at) {
        for (int octet = 0; octet < 256; ++octet) {
            std::string changed = whole;
            changed[at] = static_cast<char>(octet);
            const path_result found = parse_path(changed, {});
            if (found.ok()) CHECK(found.value.length <= changed.size());
        }
    }
}

TEST_CASE("address: what a mailbox means without its quotes") {
    const struct {
        std::string_view written, local_part, mailbox;
    } rows[] = {
        {"a.b@example.com", "a.b", "a.b@example.com"},
        {"\"a b\"@x", "a b", "a b@x"},
        {"\"a\\\"b\\\\c\"@x", "a\"b\\c", "a\"b\\c@x"},
        {"\"\\a\\.\\@\"@x", "a.@", "a.@@x"},
        {"\"\\\\\"@x", "\\", "\\@x"},
        {"\"\"@x", "", "@x"},
        {"\"a\"", "a", "a"},
        {"postmaster", "postmaster", "postmaster"},
    };
    for (const auto& row : rows) {
        INFO(row.written);
        const auto found = parse_mailbox(row.written, bare_local_part::allowed);
        REQUIRE(found.ok());
        CHECK(unquoted_local_part(found.value) == row.local_part);
        CHECK(unquoted_mailbox(found.value) == row.mailbox);
    }
    CHECK(unquoted_mailbox(path{}).empty());
}

TEST_CASE("address: what may stand behind an @ is a host name") {
    for (const char* right : {"example.com", "localhost", "[192.0.2.1]", "[IPv6:2001:db8::1]"}) {
        CAPTURE(right);
        CHECK(is_host_name(right));
    }
    for (const char* wrong :
         {"", "a b", "a@b", "-x.example", "192.0.2.1 x", "[192.0.2.1", "a\r\nb"}) {
        CAPTURE(wrong);
        CHECK_FALSE(is_host_name(wrong));
    }
}
