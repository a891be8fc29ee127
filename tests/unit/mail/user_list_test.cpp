// SPDX-License-Identifier: GPL-3.0-or-later
#include "mail/user_list.hpp"

#include "support.hpp"

#include <catch2/catch.hpp>

using namespace postal::mail;
using namespace std::string_literals;

TEST_CASE("user list: good lines give address, password and behaviour") {
    struct row {
        std::string text, address, password, behaviour;
    };
    const row rows[]{
        {"a@example.com", "a@example.com", "", ""},
        {"a@example.com secret", "a@example.com", "secret", ""},
        {"a@example.com\tsecret \t db", "a@example.com", "secret", "db"},
        {"a@example.com - drbg", "a@example.com", "", "drbg"},
        {"  a@example.com  ", "a@example.com", "", ""},
        {"a@example.com secret\r\n", "a@example.com", "secret", ""},
        {"just-a-name pass", "just-a-name", "pass", ""},
        {"\"a@b\"@example.com", "\"a@b\"@example.com", "", ""},
        {"\"a\\\"@b\"@example.com", "\"a\\\"@b\"@example.com", "", ""},
        {"j\xc3\xbcrgen@example.com", "j\xc3\xbcrgen@example.com", "", ""},
        {"a@[192.0.2.1]", "a@[192.0.2.1]", "", ""},
        {"a@[IPv6:2001:db8::1] x:y", "a@[IPv6:2001:db8::1]", "x:y", ""},
        {"\"a;b,c:\\\"d\"@example.com a,b", "\"a;b,c:\\\"d\"@example.com", "a,b", ""},
        {"master*user <pass>", "master*user", "<pass>", ""},
    };
    for (const row& each : rows) {
        INFO(each.text);
        const auto users = parse_users(each.text, "list");
        REQUIRE(users.has_value());
        REQUIRE(users->size() == 1);
        CHECK(users->front().address == each.address);
        CHECK(users->front().password == each.password);
        CHECK(users->front().behaviour == each.behaviour);
        CHECK(users->front().line == 1);
    }
}

TEST_CASE("user list: blank lines and comments are skipped and lines counted") {
    const auto users =
        parse_users("# users\r\n\r\n   \na@example.com p\r\n  # more\nb@example.com", "list");
    REQUIRE(users.has_value());
    REQUIRE(users->size() == 2);
    CHECK((*users)[0].line == 4);
    CHECK((*users)[1].line == 6);
    CHECK((*users)[1].address == "b@example.com");
}

TEST_CASE("user list: a malformed line is refused with file, line and reason") {
    struct row {
        std::string text, reason;
    };
    const row rows[]{
        {"a@example.com p d extra", "4 fields"},
        {"a@example.com p x", "behaviour"},
        {"not an address", "\"not\" is not an address"},
        {"this is not an address", "\"this\" is not an address"},
        {"a@example.com p D", "behaviour"},
        {"a@example.com p -", "behaviour"},
        {"<a@example.com>", "angle bracket"},
        {"a@exam\rple.com p", "control character 0x0d"},
        {"a@example.com\0 p"s, "control character 0x00"},
        {"a@example.com p\x7f", "control character 0x7f"},
        {"a@example.com\x0b p", "control character 0x0b"},
        {"a\xff@example.com", "UTF-8"},
        {"a\xc0\xaf@example.com", "UTF-8"},
        {"@example.com", "nothing before"},
        {"a@", "no domain"},
        {"a@b@c", "more than one"},
        {std::string(600, 'a') + "@example.com", "octets"},
        {"a@example.com,secret", "\"a@example.com\" is followed by \",\""},
        {"a@example.com;secret", "\"a@example.com\" is followed by \";\""},
        {"a@example.com:secret", "\"a@example.com\" is followed by \":\""},
        {"a@[192.0.2.1]:secret", "\"a@[192.0.2.1]\" is followed by \":\""},
        {"\"a\"b:secret@example.com", "is followed by \":\""},
        {"root:*:secret:0:99999:7:::", "\"root\" is followed by \":\""},
        {"Ann <a@example.com>", "\"Ann\" is a name"},
        {"Ann Other <a@example.com>", "\"Ann\" is a name"},
    };
    for (const row& each : rows) {
        INFO(each.text);
        const auto users = parse_users("ok@example.com\n" + each.text + "\n", "some/list");
        REQUIRE_FALSE(users.has_value());
        CHECK_THAT(users.error().message, Catch::StartsWith("some/list:2: "));
        CHECK_THAT(users.error().message, Catch::Contains(each.reason));
        CHECK_THAT(users.error().message, !Catch::Contains("secret"));
        CHECK(users.error().message.find_first_of("\r\n") == std::string::npos);
    }
}

TEST_CASE("user list: files that cannot be used are refused by name") {
    const test::temporary_folder folder;
    const auto missing = load_users(folder / "missing");
    REQUIRE_FALSE(missing.has_value());
    CHECK_THAT(missing.error().message,
               Catch::Contains("missing") && Catch::Contains("No such file"));
    const auto directory = load_users(folder.path());
    REQUIRE_FALSE(directory.has_value());
    CHECK_THAT(directory.error().message, Catch::Contains("directory"));
    const auto empty = load_users(folder.write("empty", ""));
    REQUIRE_FALSE(empty.has_value());
    CHECK_THAT(empty.error().message, Catch::Contains("no user"));
    const auto comments = load_users(folder.write("comments", "# nobody\n\n"));
    REQUIRE_FALSE(comments.has_value());
    const auto good = load_users(folder.write("good", "a@example.com\n"));
    REQUIRE(good.has_value());
    CHECK(good->size() == 1);
}

TEST_CASE("user list: which mailbox stands there twice") {
    const auto users = parse_users("a@example.com\nb@example.com\nA@Example.com\n", "list");
    REQUIRE(users.has_value());
    const auto [one, again] = same_mailbox(*users);
    REQUIRE(again != nullptr);
    CHECK(one->line == 1);
    CHECK(again->line == 3);
    CHECK(same_mailbox(*parse_users("a@example.com\nb@example.com\n", "list")).second == nullptr);
}

TEST_CASE("user list: a byte order mark is no part of the first address") {
    const auto users = parse_users("\xef\xbb\xbfuser@example.com p\r\n", "list");
    REQUIRE(users.has_value());
    CHECK(users->front().address == "user@example.com");
}

TEST_CASE("user list: an address says whether it is ASCII") {
    CHECK(check_address("a@example.com").value());
    CHECK_FALSE(check_address("\xc3\xa4@example.com").value());
    CHECK_FALSE(check_address("").has_value());
    CHECK_FALSE(check_address("a b@example.com").has_value());
    CHECK_FALSE(check_address("a@example.com\r\nRCPT TO:<b@example.com>").has_value());
}
