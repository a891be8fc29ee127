// SPDX-License-Identifier: GPL-3.0-or-later
// Real loop devices, where they are to be had.
#include "testbed/loop_device.hpp"

#include "test_disk.hpp"

#include <sys/ioctl.h>
#include <sys/stat.h>

#include <linux/fs.h>

#include <set>
#include <thread>

using namespace postal;
using namespace std::chrono_literals;

TEST_CASE("loop: what cannot be attached is told") {
    const auto failed = testbed::attach_loop("/nonexistent/image", testbed::loop_io::buffered);
    REQUIRE_FALSE(failed.has_value());
    CHECK(failed.error().message == "cannot open /nonexistent/image: No such file or directory");
    // Nothing is attached to it, so nothing needs to be detached.
    CHECK(test::failure_of(testbed::detach_loop("/dev/loop0", "/nonexistent/image")) == "");
}

TEST_CASE("loop: attached, found by the file behind it, detached") {
    if (test::test_disk::impossible()) return;
    const test::test_disk disk;
    CHECK(testbed::loops_of(disk.image())->empty());
    const std::string device = disk.attach();
    const int opened = ::open(device.c_str(), O_RDONLY | O_CLOEXEC);
    std::uint64_t octets = 0;
    CHECK(::ioctl(opened, BLKGETSIZE64, &octets) == 0);
    ::close(opened);
    CHECK(octets == 16U << 20U);
    CHECK(*testbed::loops_of(disk.image()) == std::vector{device});

    const std::string other_name = disk.image() + ".link";
    std::filesystem::create_hard_link(disk.image(), other_name);
    CHECK(*testbed::loops_of(other_name) == std::vector{device});
    std::filesystem::remove(other_name);

    const test::test_disk another;
    CHECK(test::failure_of(testbed::detach_loop(device, another.image())) == "");
    CHECK(*testbed::loops_of(disk.image()) == std::vector{device});

    CHECK(test::failure_of(testbed::detach_loop(device, disk.image())) == "");
    CHECK(testbed::loops_of(disk.image())->empty());
    CHECK(test::failure_of(testbed::detach_loop(device, disk.image())) == "");
}

TEST_CASE("loop: found and detached when the image is gone") {
    if (test::test_disk::impossible()) return;
    const test::test_disk disk;
    const std::string device = disk.attach();
    std::filesystem::remove(disk.image());
    CHECK(*testbed::loops_of(disk.image()) == std::vector{device});
    CHECK(test::failure_of(testbed::detach_loop(device, disk.image())) == "");
    CHECK(testbed::loops_of(disk.image())->empty());
}

TEST_CASE("loop: a device that somebody has open is detached when they are done") {
    if (test::test_disk::impossible()) return;
    const test::test_disk disk;
    const std::string device = disk.attach();
    const int opened = ::open(device.c_str(), O_RDONLY | O_CLOEXEC);
    const auto failed = testbed::detach_loop(device, disk.image(), 0ms);
    CHECK_FALSE(failed.has_value());
    if (!failed)
        CHECK(failed.error().message == disk.image() + " stays attached to " + device +
                                            ": it is mounted, or a process has it open");
    ::close(opened);
    CHECK(test::failure_of(testbed::detach_loop(device, disk.image())) == "");
    CHECK(testbed::loops_of(disk.image())->empty());
}

TEST_CASE("loop: direct I/O where it was asked for, or a note that it was refused") {
    if (test::test_disk::impossible()) return;
    const test::test_disk disk;
    const auto direct = testbed::attach_loop(disk.image(), testbed::loop_io::direct);
    REQUIRE(direct.has_value());
    CHECK(direct->note.empty() == direct->direct_io);
    const test::test_disk other;
    const auto buffered = testbed::attach_loop(other.image(), testbed::loop_io::buffered);
    REQUIRE(buffered.has_value());
    CHECK_FALSE(buffered->direct_io);
    CHECK(buffered->note.empty());

    // Files of ramfs are nowhere but in the page cache.
    REQUIRE(::mount("postal", disk.mount_folder().c_str(), "ramfs", 0, nullptr) == 0);
    const std::string image = disk.mount_folder() + "/image";
    const auto made = testbed::create_image(image, 1U << 20U, testbed::image_space::sparse);
    const auto refused = testbed::attach_loop(image, testbed::loop_io::direct);
    if (refused) CHECK(test::failure_of(testbed::detach_loop(refused->path, image)) == "");
    REQUIRE(test::failure_of(made) == "");
    REQUIRE(test::failure_of(refused) == "");
    CHECK_FALSE(refused->direct_io);
    CHECK(refused->note == refused->path + " goes through the page cache: the file system of " +
                               image + " refuses direct I/O");
}

TEST_CASE("loop: those who attach at the same time get a number each") {
    if (test::test_disk::impossible()) return;
    const std::array<test::test_disk, 4> disks;
    std::array<std::string, 4> devices;
    std::vector<std::thread> threads;
    for (std::size_t i = 0; i < disks.size(); ++i)
        threads.emplace_back([&disks, &devices, i] {
            const auto attached =
                testbed::attach_loop(disks[i].image(), testbed::loop_io::buffered);
            devices[i] = attached ? attached->path : attached.error().message;
        });
    for (std::thread& one : threads)
        one.join();
    for (std::size_t i = 0; i < disks.size(); ++i)
        CHECK(*testbed::loops_of(disks[i].image()) == std::vector{devices[i]});
    CHECK(std::set(devices.begin(), devices.end()).size() == disks.size());
}
