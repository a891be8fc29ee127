// SPDX-License-Identifier: GPL-3.0-or-later
// Users and owners as the system's database has them; only those that every Debian has are used.
#include "os/system_user.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>

#include <algorithm>
#include <string>

using namespace postal;

TEST_CASE("system_user: a user is found with home and groups") {
    const auto root = os::find_user("root");
    REQUIRE(root.has_value());
    CHECK(root->name == "root");
    CHECK(root->home == "/root");
    CHECK(root->uid == 0);
    CHECK(root->gid == 0);
    CHECK(std::find(root->groups.begin(), root->groups.end(), gid_t{0}) != root->groups.end());
    const auto nobody = os::find_user("nobody");
    REQUIRE(nobody.has_value());
    CHECK(nobody->uid == 65534);
}

TEST_CASE("system_user: a user that is not there is one line") {
    struct row {
        std::string name;
        std::string_view wanted;
    };
    const std::vector<row> table{
        {"no-such-user", "there is no user 'no-such-user' on this system"},
        {"", "there is no user '' on this system"},
        {"0", "there is no user '0' on this system"},
        {std::string("root\0x", 6), "there is no user 'root\\x00x' on this system"},
        {"a\nb", "there is no user 'a\\nb' on this system"},
    };
    for (const auto& [name, wanted] : table) {
        INFO(wanted);
        const auto found = os::find_user(name);
        REQUIRE(found.has_error());
        CHECK(found.error().message == wanted);
    }
}

TEST_CASE("system_user: who may become whom") {
    const auto nobody = os::find_user("nobody");
    REQUIRE(nobody.has_value());
    if (::geteuid() == 0) CHECK(os::check_may_become(*nobody).has_value());
    os::system_user self{"self", "/", ::geteuid(), ::getegid(), {}};
    CHECK(os::check_may_become(self).has_value());
    if (::geteuid() != 0) return;
    const pid_t checker = ::fork();
    if (checker == 0) {
        if (::setuid(nobody->uid) != 0) ::_exit(2);
        const auto refused = os::check_may_become({"root", "/root", 0, 0, {}});
        const bool right = refused.has_error() &&
                           refused.error().message ==
                               "only root can become user root, and this runs as user number 65534";
        ::_exit(right && os::check_may_become(*nobody).has_value() ? 0 : 1);
    }
    int status = -1;
    REQUIRE(::waitpid(checker, &status, 0) == checker);
    CHECK(status == 0);
}

TEST_CASE("system_user: owners") {
    struct row {
        std::string_view text;
        os::owner wanted;
        std::string_view reason;
    };
    const std::vector<row> table{
        {"root", {0, 0}, "its own group"},
        {"nobody", {65534, 65534}, "its own group, which has another name"},
        {"nobody:root", {65534, 0}, "both by name"},
        {"0:65534", {0, 65534}, "both by number"},
        {"123456:root", {123456, 0}, "a number without a name"},
    };
    for (const auto& [text, wanted, reason] : table) {
        INFO(text << ": " << reason);
        const auto owner = os::parse_owner(text);
        REQUIRE(owner.has_value());
        CHECK((*owner == wanted));
    }
}

TEST_CASE("system_user: owners that are none") {
    struct row {
        std::string_view text;
        std::string_view wanted;
    };
    const std::vector<row> table{
        {"", "there is no user '' on this system"},
        {":root", "there is no user '' on this system"},
        {"no-such-user:root", "there is no user 'no-such-user' on this system"},
        {"root:", "there is no group '' on this system"},
        {"root:no-such-group", "there is no group 'no-such-group' on this system"},
        {"root:root:root", "there is no group 'root:root' on this system"},
        {"4294967295:root", "there is no user '4294967295' on this system"},
        {"123456", "'123456' is a number, so its group is not known; give USER:GROUP"},
    };
    for (const auto& [text, wanted] : table) {
        INFO(text);
        const auto owner = os::parse_owner(text);
        REQUIRE(owner.has_error());
        CHECK(owner.error().message == wanted);
    }
}
