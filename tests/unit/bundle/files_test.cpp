// SPDX-License-Identifier: GPL-3.0-or-later
// Folders of others are not left by links; ours go when they are done with.
#include "bundle/read_beneath.hpp"
#include "os/temporary_folder.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <catch2/catch.hpp>

#include <filesystem>
#include <string>

using namespace postal;

TEST_CASE("files: what lies beneath a folder, and no way out of it") {
    std::string gone;
    {
        const auto made = os::temporary_folder::make();
        REQUIRE(made.has_value());
        gone = made->at("");
        struct stat is {};
        REQUIRE(::stat(gone.c_str(), &is) == 0);
        CHECK((is.st_mode & 0777U) == 0700U);
        REQUIRE(made->keep("a", "content").has_value());
        std::filesystem::create_directory(made->at("sub"));
        REQUIRE(made->keep("sub/b", "deep").has_value());
        std::filesystem::create_symlink("a", made->at("link"));
        std::filesystem::create_symlink("sub", made->at("folder"));
        REQUIRE(::mkfifo(made->at("pipe").c_str(), 0600) == 0);
        const auto read = [&](const std::string& name, std::uint64_t most = 100) {
            const auto found = bundle::read_beneath(gone, name, most);
            return found ? *found : found.error().message;
        };
        CHECK(read("a") == "content");
        CHECK(read("sub/b") == "deep");
        CHECK_THAT(read("a", 3), Catch::Contains("/a: "));
        for (const char* link : {"link", "folder/b"})
            CHECK_THAT(read(link), Catch::EndsWith(": is not there, or a link, or behind one"));
        for (const char* gone_or_link : {"link", "folder/b", "none", "sub/none"})
            CHECK_FALSE(bundle::read_if_beneath(gone, gone_or_link, 100)->has_value());
        CHECK(**bundle::read_if_beneath(gone, "a", 100) == "content");
        for (const char* other : {"pipe", "sub", "../a", "a/b"})
            CHECK(bundle::read_if_beneath(gone, other, 100).has_error());
        CHECK(bundle::read_if_beneath(gone, "a", 3).has_error());
        CHECK(bundle::read_if_beneath(gone + "none", "a", 3).has_error());
        CHECK_THAT(read("pipe"), Catch::EndsWith(": is no plain file"));
        CHECK_THAT(read("sub"), Catch::EndsWith(": is a directory, not a file"));
        for (const char* out : {"../a", "/etc/passwd", "none"})
            CHECK_THAT(read(out), Catch::Contains(": "));
    }
    CHECK_FALSE(std::filesystem::exists(gone));
}
