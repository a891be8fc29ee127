// SPDX-License-Identifier: GPL-3.0-or-later
#include "lmtp-deliver/mailbox.hpp"

#include <catch2/catch.hpp>

#include <string>

using namespace postal;
using namespace postal::lmtp_deliver;

namespace {

proto::path parsed(const std::string& text) {
    const auto found =
        proto::parse_path(text, {proto::path_role::reverse, proto::bare_local_part::allowed});
    REQUIRE(found.ok());
    return found.value;
}

}  // namespace

TEST_CASE("mailbox: a path gives the address and its parts") {
    struct row {
        std::string path, delimiters;
        mailbox wanted;
        std::string reason;
    };
    const row rows[]{
        {"<a@example.com>", "+", {"a@example.com", "a", "example.com", ""}, "the plain one"},
        {"<a+b@example.com>", "+", {"a+b@example.com", "a", "example.com", "b"}, "a detail"},
        {"<a+b+c@x>", "+", {"a+b+c@x", "a", "x", "b+c"}, "the first delimiter splits"},
        {"<a+@x>", "+", {"a+@x", "a", "x", ""}, "an empty detail"},
        {"<+b@x>", "+", {"+b@x", "+b", "x", ""}, "a delimiter at the beginning does not split"},
        {"<++b@x>", "+", {"++b@x", "+", "x", "b"}, "the next one does"},
        {"<+@x>", "+", {"+@x", "+", "x", ""}, "a delimiter alone"},
        {"<a-b+c@x>", "+-", {"a-b+c@x", "a", "x", "b+c"}, "two delimiters, the first that comes"},
        {"<a+b@x>", "-", {"a+b@x", "a+b", "x", ""}, "another delimiter"},
        {"<a+b@x>", "", {"a+b@x", "a+b", "x", ""}, "none"},
        {"<A.B@Example.COM>", "+", {"A.B@Example.COM", "A.B", "Example.COM", ""}, "case is kept"},
        {"<\"a b\"@x>", "+", {"a b@x", "a b", "x", ""}, "quotes are taken away"},
        {"<\"a\\\"b\\\\c\"@x>", "+", {"a\"b\\c@x", "a\"b\\c", "x", ""}, "quoted pairs"},
        {"<\"a\\+b\"@x>", "+", {"a+b@x", "a", "x", "b"}, "a delimiter in a quoted pair"},
        {"<\"a@b\"@x>", "+", {"a@b@x", "a@b", "x", ""}, "an @ in quotes"},
        {"<\"\"@x>", "+", {"@x", "", "x", ""}, "an empty local part"},
        {"<\"-a\"@x>", "+", {"-a@x", "-a", "x", ""}, "a dash is data"},
        {"<postmaster>", "+", {"postmaster", "postmaster", "", ""}, "no domain"},
        {"<a+b>", "+", {"a+b", "a", "", "b"}, "no domain, but a detail"},
        {"<>", "+", {"", "", "", ""}, "the null path"},
        {"<a@[192.0.2.1]>", "+", {"a@[192.0.2.1]", "a", "[192.0.2.1]", ""}, "a literal"},
        {"<@y:a@x>", "+", {"a@x", "a", "x", ""}, "a source route is no part of it"},
        {"<j\xc3\xbc+d@x>", "+", {"j\xc3\xbc+d@x", "j\xc3\xbc", "x", "d"}, "UTF-8"},
    };
    for (const row& each : rows) {
        CAPTURE(each.path, each.delimiters, each.reason);
        const mailbox made = make_mailbox(parsed(each.path), each.delimiters);
        CHECK(made.address == each.wanted.address);
        CHECK(made.user == each.wanted.user);
        CHECK(made.domain == each.wanted.domain);
        CHECK(made.detail == each.wanted.detail);
    }
}

TEST_CASE("mailbox: local parts that leave a folder") {
    struct row {
        std::string path;
        bool wanted;
        std::string reason;
    };
    const row rows[]{
        {"<a@x>", false, "plain"},
        {"<a.b@x>", false, "one dot"},
        {"<a/b@x>", true, "a slash is atext"},
        {"</a@x>", true, "at the beginning"},
        {"<\"a/b\"@x>", true, "in quotes"},
        {"<\"a\\/b\"@x>", true, "in a quoted pair"},
        {"<\"..\"@x>", true, "the folder above"},
        {"<\"a..b\"@x>", true, "two dots anywhere"},
        {"<\".\\.\"@x>", true, "a quoted pair between them"},
        {"<\".\"@x>", false, "the folder itself"},
        {"<a@[IPv6:::1]>", false, "the domain is not looked at"},
        {"<>", false, "the null path"},
    };
    for (const row& each : rows) {
        CAPTURE(each.path, each.reason);
        CHECK(leaves_folder(proto::unquoted_local_part(parsed(each.path))) == each.wanted);
    }
}
