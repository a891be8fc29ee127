// SPDX-License-Identifier: GPL-3.0-or-later
// A small disk that exists for one test: an image, its loop devices and a folder to mount it on.
//
// Images are for everybody; devices and mounts need root and a kernel that lets us: ask
// impossible() first. Whatever a test did, nothing of it is left.
#pragma once

#include "base/read_file.hpp"
#include "testbed/image_file.hpp"
#include "testbed/loop_device.hpp"

#include <fcntl.h>
#include <linux/blkpg.h>
#include <linux/loop.h>
#include <spawn.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <vector>

namespace test {

inline std::string new_folder() {
    std::string folder = "/var/tmp/postal-XXXXXX";
    if (::mkdtemp(folder.data()) == nullptr) throw std::runtime_error("mkdtemp");
    return folder;
}

class test_disk {
  public:
    explicit test_disk(std::uint64_t octets = 16U << 20U) : folder_(new_folder()) {
        std::filesystem::create_directory(mount_folder());
        made_ =
            postal::testbed::create_image(image(), octets, postal::testbed::image_space::sparse);
    }
    ~test_disk() {
        while (::umount2(mount_folder().c_str(), MNT_DETACH) == 0)
            continue;
        if (const auto loops = postal::testbed::loops_of(image()))
            for (const std::string& loop : *loops)
                detach(loop);
        std::error_code ignored;
        std::filesystem::remove_all(folder_, ignored);
    }
    test_disk(const test_disk&) = delete;
    test_disk& operator=(const test_disk&) = delete;

    std::string image() const { return folder_ + "/image"; }
    std::string mount_folder() const { return folder_ + "/mnt"; }

    std::string attach(postal::testbed::loop_io io = postal::testbed::loop_io::buffered) const {
        if (!made_) FAIL(made_.error().message);
        const auto attached = postal::testbed::attach_loop(image(), io);
        if (!attached) FAIL(attached.error().message);
        return attached->path;
    }

    // True, and said why, when loop devices and mounts cannot be tested here.
    static bool impossible() {
        const std::string reason = missing();
        if (!reason.empty()) WARN("skipped: " << reason);
        return !reason.empty();
    }

  private:
    // Other programs' devices are safe from what is being tested.
    void detach(const std::string& loop) const {
        const auto behind =
            postal::base::read_file("/sys/block" + loop.substr(4) + "/loop/backing_file");
        if (!behind || !behind->starts_with(folder_)) return;
        if (const auto gone = postal::testbed::detach_loop(loop, image()); !gone)
            WARN(gone.error().message);
    }

    static std::string missing() {
        const int control = ::open("/dev/loop-control", O_RDWR | O_CLOEXEC);
        if (control < 0) return "/dev/loop-control: " + postal::base::system_message(errno);
        ::close(control);
        const std::string folder = new_folder();
        const bool mounted = ::mount("postal", folder.c_str(), "tmpfs", 0, nullptr) == 0;
        const int reason = errno;
        if (mounted) ::umount2(folder.c_str(), MNT_DETACH);
        ::rmdir(folder.c_str());
        return mounted ? "" : "mount: " + postal::base::system_message(reason);
    }

    std::string folder_;
    postal::base::expected<void> made_;
};

// For CHECKs that show what was wrong; empty when nothing was.
template <class Result>
std::string failure_of(const Result& result) {
    return result ? "" : result.error().message;
}

// Makes the kernel show the octets from the first MiB on as the first partition, of which the
// device's name is given back; empty, and said so, where it does not.
inline std::string add_partition(const std::string& device, int mebibytes) {
    const int opened = ::open(device.c_str(), O_RDWR | O_CLOEXEC);
    loop_info64 info{};
    ::ioctl(opened, LOOP_GET_STATUS64, &info);
    info.lo_flags |= LO_FLAGS_PARTSCAN;
    ::ioctl(opened, LOOP_SET_STATUS64, &info);
    blkpg_partition partition{};
    partition.start = 1 << 20;
    partition.length = std::int64_t{mebibytes} << 20;
    partition.pno = 1;
    blkpg_ioctl_arg add{BLKPG_ADD_PARTITION, 0, sizeof partition, &partition};
    ::ioctl(opened, BLKPG, &add);
    ::close(opened);
    std::string name = device + "p1";
    if (::access(name.c_str(), F_OK) == 0) return name;
    WARN("skipped: no partitions of " << device);
    return {};
}

// The exit status of a program, which says nothing here and is waited for. Also those programs are
// found that are on root's path only.
inline int run_program(std::vector<std::string> words) {
    words.insert(words.begin(), {"/usr/bin/env", "PATH=/usr/sbin:/usr/bin:/sbin:/bin"});
    std::vector<char*> argv;
    for (std::string& word : words)
        argv.push_back(word.data());
    argv.push_back(nullptr);
    posix_spawn_file_actions_t actions;
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
    ::posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
    pid_t pid = -1;
    const int failed = ::posix_spawn(&pid, argv[0], &actions, nullptr, argv.data(), environ);
    ::posix_spawn_file_actions_destroy(&actions);
    if (failed != 0) FAIL(words[2] << ": " << postal::base::system_message(failed));
    int status = 0;
    while (::waitpid(pid, &status, 0) < 0 && errno == EINTR)
        continue;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

}  // namespace test
