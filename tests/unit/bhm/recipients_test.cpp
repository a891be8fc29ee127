// SPDX-License-Identifier: GPL-3.0-or-later
#include "bhm/recipients.hpp"

#include <catch2/catch.hpp>

#include <string>
#include <utility>

using namespace postal;

namespace {

bhm::recipients listed(const std::string& text) {
    const auto users = mail::parse_users(text, "users");
    REQUIRE(users.has_value());
    bhm::recipients list;
    REQUIRE(list.admit(*users, "users").has_value());
    return list;
}

bool valid(const bhm::recipients& list, const std::string& mailbox) {
    const auto path = proto::parse_mailbox(mailbox, proto::bare_local_part::allowed);
    REQUIRE(path.ok());
    return list.find(path.value) != nullptr;
}

}  // namespace

TEST_CASE("recipients: without a list everybody is valid") {
    CHECK(valid(bhm::recipients{}, "anybody@example.com"));
}

TEST_CASE("recipients: the list decides, without regard to case and quotes") {
    const bhm::recipients list = listed("Ann@Example.com secret\nbare\n\"odd..one\"@example.com\n");
    struct row {
        std::string mailbox;
        bool wanted;
        std::string reason;
    };
    const row rows[] = {
        {"Ann@Example.com", true, "as written"},
        {"ann@EXAMPLE.COM", true, "another case"},
        {"\"Ann\"@example.com", true, "quotes that are not needed"},
        {"\"A\\nn\"@example.com", true, "quoted pair that is not needed"},
        {"\"odd..one\"@example.com", true, "quotes that are needed"},
        {"bare", true, "a name without a domain"},
        {"BARE", true, "in another case"},
        {"bare@example.com", false, "a domain that the list does not have"},
        {"ann", false, "a domain is missing"},
        {"bob@example.com", false, "not in the list"},
        {"Postmaster", true, "RFC 5321 4.5.1"},
        {"postmaster@example.com", false, "not in the list"},
    };
    for (const row& one : rows) {
        CAPTURE(one.mailbox, one.reason);
        CHECK(valid(list, one.mailbox) == one.wanted);
    }
}

TEST_CASE("recipients: the third column says what becomes of their mail") {
    const bhm::recipients list = listed(
        "a@example.com - d\nb@example.com x r\nc@example.com - b\nd@example.com - g\n"
        "e@example.com\nA@example.com - r\n");
    using enum bhm::fate;
    const std::pair<std::string, bhm::fate> rows[] = {
        {"a@example.com", deferred},   {"B@Example.com", rejected}, {"c@example.com", bounced},
        {"d@example.com", greylisted}, {"e@example.com", accepted}, {"postmaster", accepted}};
    for (const auto& [mailbox, wanted] : rows) {
        CAPTURE(mailbox);
        const auto path = proto::parse_mailbox(mailbox, proto::bare_local_part::allowed);
        REQUIRE(path.ok());
        REQUIRE(list.find(path.value) != nullptr);
        CHECK(list.find(path.value)->what == wanted);
    }
    REQUIRE(list.first(rejected) != nullptr);
    CHECK(list.first(rejected)->line == 2);
    CHECK(bhm::recipients{}.first(bounced) == nullptr);
    CHECK(*list.password("b@example.com") == "x");
}

TEST_CASE("recipients: several letters are refused with file and line") {
    const auto users = mail::parse_users("a@example.com x d\nb@example.com x gb\n", "users");
    REQUIRE(users.has_value());
    const auto admitted = bhm::recipients{}.admit(*users, "users");
    REQUIRE_FALSE(admitted.has_value());
    CHECK(admitted.error().message.starts_with("users:2: behaviour \"gb\" "));
}
