// SPDX-License-Identifier: GPL-3.0-or-later
#include "net/parcels.hpp"

#include <catch2/catch.hpp>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include <sys/stat.h>

using postal::net::parcel_door;
using postal::net::parcel_line;

namespace {

namespace fs = std::filesystem;

// A folder of its own, with a name that is longer than a socket's address.
struct folder {
    folder() {
        char made[] = "/tmp/parcels-XXXXXX";
        REQUIRE(::mkdtemp(made) != nullptr);
        top = made;
        fs::create_directories(path().parent_path());
    }
    folder(const folder&) = delete;
    folder& operator=(const folder&) = delete;
    ~folder() { fs::remove_all(top); }
    fs::path path() const { return fs::path(top) / std::string(120, 'x') / "door"; }

    std::string top;
};

struct both {
    parcel_line one;
    parcel_line other;
};

both lines(const folder& in) {
    auto door = parcel_door::open(in.path().string());
    REQUIRE(door.has_value());
    auto connected = parcel_line::connect(in.path().string());
    REQUIRE(connected.has_value());
    REQUIRE(connected->has_value());
    auto let_in = door->let_in();
    REQUIRE(let_in.has_value());
    return {std::move(**connected), std::move(*let_in)};
}

}  // namespace

TEST_CASE("parcels: come whole and in order, also empty and large ones") {
    const folder in;
    both ends = lines(in);
    const std::string large(300'000, 'y');  // more than a socket holds
    ends.one.send("first");
    ends.one.send("");
    ends.one.send(large);
    ends.one.send("last");
    CHECK(ends.other.receive() == "first");
    CHECK(ends.other.receive() == "");
    std::optional<std::string> next;
    for (int i = 0; i < 1000 && !next; ++i) {
        next = ends.other.receive();
        CHECK_FALSE(ends.one.receive().has_value());  // moves along what has not left
    }
    CHECK(next == large);
    CHECK(ends.other.receive() == "last");
    CHECK_FALSE(ends.other.receive().has_value());
    CHECK_FALSE(ends.other.gone().has_value());
}

TEST_CASE("parcels: what was said before the end is heard, and then the end") {
    const folder in;
    both ends = lines(in);
    {
        parcel_line gone = std::move(ends.one);
        gone.send("one");
        gone.send("two");
    }
    CHECK(ends.other.receive() == "one");
    CHECK(ends.other.receive() == "two");
    CHECK_FALSE(ends.other.receive().has_value());
    REQUIRE(ends.other.gone().has_value());
    CHECK(*ends.other.gone() == "closed its connection");
    ends.other.send("to nobody");
    CHECK_FALSE(ends.other.receive().has_value());
}

TEST_CASE("parcels: an end is one, whether or not all was read before it") {
    const folder in;
    both ends = lines(in);
    ends.other.send("never read");
    { const parcel_line gone = std::move(ends.one); }
    CHECK_FALSE(ends.other.receive().has_value());
    CHECK(ends.other.gone() == "closed its connection");
}

TEST_CASE("parcels: who says too much, or reads nothing, is gone") {
    const folder in;
    both ends = lines(in);
    SECTION("a parcel that is too long") {
        ends.one.send(std::string(parcel_line::largest_parcel + 1, 'z'));
        for (int i = 0; i < 1000 && !ends.other.gone(); ++i)
            CHECK_FALSE(ends.other.receive().has_value());
        REQUIRE(ends.other.gone().has_value());
        CHECK_THAT(*ends.other.gone(), Catch::Contains("octets at once, which are too many"));
    }
    SECTION("nobody reads") {
        const std::string large(parcel_line::largest_parcel, 'z');
        for (int i = 0; i < 8; ++i)
            ends.one.send(large);
        CHECK(ends.one.gone() == "does not read what it is told");
        CHECK(ends.one.unsent() == 0);
    }
}

TEST_CASE("parcels: a door is its owner's, replaces what is dead, and goes with its owner") {
    const folder in;
    const std::string path = in.path().string();
    CHECK_FALSE(parcel_line::connect(path).value().has_value());
    {
        auto door = parcel_door::open(path);
        REQUIRE(door.has_value());
        struct stat is {};
        REQUIRE(::stat(path.c_str(), &is) == 0);
        CHECK((is.st_mode & 0777U) == 0600U);
        CHECK_FALSE(door->let_in().has_value());
        CHECK_FALSE(parcel_door::open(path).has_value());  // it is in use
    }
    CHECK_FALSE(fs::exists(path));
    std::ofstream(path) << "mine";
    CHECK_THAT(parcel_door::open(path).error().message, Catch::Contains("not a socket"));
    CHECK(fs::file_size(path) == 4);
    CHECK_FALSE(parcel_line::connect(path).value().has_value());
}
