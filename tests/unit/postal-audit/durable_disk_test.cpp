// SPDX-License-Identifier: GPL-3.0-or-later
// The disk at any place of a log, in any order of places, is what going through the log from its
// start gives.
#include "postal-audit/durable_disk.hpp"

#include "../temporary_file.hpp"
#include "log_builder.hpp"

#include "base/random.hpp"
#include "base/read_file.hpp"

#include <filesystem>
#include <string>

#include <catch2/catch.hpp>

using namespace postal;
using audit::durable_disk;

namespace {

constexpr std::uint64_t disk_octets = 64 * 512;
constexpr std::size_t writes = 60;

// Writes over each other, discards among them.
std::string some_log() {
    base::random_source random(3);
    test::log_builder builder;
    for (std::size_t i = 0; i < writes; ++i) {
        const std::uint64_t sector = random.below(60);
        if (i % 9 == 8)
            builder.entry(sector, 2, test::discard);
        else
            builder.write(sector,
                          std::string(1 + random.below(4), static_cast<char>('a' + i % 26)));
        if (i % 5 == 4) builder.flushed();
    }
    return builder.text();
}

std::string content(const audit::disk_image& of) {
    return base::read_file(of.path()).value();
}

std::string folder_of(const test::temporary_file& file) {
    return std::filesystem::path(file.path()).parent_path().string();
}

}  // namespace

TEST_CASE("durable disk: the same at each place, in whatever order they are asked for") {
    const test::temporary_file file(some_log());
    const auto log = audit::write_log::open(file.path()).value();
    const std::size_t entries = log.entries().size();
    std::vector<std::string> expected;
    {
        const test::temporary_file elsewhere("");
        auto image = audit::disk_image::create(elsewhere.path() + ".image", disk_octets).value();
        expected.push_back(content(image));
        for (std::size_t i = 0; i < entries; ++i) {
            REQUIRE(image.apply_one(log, i).has_value());
            expected.push_back(content(image));
        }
    }
    // Copies close together, a few, and none.
    const std::uint64_t between = GENERATE(1, 20 * 512, durable_disk::least_between);
    auto disk = durable_disk::create(folder_of(file), disk_octets, log, between).value();
    base::random_source random(between);
    for (int ask = 0; ask < 200; ++ask) {
        const std::size_t place = random.below(entries + 1);
        const auto at = disk.at(place);
        REQUIRE(at.has_value());
        REQUIRE(content(**at) == expected[place]);
    }
    CAPTURE(between, disk.copies());
    CHECK(disk.copies() <= durable_disk::most_copies);
    CHECK((disk.copies() > 0) == (between < durable_disk::least_between));
}

TEST_CASE("durable disk: no file stays, and a copy for which there is no room is done without") {
    const test::temporary_file file(some_log());
    const auto log = audit::write_log::open(file.path()).value();
    const std::string folder = folder_of(file);
    const auto paths = durable_disk::paths(folder);
    REQUIRE(paths.size() == durable_disk::most_copies + 1);
    // What is there cannot be removed, nor made.
    for (std::size_t i = 1; i < paths.size(); ++i)
        std::filesystem::create_directories(paths[i] + "/in-the-way");
    {
        auto disk = durable_disk::create(folder, disk_octets, log, 1).value();
        const std::string whole = content(**disk.at(log.entries().size()));
        CHECK(disk.copies() == 0);
        REQUIRE(disk.at(0).has_value());
        CHECK(content(**disk.at(log.entries().size())) == whole);
        CHECK(std::filesystem::exists(paths.front()));
    }
    CHECK_FALSE(std::filesystem::exists(paths.front()));
}
