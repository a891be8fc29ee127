// SPDX-License-Identifier: GPL-3.0-or-later
// Flushes and caches: what is measured and what is left, not how long it takes.
#include "testbed/flush_time.hpp"

#include "../temporary_file.hpp"
#include "base/read_file.hpp"
#include "testbed/drop_caches.hpp"

#include <catch2/catch.hpp>

#include <filesystem>

using namespace postal;

TEST_CASE("flush time: as many flushes as asked, and no file left") {
    const test::temporary_file beside("");
    const auto folder = std::filesystem::path(beside.path()).parent_path();
    const auto timed = testbed::time_flushes(folder, 3);
    REQUIRE(timed.has_value());
    CHECK(timed->flushes == 3);
    CHECK(timed->median_s > 0);
    CHECK(timed->maximum_s >= timed->median_s);
    const auto files = std::filesystem::directory_iterator(folder);
    CHECK(std::distance(begin(files), end(files)) == 1);
    CHECK(testbed::time_flushes(folder, 0)->flushes == 1);
}

TEST_CASE("flush time: a folder that is not there") {
    const auto failed = testbed::time_flushes("/nonexistent");
    REQUIRE_FALSE(failed.has_value());
    CHECK(failed.error().message ==
          "/nonexistent: cannot create a file: No such file or directory");
}

TEST_CASE("drop caches: told to the kernel, or said why not") {
    const test::temporary_file control("");
    const auto told = testbed::drop_caches(control.path());
    CHECK(told.dropped);
    CHECK(told.reason.empty());
    CHECK(*base::read_file(control.path()) == "3\n");

    const auto refused = testbed::drop_caches("/proc/version");
    CHECK_FALSE(refused.dropped);
    CHECK_THAT(refused.reason, Catch::StartsWith("caches not dropped: /proc/version: "));
}
