// SPDX-License-Identifier: GPL-3.0-or-later
// One experiment a device.
#include "testbed/device_lock.hpp"

#include "test_disk.hpp"

#include <sys/file.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

using namespace postal;

namespace {

// The file that stays in /run: of a disk that no other experiment has.
struct lock_file {
    std::string path;
    explicit lock_file(const std::string& device) {
        struct stat status {};
        REQUIRE(::stat(device.c_str(), &status) == 0);
        path = fmt::format("/run/postal-compare-{}:{}.lock", ::major(status.st_rdev),
                           ::minor(status.st_rdev));
    }
    ~lock_file() { CHECK(std::filesystem::remove(path)); }
};

}  // namespace

TEST_CASE("device lock: the holder of a lock in the kernel's list") {
    constexpr const char* locks =
        "1: POSIX  ADVISORY  WRITE 11 fe:00:77 0 EOF\n"
        "2: FLOCK  ADVISORY  WRITE 22 fe:00:78 0 EOF\n"
        "3: FLOCK  ADVISORY  WRITE 33 fe:00:77 0 EOF\n"
        "3: -> FLOCK  ADVISORY  WRITE 44 fe:01:77 0 EOF\n"
        "4: FLOCK  ADVISORY  WRITE -1 00:1f:5 0 EOF\n";
    CHECK(testbed::flock_holder(locks, ::makedev(0xfe, 0), 77) == 33);
    CHECK_FALSE(testbed::flock_holder(locks, ::makedev(0xfe, 1), 77));
    CHECK_FALSE(testbed::flock_holder(locks, ::makedev(0, 0x1f), 5));
    CHECK_FALSE(testbed::flock_holder("", ::makedev(0xfe, 0), 77));
}

TEST_CASE("device lock: an image is one experiment's at a time") {
    const test::test_disk disk;
    {
        const auto first = testbed::device_lock::take(disk.image());
        REQUIRE(first.has_value());
        const auto second = testbed::device_lock::take(disk.image());
        REQUIRE_FALSE(second.has_value());
        CHECK_THAT(second.error().message,
                   Catch::StartsWith(disk.image() + " is in use by another experiment"));
    }
    CHECK(testbed::device_lock::take(disk.image()).has_value());
}

TEST_CASE("device lock: what can be no disk") {
    CHECK(testbed::device_lock::take("/dev/null").error().message ==
          "cannot lock /dev/null: it is neither a block device nor a file");
    CHECK(testbed::device_lock::take("/nonexistent").error().message ==
          "cannot lock /nonexistent: No such file or directory");
}

TEST_CASE("device lock: a device by any of its names, while others may use and lock it") {
    if (test::test_disk::impossible()) return;
    const test::test_disk disk;
    const std::string device = disk.attach();
    const lock_file left(device);
    const auto first = testbed::device_lock::take(device);
    REQUIRE(first.has_value());
    const std::string link = disk.image() + ".device";
    std::filesystem::create_symlink(device, link);
    const auto second = testbed::device_lock::take(link);
    REQUIRE_FALSE(second.has_value());
    CHECK(second.error().message ==
          link + " is in use by another experiment (process " + std::to_string(::getpid()) + ")");
    // Also of a part of it.
    if (const std::string partition = test::add_partition(device, 8); !partition.empty())
        CHECK_THAT(test::failure_of(testbed::device_lock::take(partition)),
                   Catch::StartsWith(partition + " is in use by another experiment"));
    // As udev does, and mkfs.
    const int opened = ::open(device.c_str(), O_RDONLY | O_CLOEXEC);
    CHECK(::flock(opened, LOCK_EX | LOCK_NB) == 0);
    ::close(opened);
    CHECK(test::run_program({"mkfs.ext4", "-q", device}) == 0);
}
