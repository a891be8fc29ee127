// SPDX-License-Identifier: GPL-3.0-or-later
#include "testbed/loop_device.hpp"

#include "base/file_descriptor.hpp"
#include "base/read_file.hpp"
#include "base/text.hpp"

#include <fcntl.h>
#include <linux/loop.h>
#include <sys/ioctl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <optional>
#include <thread>

namespace postal::testbed {
namespace {

namespace fs = std::filesystem;

constexpr int most_tries = 64;  // each lost to somebody else who took the number
constexpr auto between_device_looks = std::chrono::milliseconds(20);

base::file_descriptor open_device(const std::string& path, int flags) {
    return base::file_descriptor(::open(path.c_str(), flags | O_CLOEXEC));
}

std::optional<loop_info64> status_of(const base::file_descriptor& device) {
    loop_info64 info{};
    if (::ioctl(device.get(), LOOP_GET_STATUS64, &info) != 0) return std::nullopt;
    return info;
}

loop_device attached(std::string path, const base::file_descriptor& device,
                     const std::string& image, loop_io io) {
    loop_device result;
    result.path = std::move(path);
    const auto info = status_of(device);
    result.direct_io = info && (info->lo_flags & LO_FLAGS_DIRECT_IO) != 0;
    if (io == loop_io::direct && !result.direct_io)
        result.note =
            fmt::format("{} goes through the page cache: the file system of {} refuses direct I/O",
                        result.path, image);
    return result;
}

// The file behind loop devices that is looked for.
struct wanted_file {
    std::string name;  // absolute, without symbolic links
    std::optional<struct stat> status;
};

wanted_file find_file(const std::string& image) {
    std::error_code unknown;
    const fs::path whole = fs::absolute(image, unknown).lexically_normal();
    wanted_file result{fs::weakly_canonical(whole, unknown).string(), {}};
    // A file of FUSE's whose daemon is gone cannot be asked any more.
    if (unknown)
        result.name =
            (fs::weakly_canonical(whole.parent_path(), unknown) / whole.filename()).string();
    struct stat status {};
    if (::stat(image.c_str(), &status) == 0) result.status = status;
    return result;
}

// What the kernel shows may be a name in another mount namespace; the inode is the same in all.
bool is_behind(const wanted_file& wanted, const std::string& device, const std::string& shown) {
    const std::string deleted = wanted.name + " (deleted)";
    std::error_code unknown;
    if (shown == wanted.name || (shown == deleted && !fs::exists(deleted, unknown))) return true;
    if (!wanted.status) return false;
    const auto info = status_of(open_device(device, O_RDONLY | O_NONBLOCK));
    return info && info->lo_device == wanted.status->st_dev &&
           info->lo_inode == wanted.status->st_ino;
}

base::expected<bool> is_attached(const std::string& device, const std::string& image) {
    const auto all = loops_of(image);
    if (!all) return all.error();
    return std::find(all->begin(), all->end(), device) != all->end();
}

}  // namespace

base::expected<loop_device> attach_loop(const std::string& image, loop_io io) {
    const auto file = open_device(image, O_RDWR);
    if (!file.is_open())
        return base::fail("cannot open {}: {}", image, base::system_message(errno));
    const auto control = open_device("/dev/loop-control", O_RDWR);
    if (!control.is_open())
        return base::fail("no loop device for {}: cannot open /dev/loop-control: {}", image,
                          base::system_message(errno));
    loop_config config{};
    config.fd = static_cast<std::uint32_t>(file.get());
    if (io == loop_io::direct) config.info.lo_flags = LO_FLAGS_DIRECT_IO;
    image.copy(reinterpret_cast<char*>(config.info.lo_file_name), LO_NAME_SIZE - 1);
    std::string path = "a loop device";
    int reason = 0;
    for (int tries = 0; tries < most_tries; ++tries) {
        const int number = ::ioctl(control.get(), LOOP_CTL_GET_FREE);
        if (number < 0) return base::fail("no free loop device: {}", base::system_message(errno));
        path = fmt::format("/dev/loop{}", number);
        const auto device = open_device(path, O_RDWR);
        if (device.is_open() && ::ioctl(device.get(), LOOP_CONFIGURE, &config) == 0)
            return attached(path, device, image, io);
        reason = errno;
        if (reason == EINVAL && config.info.lo_flags != 0)
            config.info.lo_flags = 0;  // direct I/O refused at once, not dropped
        else if (reason != EBUSY && reason != ENXIO && reason != ENODEV)
            break;
    }
    return base::fail("cannot attach {} to {}: {}", image, path, base::system_message(reason));
}

base::expected<std::vector<std::string>> loops_of(const std::string& image) {
    const wanted_file wanted = find_file(image);
    std::error_code failed;
    fs::directory_iterator blocks("/sys/block", failed);
    if (failed) return base::fail("cannot list /sys/block: {}", failed.message());
    std::vector<std::string> found;
    for (const auto end = fs::directory_iterator(); !failed && blocks != end;
         blocks.increment(failed)) {
        const std::string name = blocks->path().filename().string();
        if (!name.starts_with("loop")) continue;
        const auto shown = base::read_file(blocks->path() / "loop" / "backing_file");
        if (!shown) continue;  // not attached
        const std::string_view line(*shown);
        const std::string device = "/dev/" + name;
        if (is_behind(wanted, device, std::string(line.substr(0, line.find_last_not_of('\n') + 1))))
            found.push_back(device);
    }
    std::sort(found.begin(), found.end(), [](const std::string& a, const std::string& b) {
        return a.size() != b.size() ? a.size() < b.size() : a < b;
    });
    return found;
}

base::expected<void> detach_loop(const std::string& device, const std::string& image,
                                 std::chrono::milliseconds patience) {
    auto still = is_attached(device, image);
    if (!still) return still.error();
    if (!*still) return {};
    {
        const auto opened = open_device(device, O_RDONLY);
        if (!opened.is_open())
            return base::fail("cannot open {}: {}", device, base::system_message(errno));
        if (::ioctl(opened.get(), LOOP_CLR_FD) != 0 && errno != ENXIO && errno != EBUSY)
            return base::fail("cannot detach {} from {}: {}", image, device,
                              base::system_message(errno));
    }
    const auto until = std::chrono::steady_clock::now() + patience;
    while (true) {
        still = is_attached(device, image);
        if (!still) return still.error();
        if (!*still) return {};
        if (std::chrono::steady_clock::now() >= until) break;
        std::this_thread::sleep_for(between_device_looks);
    }
    return base::fail("{} stays attached to {}: it is mounted, or a process has it open", image,
                      device);
}

}  // namespace postal::testbed
