#include "testbed/mount_holders.hpp"

#include "base/read_file.hpp"
#include "base/text.hpp"
#include "testbed/mounts.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <vector>

namespace postal::testbed {
namespace {

namespace fs = std::filesystem;

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

}  // namespace

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

}  // namespace postal::testbed
