// SPDX-License-Identifier: GPL-3.0-or-later
// What may wait in memory for a loop device, set and set back; and the watch for devices that do
// nothing.
#include "testbed/dirty_limit.hpp"
#include "testbed/stall_watch.hpp"

#include "test_disk.hpp"

#include "base/text.hpp"

#include <thread>

using namespace postal;
using namespace std::chrono_literals;

TEST_CASE("dirty limit: a device that is none has none") {
    const auto failed = testbed::plan_dirty_limit("/dev/nothing-of-ours", 1U << 20U);
    REQUIRE_FALSE(failed.has_value());
    CHECK(failed.error().message.find("nothing-of-ours") != std::string::npos);
    CHECK(test::failure_of(testbed::apply({"/sys/block/nothing-of-ours/bdi/max_ratio", "1"})) ==
          "");
    CHECK(test::failure_of(testbed::apply({"/proc/self/cmdline", "1"}))
              .starts_with("/proc/self/cmdline: cannot be set to 1: "));
}

TEST_CASE("dirty limit: set, and as before") {
    if (test::test_disk::impossible()) return;
    const test::test_disk disk;
    const std::string device = disk.attach();
    const auto limit = testbed::plan_dirty_limit(device, 64U << 20U);
    REQUIRE(test::failure_of(limit) == "");
    REQUIRE(limit->wanted.size() == limit->before.size());
    if (const auto set = testbed::apply(limit->wanted.front()); !set) {
        WARN("skipped: " << set.error().message);
        return;
    }
    CHECK(test::failure_of(testbed::apply(limit->wanted.back())) == "");
    const auto now = testbed::plan_dirty_limit(device, 64U << 20U);
    REQUIRE(now.has_value());
    CHECK(now->before != limit->before);
    for (const testbed::kernel_setting& one : limit->before)
        CHECK(test::failure_of(testbed::apply(one)) == "");
    CHECK(testbed::plan_dirty_limit(device, 64U << 20U)->before == limit->before);
}

TEST_CASE("stall watch: the kernel's line, of old and new kernels") {
    const auto now = testbed::parse_device_stat(
        "     100        3      800       20      50       2      400       9   "
        "     7       30       40       5        0        0        0       11       12\n");
    REQUIRE(now.has_value());
    CHECK(now->done == 100 + 50 + 5 + 11);
    CHECK(now->in_flight == 7);
    CHECK(testbed::parse_device_stat("1 2 3 4 5 6 7 8 9 10 11") ==
          testbed::device_progress{.done = 6, .in_flight = 9});
    CHECK_FALSE(testbed::parse_device_stat("1 2 3 4 5 6 7 8 9 10").has_value());
    CHECK_FALSE(testbed::parse_device_stat("").has_value());
    CHECK_FALSE(testbed::parse_device_stat("1 2 3 four 5 6 7 8 9 10 11").has_value());
}

TEST_CASE("stall watch: a device without work does not stall, and one that is none does neither") {
    if (test::test_disk::impossible()) return;
    const test::test_disk disk;
    for (const std::string& device : {disk.attach(), std::string("/dev/nothing-of-ours")}) {
        std::atomic<bool> called{false};
        testbed::stall_watch watch;
        watch.start(device, 500ms, [&] { called = true; });
        std::this_thread::sleep_for(1200ms);
        watch.stop();
        CHECK_FALSE(called);
        CHECK_FALSE(watch.has_stalled());
    }
}
