// SPDX-License-Identifier: GPL-3.0-or-later
// Users of the system: who an agent runs as, and to whom a socket belongs.
//
// All ask the system's user database (passwd, LDAP, whatever nsswitch.conf says). Each failure is
// one line without the option's name.
//
// Limits: may block for as long as the user database does; other capabilities are not looked at, so
// a process that is not root but has CAP_SETUID is told that it may not become another user.
#pragma once

#include "base/result.hpp"

#include <sys/types.h>

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace postal::os {

struct system_user {
    std::string name;
    std::string home;
    uid_t uid = 0;
    gid_t gid = 0;
    std::vector<gid_t> groups;  // all of them, gid among them
};

struct account {
    std::string name;
    std::string home;
};

// Nothing when there is no such user; fails when the database could not be asked.
[[nodiscard]] base::expected<std::optional<account>> find_account(std::string_view name);

// Loads the services that nsswitch.conf names, before memory or descriptors are scarce: glibc tries
// each once, and without one its users are unknown until the program ends. Fails only for lack of
// memory or descriptors; asks for a name that nobody has.
[[nodiscard]] base::expected<void> load_user_services();

// By name only: a number is not taken for an identity.
[[nodiscard]] base::expected<system_user> find_user(std::string_view name);

// Root may become anybody, everybody else only what it is already. Root without CAP_KILL may not:
// it could not end a process of that user's.
[[nodiscard]] base::expected<void> check_may_become(const system_user& wanted);

// What `ask` gives, an errno value or 0, in a process of its own with that user's identity; by
// itself where nobody is given. Call it while this process has one thread.
[[nodiscard]] int ask_as(const system_user* who, const std::function<int()>& ask);

struct owner {
    uid_t uid = 0;
    gid_t gid = 0;
    bool operator==(const owner&) const = default;
};

// "USER" (with the user's own group) or "USER:GROUP"; each a name or, when there is no such name, a
// number.
[[nodiscard]] base::expected<owner> parse_owner(std::string_view text);

}  // namespace postal::os
