// SPDX-License-Identifier: GPL-3.0-or-later
#include "testbed/mounting.hpp"

#include "base/read_file.hpp"
#include "base/text.hpp"

#include <fcntl.h>
#include <libmount/libmount.h>
#include <sys/mount.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <filesystem>
#include <memory>
#include <thread>
#include <vector>

namespace postal::testbed {
namespace {

namespace fs = std::filesystem;

constexpr auto between_tries = std::chrono::milliseconds(50);

using context = std::unique_ptr<libmnt_context, int (*)(libmnt_context*)>;

int release(libmnt_context* one) {
    return mnt_free_context(one), 0;
}

// Nothing of /etc/fstab is mixed in, and nothing is noted in /run/mount.
bool fill(libmnt_context* mounting, const mount_plan& plan) {
    return mnt_context_set_optsmode(mounting, MNT_OMODE_NOTAB) == 0 &&
           mnt_context_disable_mtab(mounting, 1) == 0 &&
           mnt_context_set_source(mounting, plan.device.c_str()) == 0 &&
           mnt_context_set_target(mounting, plan.folder.c_str()) == 0 &&
           mnt_context_set_fstype(mounting, plan.type.c_str()) == 0 &&
           mnt_context_set_options(mounting, plan.options.c_str()) == 0;
}

// ---- who keeps a mount from being unmounted ----

constexpr std::size_t most_named = 5;
constexpr std::size_t longest_name = 64;

// Of the mount that a path leads to; what /proc links to is followed without being looked up.
std::optional<std::uint64_t> mount_id(const fs::path& path) {
    struct statx status {};
    const int flags = AT_NO_AUTOMOUNT | AT_STATX_DONT_SYNC;
    if (::statx(AT_FDCWD, path.c_str(), flags, STATX_MNT_ID, &status) != 0) return std::nullopt;
    if ((status.stx_mask & STATX_MNT_ID) == 0) return std::nullopt;
    return status.stx_mnt_id;
}

bool holds(const fs::path& process, std::uint64_t id) {
    for (const char* link : {"cwd", "root", "exe"})
        if (mount_id(process / link) == id) return true;
    std::error_code gone;
    for (fs::directory_iterator one(process / "fd", gone), end; !gone && one != end;
         one.increment(gone))
        if (mount_id(one->path()) == id) return true;
    return false;
}

void add_processes(std::vector<std::string>& found, std::uint64_t id) {
    std::error_code gone;
    for (fs::directory_iterator one("/proc", gone), end; !gone && one != end; one.increment(gone)) {
        const std::string pid = one->path().filename().string();
        if (!std::all_of(pid.begin(), pid.end(), base::is_digit) || !holds(one->path(), id))
            continue;
        const auto name = base::read_file(one->path() / "comm");
        found.push_back(fmt::format(
            "{} ({})", pid,
            name ? base::printable(base::trim(*name), longest_name) : std::string("ended")));
    }
}

// "1234 (dovecot), 1236 (imap)", "the mount on /mnt/mail/spool", or that none was found: this
// process may not look at all others, and memory mapped from closed files, swap files and loop
// devices on the mount are not seen.
std::string mount_holders(const std::string& folder) {
    std::vector<std::string> found;
    if (const auto all = read_mounts()) {
        const auto self = mount_at(*all, folder);
        for (const mount_point& one : *all)
            if (self && one.parent == self->id) found.push_back("the mount on " + one.folder);
    }
    if (const auto id = mount_id(folder)) add_processes(found, *id);
    if (found.empty()) return "something that is no process's open file or folder";
    if (found.size() > most_named) {
        const std::size_t more = found.size() - most_named;
        found.resize(most_named);
        found.push_back(fmt::format("{} more", more));
    }
    return base::join(found, ", ");
}

}  // namespace

base::expected<mount_point> mount_device(const mount_plan& plan) {
    const std::string what =
        fmt::format("{} as {}{}{} on {}", plan.device, plan.type,
                    plan.options.empty() ? "" : " with ", plan.options, plan.folder);
    const context mounting(mnt_new_context(), release);
    if (!mounting || !fill(mounting.get(), plan))
        return base::fail("cannot mount {}: out of memory", what);
    const int result = mnt_context_mount(mounting.get());
    std::array<char, 512> reason{};
    if (mnt_context_get_excode(mounting.get(), result, reason.data(), reason.size()) != 0)
        return base::fail("cannot mount {}: {}", what,
                          base::printable(reason.data(), reason.size()));
    const auto all = read_mounts();
    if (!all) return all.error();
    if (auto made = mount_at(*all, plan.folder)) return std::move(*made);
    return base::fail("mounted {}, but the kernel does not show it", what);
}

base::expected<void> unmount(const std::string& folder, std::chrono::milliseconds patience) {
    const auto until = std::chrono::steady_clock::now() + patience;
    while (::umount2(folder.c_str(), 0) != 0) {
        if (errno == EINVAL) return base::fail("cannot unmount {}: it is not mounted", folder);
        if (errno != EBUSY)
            return base::fail("cannot unmount {}: {}", folder, base::system_message(errno));
        if (std::chrono::steady_clock::now() >= until)
            return base::fail("cannot unmount {}: it is in use by {}", folder,
                              mount_holders(folder));
        std::this_thread::sleep_for(between_tries);
    }
    return {};
}

}  // namespace postal::testbed
