// SPDX-License-Identifier: GPL-3.0-or-later
// What is on a device, and whether a file system may be made there.
#include "testbed/format_guard.hpp"

#include "test_disk.hpp"
#include "testbed/device_content.hpp"
#include "testbed/mounting.hpp"

#include <fstream>

using namespace postal;

namespace {

constexpr const char* own_uuid = "0a1b2c3d-0000-4000-8000-00000000abcd";

void make_ext4(const std::string& where) {
    REQUIRE(test::run_program({"mkfs.ext4", "-q", "-F", "-U", own_uuid, "-L", "old mail", where}) ==
            0);
}

// A table with one partition, behind the first MiB.
void write_partition_table(const std::string& where, std::uint8_t mebibytes) {
    std::fstream file(where, std::ios::in | std::ios::out | std::ios::binary);
    std::string sector(512, '\0');
    sector[446 + 4] = '\x83';
    sector[446 + 9] = '\x08';
    sector[446 + 13] = static_cast<char>(mebibytes * 8);
    sector[510] = '\x55';
    sector[511] = '\xaa';
    file << sector;
}

std::string refusal(const std::string& device, std::string_view uuid,
                    testbed::existing_data existing = testbed::existing_data::keep) {
    const auto allowed = testbed::may_format(device, uuid, existing);
    return allowed ? "allowed" : allowed.error().message;
}

}  // namespace

TEST_CASE("device content: nothing, a file system, other data, a partition table") {
    const test::test_disk disk;
    CHECK(*testbed::probe_device(disk.image()) == testbed::device_content{});
    CHECK(testbed::probe_device(disk.image())->text() == "nothing");

    make_ext4(disk.image());
    const auto found = testbed::probe_device(disk.image());
    REQUIRE(found.has_value());
    CHECK(found->kind == testbed::content_kind::file_system);
    CHECK(found->type == "ext4");
    CHECK(found->uuid == own_uuid);
    CHECK(found->label == "old mail");
    CHECK(found->text() == "a file system of type ext4 with the label \"old mail\"");

    const test::test_disk swap;
    REQUIRE(test::run_program({"mkswap", swap.image()}) == 0);
    CHECK(testbed::probe_device(swap.image())->kind == testbed::content_kind::other);
    CHECK(testbed::probe_device(swap.image())->text() == "data of type swap");

    const test::test_disk partitioned;
    write_partition_table(partitioned.image(), 8);
    CHECK(testbed::probe_device(partitioned.image())->text() == "a partition table of type dos");
}

TEST_CASE("device content: what cannot be probed") {
    CHECK(testbed::probe_device("/nonexistent").error().message ==
          "cannot probe /nonexistent: No such file or directory");
    CHECK_FALSE(testbed::probe_device("/dev/null").has_value());
    CHECK_FALSE(testbed::probe_device("/").has_value());
}

TEST_CASE("format guard: only block devices are formatted") {
    const test::test_disk disk;
    CHECK(refusal(disk.image(), "") == disk.image() + " is not a block device");
    CHECK(refusal("/dev/null", "") == "/dev/null is not a block device");
    CHECK(refusal("/nonexistent", "") == "cannot use /nonexistent: No such file or directory");
}

TEST_CASE("format guard: empty and own devices, others only when asked, none in use") {
    if (test::test_disk::impossible()) return;
    const test::test_disk disk;
    const std::string device = disk.attach();
    CHECK(refusal(device, "") == "allowed");

    const int opened = ::open(device.c_str(), O_RDONLY | O_EXCL | O_CLOEXEC);
    CHECK_THAT(refusal(device, ""), Catch::StartsWith(device + " is in use by the kernel"));
    CHECK_THAT(refusal(device, "", testbed::existing_data::overwrite),
               Catch::StartsWith(device + " is in use by the kernel"));
    ::close(opened);

    make_ext4(device);
    const std::string holds = device +
                              " holds a file system of type ext4 with the label \"old mail\"; "
                              "--overwrite would destroy it";
    CHECK(refusal(device, "") == holds);
    CHECK(refusal(device, "11111111-0000-4000-8000-00000000abcd") == holds);
    CHECK(refusal(device, own_uuid) == "allowed");
    CHECK(refusal(device, "", testbed::existing_data::overwrite) == "allowed");

    const auto mounted = testbed::mount_device({device, disk.mount_folder(), "ext4", "barrier=0"});
    if (!mounted) FAIL(mounted.error().message);
    const std::string used = device + " is mounted on " + disk.mount_folder();
    CHECK(refusal(device, own_uuid) == used);
    CHECK(refusal(device, own_uuid, testbed::existing_data::overwrite) == used);
    // Also by another name of the same device.
    const std::string link = disk.image() + ".device";
    std::filesystem::create_symlink(device, link);
    CHECK(refusal(link, own_uuid) == link + " is mounted on " + disk.mount_folder());
    CHECK(test::failure_of(testbed::unmount(disk.mount_folder())) == "");
    CHECK(refusal(device, own_uuid) == "allowed");
}

TEST_CASE("format guard: a disk with a mounted partition") {
    if (test::test_disk::impossible()) return;
    const test::test_disk disk;
    write_partition_table(disk.image(), 8);
    const std::string device = disk.attach();
    const std::string partition = test::add_partition(device, 8);
    if (partition.empty()) return;
    make_ext4(partition);
    CHECK(refusal(device, own_uuid) ==
          device + " holds a partition table of type dos; --overwrite would destroy it");
    const auto mounted = testbed::mount_device({partition, disk.mount_folder(), "ext4", ""});
    if (!mounted) FAIL(mounted.error().message);
    const std::string name = partition.substr(std::string("/dev/").size());
    CHECK(refusal(device, own_uuid, testbed::existing_data::overwrite) ==
          device + " has the partition " + name + ", which is mounted on " + disk.mount_folder());
}
