// SPDX-License-Identifier: GPL-3.0-or-later
// Images: their size, what they take, and what is refused.
#include "testbed/image_file.hpp"

#include "../temporary_file.hpp"

#include "base/file_descriptor.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <string_view>

#include <catch2/catch.hpp>

using namespace postal;

TEST_CASE("image: as long as asked, with its blocks or without") {
    const test::temporary_file beside("");
    const std::string sparse = beside.path() + ".sparse";
    const std::string whole = beside.path() + ".whole";
    REQUIRE(testbed::create_image(sparse, 1U << 20U, testbed::image_space::sparse).has_value());
    REQUIRE(testbed::create_image(whole, 1U << 20U, testbed::image_space::allocated).has_value());
    struct stat status {};
    REQUIRE(::stat(sparse.c_str(), &status) == 0);
    CHECK(status.st_size == 1 << 20);
    CHECK(status.st_blocks * 512 < 1 << 20);
    CHECK((status.st_mode & 0777) == 0600);
    REQUIRE(::stat(whole.c_str(), &status) == 0);
    CHECK(status.st_size == 1 << 20);
    CHECK(status.st_blocks * 512 >= 1 << 20);
}

TEST_CASE("image: never in place of another file, and none is left after a failure") {
    const test::temporary_file there("mail");
    const auto refused = testbed::create_image(there.path(), 4096, testbed::image_space::sparse);
    REQUIRE_FALSE(refused.has_value());
    CHECK(refused.error().message == "cannot create " + there.path() + ": File exists");
    CHECK(std::filesystem::file_size(there.path()) == 4);

    const std::string large = there.path() + ".large";
    const auto full =
        testbed::create_image(large, std::uint64_t{1} << 60U, testbed::image_space::allocated);
    REQUIRE_FALSE(full.has_value());
    CHECK_THAT(full.error().message, Catch::Contains("of " + large));
    CHECK_FALSE(std::filesystem::exists(large));
}

TEST_CASE("image: what only reads as zeros is written, what it holds stays") {
    const test::temporary_file beside("");
    const std::string path = beside.path() + ".image";
    constexpr off_t length = (off_t{130} << 20U) + 100;
    REQUIRE(testbed::create_image(path, length, testbed::image_space::sparse).has_value());
    const base::file_descriptor file(::open(path.c_str(), O_RDWR | O_CLOEXEC));
    REQUIRE(::pwrite(file.get(), "mail", 4, off_t{5} << 20U) == 4);
    REQUIRE(::fsync(file.get()) == 0);
    REQUIRE(::lseek(file.get(), 0, SEEK_HOLE) < length);
    unsigned asked = 0;
    REQUIRE(testbed::write_out_image(path, [&] { return ++asked != 0; }).has_value());
    CHECK(asked == 2);
    CHECK(::lseek(file.get(), 0, SEEK_HOLE) == length);
    std::array<char, 5> there{};
    REQUIRE(::pread(file.get(), there.data(), 5, off_t{5} << 20U) == 5);
    CHECK(std::string_view(there.data(), 5) == std::string_view("mail\0", 5));
    // Nothing is left to write.
    REQUIRE(testbed::write_out_image(path, [] { return false; }).has_value());
    std::filesystem::remove(path);
}

TEST_CASE("image: writing it out ends when it is told to, and says what cannot be written") {
    const test::temporary_file beside("");
    const std::string path = beside.path() + ".image";
    REQUIRE(testbed::create_image(path, 65U << 20U, testbed::image_space::sparse).has_value());
    const auto ended = testbed::write_out_image(path, [] { return false; });
    REQUIRE_FALSE(ended.has_value());
    CHECK(ended.error().message == "interrupted while zeros were written to " + path);
    std::filesystem::remove(path);
    const auto missing = testbed::write_out_image(path, [] { return true; });
    REQUIRE_FALSE(missing.has_value());
    CHECK(missing.error().message ==
          "cannot write zeros to " + path + ": No such file or directory");
}
