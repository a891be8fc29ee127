#include "bhm/recipients.hpp"

#include <catch2/catch.hpp>

#include <string>

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
    return list.valid(path.value);
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

TEST_CASE("recipients: behaviours are refused with file and line") {
    const auto users = mail::parse_users("a@example.com x\nb@example.com x d\n", "users");
    REQUIRE(users.has_value());
    const auto admitted = bhm::recipients{}.admit(*users, "users");
    REQUIRE_FALSE(admitted.has_value());
    CHECK(admitted.error().message.starts_with("users:2: "));
    CHECK(admitted.error().message.find("behaviour") != std::string::npos);
}
