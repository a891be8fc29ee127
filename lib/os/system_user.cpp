// SPDX-License-Identifier: GPL-3.0-or-later
// getpwnam_r(3), getgrnam_r(3) and getgrouplist(3), with buffers that grow until they suffice.
//
// "There is no such user" and "the user database could not be asked" are different lines: the
// second passes by itself. A name with a NUL or nothing in it is refused before anybody is asked.
#include "os/system_user.hpp"

#include "base/machine_trouble.hpp"
#include "base/text.hpp"
#include "base/units.hpp"

#include <grp.h>
#include <linux/capability.h>
#include <pwd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <limits>
#include <utility>

namespace postal::os {
namespace {

constexpr std::size_t most_buffer = std::size_t{16} << 20U;

struct user_entry {
    std::string name;
    std::string home;
    uid_t uid = 0;
    gid_t gid = 0;
};

// What `copy` takes of the entry of that name; `ask` is one of the functions above.
template <class Entry, class Copied>
base::expected<std::optional<Copied>> look_up(std::string_view what, std::string_view name,
                                              int (*ask)(const char*, Entry*, char*, std::size_t,
                                                         Entry**),
                                              Copied (*copy)(const Entry&)) {
    std::optional<Copied> found;
    if (name.empty() || name.find('\0') != std::string_view::npos) return found;
    const std::string wanted(name);
    std::vector<char> buffer(1024);
    while (true) {
        Entry entry{};
        Entry* result = nullptr;
        errno = 0;  // a service of nsswitch.conf that could not be loaded leaves it as it is
        const int error = ask(wanted.c_str(), &entry, buffer.data(), buffer.size(), &result);
        if (error == ERANGE && buffer.size() < most_buffer) {
            buffer.resize(buffer.size() * 4);
            continue;
        }
        if (error == EINTR) continue;
        if (result != nullptr) found = copy(*result);
        // Of a service in nsswitch.conf that is not installed; who is not there is 0 for glibc.
        const bool absent = error == ENOENT || error == ESRCH;
        if (error == 0 || absent) return found;
        return base::fail("cannot look up {} {}: {}", what, base::printable(name, 60),
                          base::system_message(error));
    }
}

base::expected<std::optional<user_entry>> user_by_name(std::string_view name) {
    return look_up<passwd, user_entry>("user", name, ::getpwnam_r, [](const passwd& entry) {
        return user_entry{entry.pw_name, entry.pw_dir, entry.pw_uid, entry.pw_gid};
    });
}

base::expected<std::optional<gid_t>> group_by_name(std::string_view name) {
    return look_up<group, gid_t>("group", name, ::getgrnam_r,
                                 [](const group& entry) { return entry.gr_gid; });
}

base::failure no_such(std::string_view what, std::string_view name) {
    return base::fail("there is no {} '{}' on this system", what, base::printable(name, 60));
}

// A number that can be an identity; -1 means "leave it" to chown(2).
std::optional<unsigned> identity(std::string_view text) {
    const auto number = base::parse_count(text);
    if (!number || *number >= std::numeric_limits<unsigned>::max()) return std::nullopt;
    return static_cast<unsigned>(*number);
}

std::vector<gid_t> groups_of(const user_entry& user) {
    int count = 32;
    std::vector<gid_t> groups(static_cast<std::size_t>(count));
    while (::getgrouplist(user.name.c_str(), user.gid, groups.data(), &count) < 0) {
        // It says how many there are, but not every version of it does.
        count = std::max(count, static_cast<int>(groups.size()) * 2);
        groups.resize(static_cast<std::size_t>(count));
    }
    groups.resize(static_cast<std::size_t>(count));
    return groups;
}

// Whether CAP_KILL is in effect (capget(2)).
bool may_kill() {
    __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
    __user_cap_data_struct sets[_LINUX_CAPABILITY_U32S_3]{};
    if (::syscall(SYS_capget, &header, sets) != 0) return true;
    return (sets[CAP_TO_INDEX(CAP_KILL)].effective & CAP_TO_MASK(CAP_KILL)) != 0;
}

}  // namespace

base::expected<std::optional<account>> find_account(std::string_view name) {
    auto user = user_by_name(name);
    if (!user) return user.error();
    std::optional<account> found;
    if (*user) found = account{std::move((*user)->name), std::move((*user)->home)};
    return found;
}

base::expected<void> load_user_services() {
    const auto nobody = user_by_name("postal-asks-for-nobody");
    if (nobody || !base::is_machine_trouble(nobody.error().message)) return {};
    return nobody.error();
}

base::expected<system_user> find_user(std::string_view name) {
    const auto user = user_by_name(name);
    if (!user) return user.error();
    if (!user->has_value()) return no_such("user", name);
    const user_entry& entry = **user;
    return system_user{entry.name, entry.home, entry.uid, entry.gid, groups_of(entry)};
}

base::expected<void> check_may_become(const system_user& wanted) {
    const uid_t now = ::geteuid();
    if (now == wanted.uid && ::getuid() == wanted.uid) return {};
    if (now == 0 && may_kill()) return {};
    if (now == 0) {
        return base::fail(
            "who becomes user {} could not be ended: this runs as root without the capability "
            "CAP_KILL",
            wanted.name);
    }
    return base::fail("only root can become user {}, and this runs as user number {}", wanted.name,
                      now);
}

int ask_as(const system_user* who, const std::function<int()>& ask) {
    if (who == nullptr || ::geteuid() != 0) return ask();
    const pid_t child = ::fork();
    if (child < 0) return errno;
    if (child == 0) {
        const bool is_him = ::setgroups(who->groups.size(), who->groups.data()) == 0 &&
                            ::setresgid(who->gid, who->gid, who->gid) == 0 &&
                            ::setresuid(who->uid, who->uid, who->uid) == 0;
        ::_exit(is_him ? ask() : errno);
    }
    int status = 0;
    while (::waitpid(child, &status, 0) < 0)
        if (errno != EINTR) return errno;
    return WIFEXITED(status) ? WEXITSTATUS(status) : EINTR;
}

base::expected<owner> parse_owner(std::string_view text) {
    const std::size_t colon = text.find(':');
    const std::string_view user_name = text.substr(0, colon);
    const auto user = user_by_name(user_name);
    if (!user) return user.error();
    const auto number = identity(user_name);
    if (!user->has_value() && !number) return no_such("user", user_name);
    owner result;
    result.uid = user->has_value() ? (*user)->uid : *number;
    if (colon == std::string_view::npos) {
        if (user->has_value()) return owner{result.uid, (*user)->gid};
        return base::fail("'{}' is a number, so its group is not known; give USER:GROUP",
                          user_name);
    }
    const std::string_view group_name = text.substr(colon + 1);
    const auto group = group_by_name(group_name);
    if (!group) return group.error();
    const auto group_number = identity(group_name);
    if (!group->has_value() && !group_number) return no_such("group", group_name);
    result.gid = group->has_value() ? **group : *group_number;
    return result;
}

}  // namespace postal::os
