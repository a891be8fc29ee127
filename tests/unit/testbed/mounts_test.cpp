// SPDX-License-Identifier: GPL-3.0-or-later
// Tables of mounts from made-up texts, and real mounts where they are allowed.
#include "testbed/mounts.hpp"

#include "../temporary_file.hpp"
#include "test_disk.hpp"
#include "testbed/mounting.hpp"

#include <sys/stat.h>
#include <sys/sysmacros.h>

using namespace postal;
using namespace std::chrono_literals;

namespace {

constexpr const char* table =
    "87 1 254:0 / / rw,relatime - ext4 /dev/root rw,discard\n"
    "90 87 8:17 / /var/spool/the\\040mail rw,nosuid shared:3 - ext4 /dev/disk/by-label/mail "
    "rw,nobarrier\n"
    "91 87 8:17 /sub /srv/bound rw,nosuid - ext4 /dev/sdb1 rw,nobarrier\n"
    "92 87 0:50 / /srv/btrfs rw - btrfs /dev/null rw,space_cache=v2,subvol=/\n"
    "93 90 0:51 / /var/spool/the\\040mail rw - tmpfs tmpfs rw,size=4k\n";

}  // namespace

TEST_CASE("mounts: read as the kernel writes them") {
    const test::temporary_file file(table);
    const auto all = testbed::read_mounts(file.path());
    REQUIRE(all.has_value());
    REQUIRE(all->size() == 5);
    const testbed::mount_point& mail = (*all)[1];
    CHECK(mail.folder == "/var/spool/the mail");
    CHECK(mail.device == ::makedev(8, 17));
    CHECK(mail.id == 90);
    CHECK(mail.parent == 87);
    CHECK(mail.options == "rw,nosuid,nobarrier");
    CHECK((*all)[2].line() == "/dev/sdb1 /srv/bound ext4 rw,nosuid,nobarrier");
}

TEST_CASE("mounts: all of a device, and the last one of a folder") {
    const test::temporary_file file(table);
    const auto all = *testbed::read_mounts(file.path());
    const auto own = testbed::mounts_of(all, ::makedev(8, 17));
    REQUIRE(own.size() == 2);
    CHECK(own[0].id == 90);
    CHECK(own[1].id == 91);
    CHECK(testbed::mounts_of(all, ::makedev(8, 18)).empty());
    CHECK(testbed::mount_at(all, "/var/spool/the mail")->type == "tmpfs");
    CHECK_FALSE(testbed::mount_at(all, "/var/spool"));
}

TEST_CASE("mounts: a table that is not there") {
    const auto failed = testbed::read_mounts("/nonexistent/mountinfo");
    REQUIRE_FALSE(failed.has_value());
    CHECK(failed.error().message == "/nonexistent/mountinfo: No such file or directory");
}

TEST_CASE("mounts: what is no mount is not unmounted") {
    if (test::test_disk::impossible()) return;
    const test::test_disk disk;
    const auto failed = testbed::unmount(disk.mount_folder());
    REQUIRE_FALSE(failed.has_value());
    CHECK(failed.error().message ==
          "cannot unmount " + disk.mount_folder() + ": it is not mounted");
}

TEST_CASE("mounts: mounted with the options that were asked for, known by its disk, unmounted") {
    if (test::test_disk::impossible()) return;
    struct row {
        std::string type;
        std::uint64_t mebibytes;
        std::string asked;
        std::string shown;
    };
    const auto [type, mebibytes, asked, shown] = GENERATE(values<row>({
        {"ext4", 16, "barrier=0", "nobarrier"},
        {"xfs", 300, "logbufs=4", "logbufs=4"},
        {"btrfs", 128, "nobarrier", "nobarrier"},  // its files have another device number
    }));
    const test::test_disk disk(mebibytes << 20U);
    const std::string device = disk.attach();
    REQUIRE(test::run_program({"mkfs." + type, "-q", device}) == 0);
    const auto mounted = testbed::mount_device({device, disk.mount_folder(), type, asked});
    if (!mounted && mounted.error().message.ends_with("unknown filesystem type '" + type + "'")) {
        WARN("skipped: " << mounted.error().message);
        return;
    }
    if (!mounted) FAIL(mounted.error().message);
    CHECK(mounted->source == device);
    CHECK(mounted->folder == disk.mount_folder());
    CHECK(mounted->type == type);
    CHECK_THAT("," + mounted->options + ",", Catch::Contains("," + shown + ","));
    struct stat status {};
    REQUIRE(::stat(device.c_str(), &status) == 0);
    CHECK(testbed::mounts_of(*testbed::read_mounts(), status.st_rdev) == std::vector{*mounted});
    CHECK(test::failure_of(testbed::unmount(disk.mount_folder())) == "");
    CHECK(testbed::mounts_of(*testbed::read_mounts(), status.st_rdev).empty());
}

TEST_CASE("mounts: a refused mount says why, and mounts nothing") {
    if (test::test_disk::impossible()) return;
    const test::test_disk disk;
    const std::string device = disk.attach();
    REQUIRE(test::run_program({"mkfs.ext4", "-q", device}) == 0);
    const auto failed =
        testbed::mount_device({device, disk.mount_folder(), "ext4", "no_such_option=7"});
    REQUIRE_FALSE(failed.has_value());
    CHECK_THAT(failed.error().message,
               Catch::StartsWith("cannot mount " + device + " as ext4 with no_such_option=7 on " +
                                 disk.mount_folder() + ": "));
    CHECK_THAT(failed.error().message, !Catch::Contains("\n"));
    CHECK_FALSE(testbed::mount_at(*testbed::read_mounts(), disk.mount_folder()));
}

TEST_CASE("mounts: a busy one is not unmounted, and who holds it is named") {
    if (test::test_disk::impossible()) return;
    const test::test_disk disk;
    REQUIRE(::mount("postal", disk.mount_folder().c_str(), "tmpfs", 0, "size=64k") == 0);
    const int held = ::open(disk.mount_folder().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    const auto busy = testbed::unmount(disk.mount_folder(), 0ms);
    ::close(held);
    REQUIRE_FALSE(busy.has_value());
    CHECK(busy.error().message == "cannot unmount " + disk.mount_folder() + ": it is in use by " +
                                      std::to_string(::getpid()) + " (unit_testbed)");

    const std::string upon = disk.mount_folder() + "/upon";
    std::filesystem::create_directory(upon);
    REQUIRE(::mount("postal", upon.c_str(), "tmpfs", 0, "size=64k") == 0);
    const auto covered = testbed::unmount(disk.mount_folder(), 0ms);
    ::umount2(upon.c_str(), MNT_DETACH);
    REQUIRE_FALSE(covered.has_value());
    CHECK_THAT(covered.error().message, Catch::EndsWith("in use by the mount on " + upon));
    CHECK(test::failure_of(testbed::unmount(disk.mount_folder())) == "");
}
