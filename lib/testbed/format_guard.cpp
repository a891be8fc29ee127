// SPDX-License-Identifier: GPL-3.0-or-later
#include "testbed/format_guard.hpp"

#include "base/file_descriptor.hpp"
#include "base/read_file.hpp"
#include "base/text.hpp"
#include "base/units.hpp"
#include "testbed/device_content.hpp"
#include "testbed/mounts.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include <cerrno>
#include <filesystem>
#include <optional>
#include <vector>

namespace postal::testbed {
namespace {

namespace fs = std::filesystem;

fs::path system_folder(dev_t device) {
    return fmt::format("/sys/dev/block/{}:{}", ::major(device), ::minor(device));
}

std::vector<fs::path> entries(const fs::path& folder) {
    std::vector<fs::path> found;
    std::error_code failed;
    for (fs::directory_iterator one(folder, failed), end; !failed && one != end;
         one.increment(failed))
        found.push_back(one->path());
    return found;
}

// "8:17\n"
std::optional<dev_t> read_number(const fs::path& file) {
    const auto text = base::read_file(file);
    if (!text) return std::nullopt;
    const auto parts = base::split(base::trim(*text), ':');
    if (parts.size() != 2) return std::nullopt;
    const auto high = base::parse_count(parts[0]);
    const auto low = base::parse_count(parts[1]);
    if (!high || !low) return std::nullopt;
    return ::makedev(static_cast<unsigned>(*high), static_cast<unsigned>(*low));
}

base::expected<void> check_mounts(const std::string& device, dev_t number) {
    const auto all = read_mounts();
    if (!all) return all.error();
    if (const auto own = mounts_of(*all, number); !own.empty())
        return base::fail("{} is mounted on {}", device, own.front().folder);
    for (const fs::path& entry : entries(system_folder(number))) {
        if (!base::read_file(entry / "partition")) continue;
        const auto partition = read_number(entry / "dev");
        const auto on = partition ? mounts_of(*all, *partition) : std::vector<mount_point>();
        if (!on.empty())
            return base::fail("{} has the partition {}, which is mounted on {}", device,
                              entry.filename().string(), on.front().folder);
    }
    return {};
}

base::expected<void> check_unused(const std::string& device, dev_t number) {
    const base::file_descriptor opened(
        ::open(device.c_str(), O_RDONLY | O_EXCL | O_CLOEXEC | O_NONBLOCK));
    if (opened.is_open()) return {};
    if (errno != EBUSY)
        return base::fail("cannot open {}: {}", device, base::system_message(errno));
    std::vector<std::string> holders;
    for (const fs::path& entry : entries(system_folder(number) / "holders"))
        holders.push_back(entry.filename().string());
    return base::fail("{} is in use by {}", device,
                      holders.empty() ? "the kernel: as swap, or mounted in another namespace, or "
                                        "opened exclusively"
                                      : base::join(holders, ", "));
}

}  // namespace

base::expected<void> may_format(const std::string& device, std::string_view own_uuid,
                                existing_data existing) {
    struct stat status {};
    if (::stat(device.c_str(), &status) != 0)
        return base::fail("cannot use {}: {}", device, base::system_message(errno));
    if (!S_ISBLK(status.st_mode)) return base::fail("{} is not a block device", device);
    if (const auto free = check_mounts(device, status.st_rdev); !free) return free;
    if (const auto free = check_unused(device, status.st_rdev); !free) return free;
    if (existing == existing_data::overwrite) return {};
    const auto content = probe_device(device);
    if (!content) return content.error();
    const bool own = content->kind == content_kind::file_system && !own_uuid.empty() &&
                     content->uuid == own_uuid;
    if (own || content->kind == content_kind::nothing) return {};
    return base::fail("{} holds {}; --overwrite would destroy it", device, content->text());
}

}  // namespace postal::testbed
