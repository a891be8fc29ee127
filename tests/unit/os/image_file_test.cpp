// Images: their size, what they take, and what is refused.
#include "os/image_file.hpp"

#include "../temporary_file.hpp"

#include <sys/stat.h>

#include <catch2/catch.hpp>

using namespace postal;

TEST_CASE("image: as long as asked, with its blocks or without") {
    const test::temporary_file beside("");
    const std::string sparse = beside.path() + ".sparse";
    const std::string whole = beside.path() + ".whole";
    REQUIRE(os::create_image(sparse, 1U << 20U, os::image_space::sparse).has_value());
    REQUIRE(os::create_image(whole, 1U << 20U, os::image_space::allocated).has_value());
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
    const auto refused = os::create_image(there.path(), 4096, os::image_space::sparse);
    REQUIRE_FALSE(refused.has_value());
    CHECK(refused.error().message == "cannot create " + there.path() + ": File exists");
    CHECK(std::filesystem::file_size(there.path()) == 4);

    const std::string large = there.path() + ".large";
    const auto full = os::create_image(large, std::uint64_t{1} << 60U, os::image_space::allocated);
    REQUIRE_FALSE(full.has_value());
    CHECK_THAT(full.error().message, Catch::Contains("of " + large));
    CHECK_FALSE(std::filesystem::exists(large));
}
