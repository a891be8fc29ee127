// SPDX-License-Identifier: GPL-3.0-or-later
#include "testbed/device_lock.hpp"

#include "base/read_file.hpp"
#include "base/text.hpp"
#include "base/units.hpp"

#include <blkid/blkid.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include <cerrno>

namespace postal::testbed {
namespace {

std::string holder_of(int file) {
    struct stat status {};
    const auto locks = base::read_file("/proc/locks");
    if (!locks || ::fstat(file, &status) != 0) return {};
    const auto pid = flock_holder(*locks, status.st_dev, status.st_ino);
    return pid ? fmt::format(" (process {})", *pid) : std::string();
}

// The file whose lock stands for the device or image.
base::expected<std::string> lock_path(const std::string& name) {
    struct stat status {};
    if (::stat(name.c_str(), &status) != 0)
        return base::fail("cannot lock {}: {}", name, base::system_message(errno));
    if (S_ISREG(status.st_mode)) return {boost::system::in_place_value, name};
    if (!S_ISBLK(status.st_mode))
        return base::fail("cannot lock {}: it is neither a block device nor a file", name);
    dev_t disk = 0;
    if (blkid_devno_to_wholedisk(status.st_rdev, nullptr, 0, &disk) != 0) disk = status.st_rdev;
    return {boost::system::in_place_value,
            fmt::format("/run/postal-compare-{}:{}.lock", ::major(disk), ::minor(disk))};
}

}  // namespace

base::expected<device_lock> device_lock::take(const std::string& device_or_image) {
    const auto path = lock_path(device_or_image);
    if (!path) return path.error();
    const int make = *path == device_or_image ? 0 : O_CREAT | O_NOFOLLOW;
    base::file_descriptor file(::open(path->c_str(), O_RDWR | make | O_CLOEXEC, 0600));
    if (!file.is_open())
        return base::fail("cannot lock {}: {}: {}", device_or_image, *path,
                          base::system_message(errno));
    if (::flock(file.get(), LOCK_EX | LOCK_NB) == 0) return device_lock(std::move(file));
    if (errno != EWOULDBLOCK)
        return base::fail("cannot lock {}: {}: {}", device_or_image, *path,
                          base::system_message(errno));
    return base::fail("{} is in use by another experiment{}", device_or_image,
                      holder_of(file.get()));
}

// "1: FLOCK  ADVISORY  WRITE 1234 fe:00:5678 0 EOF"; the device's numbers are hexadecimal. Those
// who wait for it have "->" behind the colon.
std::optional<pid_t> flock_holder(std::string_view locks, dev_t device, std::uint64_t inode) {
    const std::string file =
        fmt::format("{:02x}:{:02x}:{}", ::major(device), ::minor(device), inode);
    for (const std::string_view line : base::split(locks, '\n')) {
        const auto parts = base::fields(line);
        if (parts.size() < 6 || parts[1] != "FLOCK" || parts[5] != file) continue;
        const auto pid = base::parse_count(parts[4]);
        if (pid && *pid > 0) return static_cast<pid_t>(*pid);
    }
    return std::nullopt;
}

}  // namespace postal::testbed
