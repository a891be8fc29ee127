// SPDX-License-Identifier: GPL-3.0-or-later
#include "base/write_file.hpp"

#include <catch2/catch.hpp>

#include "../temporary_folder.hpp"

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/read_file.hpp"

using namespace postal;
namespace fs = std::filesystem;

namespace {

using folder = test::temporary_folder;

void put(const std::string& path, const std::string& text) {
    std::ofstream(path) << text;
}

std::string content(const std::string& path) {
    const auto read = base::read_file(path);
    REQUIRE(read.has_value());
    return *read;
}

}  // namespace

TEST_CASE("write file: nobody's file is written to through a name that can be guessed") {
    const folder place;
    const std::string path = place / "run.json";
    put(place / "victim", "kept");
    // What the file was called for a moment, with this process's number.
    const std::string guessed = path + "." + std::to_string(::getpid()) + ".tmp";
    for (const bool symbolic : {false, true}) {
        INFO((symbolic ? "a symbolic link" : "another name of the file"));
        if (symbolic) {
            fs::create_symlink(place / "victim", guessed);
        } else {
            fs::create_hard_link(place / "victim", guessed);
        }
        CHECK(base::check_writable(path).has_value());
        CHECK(base::write_file(path, "new").has_value());
        CHECK(content(path) == "new");
        CHECK(content(place / "victim") == "kept");
        fs::remove(guessed);
    }
    CHECK(place.files() == 2);
}

TEST_CASE("write file: mode, long names, and links that are followed") {
    const folder place;
    const mode_t before = ::umask(027);
    const std::string longest = place / std::string(255, 'x');
    CHECK(base::write_file(longest, "text").has_value());
    ::umask(before);
    CHECK(content(longest) == "text");
    struct stat is {};
    REQUIRE(::stat(longest.c_str(), &is) == 0);
    CHECK((is.st_mode & 0777U) == 0640);

    fs::create_directory(place / "else");
    fs::create_symlink(place / "else/file", place / "link");
    put(place / "else/file", "old");
    CHECK(base::write_file(place / "link", "new").has_value());
    CHECK(fs::is_symlink(place / "link"));
    CHECK(content(place / "else/file") == "new");
    CHECK(base::write_file(place / "missing/file", "x").has_error());
    CHECK(place.files() == 3);
}

// fs.protected_symlinks
TEST_CASE("write file: a stranger's link in a folder for all is not followed") {
    std::ifstream setting("/proc/sys/fs/protected_symlinks");
    int is_protected = 0;
    if (::geteuid() != 0 || !(setting >> is_protected) || is_protected == 0) return;
    const folder place;
    const std::string shared = place / "shared";
    fs::create_directory(shared);
    REQUIRE(::chmod(shared.c_str(), 01777) == 0);
    put(place / "victim", "kept");
    fs::create_symlink(place / "victim", shared + "/run.json");
    REQUIRE(::lchown((shared + "/run.json").c_str(), 65534, 65534) == 0);
    CHECK(base::write_file(shared + "/run.json", "new").has_error());
    CHECK(base::check_writable(shared + "/run.json").has_error());
    CHECK(content(place / "victim") == "kept");
}
