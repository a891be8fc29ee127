// SPDX-License-Identifier: GPL-3.0-or-later
#include "base/read_file.hpp"

#include "../temporary_folder.hpp"
#include "base/file_descriptor.hpp"

#include <catch2/catch.hpp>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <string>
#include <utility>

using namespace postal::base;

namespace {

bool is_open(int number) {
    return ::fcntl(number, F_GETFD) != -1;
}

}  // namespace

TEST_CASE("read_file: a refusal names the file and the reason") {
    struct row {
        std::string path;
        std::uint64_t most;
        std::string wanted;
    };
    const row rows[] = {
        {"/nonexistent/x", any_length, "/nonexistent/x: cannot be read: No such file or directory"},
        {"/nonexistent/\x1b[2J", any_length,
         "/nonexistent/\\x1b[2J: cannot be read: No such file or directory"},
        {"/tmp", any_length, "/tmp: is a directory, not a file"},
        {"/dev/zero", 1 << 20, "/dev/zero: is longer than 1.0 MiB"},
    };
    for (const row& one : rows) {
        const auto text = read_file(one.path, one.most);
        REQUIRE(text.has_error());
        CHECK(text.error().message == one.wanted);
    }
    CHECK(read_file("/dev/null")->empty());
}

TEST_CASE("read_file: what another file names is a regular file, and nobody waits for a FIFO") {
    const test::temporary_folder here;
    const std::string fifo = here / "fifo";
    REQUIRE(::mkfifo(fifo.c_str(), 0600) == 0);
    for (const std::string& path : {fifo, std::string("/dev/null")})
        CHECK(read_regular_file(path).error().message == path + ": is no plain file");
    CHECK(read_regular_file("/tmp").error().message == "/tmp: is a directory, not a file");
    CHECK(read_regular_file(here / "none").error().message.ends_with("No such file or directory"));
    const std::string file = here / "file";
    std::ofstream(file) << "four";
    CHECK(read_regular_file(file, 4).value() == "four");
    CHECK(read_regular_file(file, 3).has_error());
}

TEST_CASE("read_file: a pipe is read to its end") {
    int ends[2]{};
    REQUIRE(::pipe(ends) == 0);
    const file_descriptor from(ends[0]);
    file_descriptor to(ends[1]);
    REQUIRE(::write(to.get(), "four", 4) == 4);
    CHECK(to.close() == 0);
    CHECK(read_descriptor(from.get(), "-", 4).value() == "four");
    CHECK(read_descriptor(from.get(), "-").value().empty());
}

TEST_CASE("file_descriptor: is closed once, by its last owner") {
    file_descriptor one(::open("/dev/null", O_RDONLY | O_CLOEXEC));
    file_descriptor two(::open("/dev/null", O_RDONLY | O_CLOEXEC));
    const int first = one.get();
    const int second = two.get();
    two = std::move(one);
    CHECK(is_open(first));
    CHECK_FALSE(is_open(second));
    two.close();
    CHECK_FALSE(is_open(first));
    CHECK(two.close() == 0);
}
