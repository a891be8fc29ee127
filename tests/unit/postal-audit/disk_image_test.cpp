// SPDX-License-Identifier: GPL-3.0-or-later
// Images from logs: any cut and any draw give what a model in memory gives; holes stay holes.
#include "postal-audit/disk_image.hpp"

#include "../temporary_file.hpp"
#include "log_builder.hpp"

#include "base/random.hpp"
#include "base/read_file.hpp"
#include "postal-audit/sparse_copy.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <memory>
#include <string>

#include <catch2/catch.hpp>

using namespace postal;
using audit::disk_image;
using test::log_builder;

namespace {

struct opened_log {
    explicit opened_log(const std::string& text)
        : file(text), log(audit::write_log::open(file.path()).value()) {}
    // In the log's folder, which goes with it.
    std::string beside(const std::string& name) const { return file.path() + "." + name; }

    test::temporary_file file;
    audit::write_log log;
};

std::string content(const std::string& path) {
    return base::read_file(path).value();
}

std::uint64_t taken(const std::string& path) {
    struct stat status {};
    REQUIRE(::stat(path.c_str(), &status) == 0);
    return static_cast<std::uint64_t>(status.st_blocks) * 512;
}

// What the disk holds, octet by octet; knows nothing of the code under test but its structs.
struct model_write {
    std::uint64_t sector = 0;
    std::string data;  // of a discard: zeros
    std::uint64_t flags = 0;
};

struct model {
    std::uint32_t sector_size = 512;
    std::vector<model_write> entries;

    void apply_sectors(std::string& disk, const model_write& write, std::uint64_t first,
                       std::uint64_t sectors) const {
        disk.replace((write.sector + first) * sector_size, sectors * sector_size,
                     write.data.substr(first * sector_size, sectors * sector_size));
    }

    std::string after(std::size_t cut, const audit::draw& drawn, std::size_t sectors) const {
        std::size_t durable = 0;
        for (std::size_t i = 0; i < cut; ++i) {
            if ((entries[i].flags & test::flush) == 0) continue;
            const bool own_is_at_risk =
                !entries[i].data.empty() && (entries[i].flags & test::fua) == 0;
            durable = own_is_at_risk ? i : i + 1;
        }
        std::string disk(sectors * sector_size, '\0');
        for (std::size_t i = 0; i < cut; ++i) {
            const model_write& write = entries[i];
            const std::uint64_t all = write.data.size() / sector_size;
            bool survives = i < durable || (write.flags & test::fua) != 0;
            for (const audit::survivor& one : drawn.writes) {
                if (one.index != i) continue;
                REQUIRE_FALSE(survives);  // it was not at risk
                survives = one.torn.empty();
                for (const audit::sector_run& run : one.torn)
                    apply_sectors(disk, write, run.first, run.sectors);
            }
            if (survives) apply_sectors(disk, write, 0, all);
        }
        return disk;
    }
};

// Random entries on a disk of so many sectors, all kinds of them, and their log.
std::pair<model, std::string> random_log(base::random_source& random, std::uint32_t sector_size,
                                         std::uint64_t sectors) {
    model made{sector_size, {}};
    log_builder builder(sector_size);
    const std::uint64_t count = 1 + random.below(30);
    for (std::uint64_t i = 0; i < count; ++i) {
        const std::uint64_t first = random.below(sectors);
        const std::uint64_t length = 1 + random.below(std::min<std::uint64_t>(6, sectors - first));
        const std::uint64_t kind = random.below(10);
        if (kind == 0) {
            builder.flushed();
            made.entries.push_back({0, "", test::flush});
        } else if (kind == 1) {
            builder.entry(0, 0, test::mark);
            made.entries.push_back({0, "", test::mark});
        } else if (kind == 2) {
            builder.entry(first, length, test::discard);
            made.entries.push_back({first, std::string(length * sector_size, '\0'), 0});
        } else {
            const std::uint64_t flags = kind == 3   ? test::fua
                                        : kind == 4 ? test::flush
                                        : kind == 5 ? test::flush | test::fua
                                                    : 0;
            std::string data;
            for (std::uint64_t octet = 0; octet < length * sector_size; ++octet)
                data += static_cast<char>(random.below(256));
            builder.entry(first, length, flags, data);
            made.entries.push_back({first, data, flags});
        }
    }
    return {made, builder.text(random.below(count + 1))};
}

}  // namespace

TEST_CASE("disk image: any log, cut and draw give what the model gives") {
    const std::uint32_t sector_size = GENERATE(512U, 4096U);
    constexpr std::uint64_t sectors = 24;
    base::random_source random(sector_size);
    for (unsigned round = 0; round < 25; ++round) {
        const auto [made, text] = random_log(random, sector_size, sectors);
        const opened_log opened(text);
        const auto& log = opened.log;
        REQUIRE(log.entries().size() == made.entries.size());
        auto base_image = disk_image::create(opened.beside("base"), sectors * sector_size);
        REQUIRE(base_image.has_value());
        std::size_t applied = 0;
        for (const std::size_t cut : audit::choose_cuts(log, 0, log.entries().size(), 6, round)) {
            const std::size_t durable = log.last_flush_before(cut);
            REQUIRE(base_image->apply(log, applied, durable).has_value());
            applied = durable;
            for (const audit::draw& one : audit::draws_of(cut, log, 5, round, 50)) {
                const std::string path = opened.beside("copy");
                auto copy = base_image->copy_to(path);
                REQUIRE(copy.has_value());
                REQUIRE(copy->apply_survivors(log, cut, one.writes).has_value());
                REQUIRE(content(path) == made.after(cut, one, sectors));
                std::filesystem::remove(path);
            }
        }
    }
}

TEST_CASE("disk image: an entry beyond the disk's end is refused and changes nothing") {
    const opened_log opened(log_builder()
                                .write(6, "ab")
                                .write(7, "cd")
                                .write(1U << 20U, "e")
                                .entry(7, 2, test::discard)
                                .text());
    const std::string path = opened.beside("image");
    auto image = disk_image::create(path, 8 * 512);
    REQUIRE(image.has_value());
    REQUIRE(image->apply(opened.log, 0, 1).has_value());
    const std::string before = content(path);
    for (const std::size_t beyond : {1U, 2U, 3U})
        CHECK_FALSE(image->apply_one(opened.log, beyond).has_value());
    CHECK(image->apply(opened.log, 0, 4).error().message ==
          opened.file.path() + ": entry 1 is for octets 3584 to 4608 of a disk of 4096");
    CHECK(content(path) == before);
}

TEST_CASE("disk image: torn writes leave the sectors between as they were") {
    const opened_log opened(log_builder().write(0, "abcdefgh").write(0, "ABCDEFGH").text());
    const std::string path = opened.beside("image");
    auto image = disk_image::create(path, 8 * 512);
    REQUIRE(image.has_value());
    REQUIRE(image->apply_one(opened.log, 0).has_value());
    const std::vector<audit::sector_run> torn = {{0, 1}, {3, 2}, {7, 1}};
    REQUIRE(image->apply_one(opened.log, 1, torn).has_value());
    const std::string found = content(path);
    std::string letters;
    for (std::size_t sector = 0; sector < 8; ++sector) {
        letters += found[sector * 512];
        CHECK(found.substr(sector * 512, 512) == std::string(512, letters.back()));
    }
    CHECK(letters == "AbcDEfgH");
}

TEST_CASE("disk image: sparse, its copies too, and discards give the space back") {
    log_builder builder;
    builder.write((std::uint64_t{900} << 20U) / 512, std::string(256, 'x'));
    builder.write(0, std::string(2048, 'y'));
    const opened_log opened(builder.entry(0, 2048, test::discard).text());
    const std::string path = opened.beside("image");
    auto image = disk_image::create(path, std::uint64_t{1} << 30U);
    REQUIRE(image.has_value());
    REQUIRE(image->apply(opened.log, 0, 2).has_value());
    CHECK(taken(path) >= (1U << 20U) + (1U << 17U));
    CHECK(taken(path) < 4U << 20U);
    auto copy = image->copy_to(opened.beside("copy"));
    REQUIRE(copy.has_value());
    CHECK(copy->octets() == std::uint64_t{1} << 30U);
    CHECK(std::filesystem::file_size(copy->path()) == std::uint64_t{1} << 30U);
    CHECK(taken(copy->path()) < 4U << 20U);
    REQUIRE(image->apply(opened.log, 2, 3).has_value());
    CHECK(taken(path) < 1U << 20U);

    const base::file_descriptor file(::open(copy->path().c_str(), O_RDONLY | O_CLOEXEC));
    std::string there(256 * 512, ' ');
    REQUIRE(::pread(file.get(), there.data(), there.size(), off_t{900} << 20U) == 256 * 512);
    CHECK(there == std::string(256 * 512, 'x'));
    CHECK(::lseek(file.get(), off_t{2} << 20U, SEEK_DATA) == off_t{900} << 20U);
}

TEST_CASE("disk image: zeros that the log holds as a hole take no space") {
    const std::uint64_t sectors = (std::uint64_t{64} << 20U) / 512;
    const test::temporary_file file(
        log_builder().write(0, std::string(16, 'x')).entry(0, sectors, 0).text(1));
    REQUIRE(::truncate(file.path().c_str(), (off_t{64} << 20U) + 19 * 512) == 0);
    const auto log = audit::write_log::open(file.path());
    REQUIRE(log.has_value());
    REQUIRE(log->entries().size() == 2);
    REQUIRE(log->ends_whole());
    const std::string path = file.path() + ".image";
    auto image = disk_image::create(path, sectors * 512);
    REQUIRE(image.has_value());
    REQUIRE(image->apply(*log, 0, 2).has_value());
    CHECK(taken(path) < 1U << 20U);
    CHECK(content(path) == std::string(sectors * 512, '\0'));
}

TEST_CASE("disk image: files of different file systems, and a source that ends") {
    const base::file_descriptor memory(::open("/dev/shm", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600));
    REQUIRE(memory.is_open());
    std::string data;
    for (unsigned i = 0; i < 5U << 18U; ++i)
        data += static_cast<char>(i * 7 + i / 256);
    REQUIRE(::pwrite(memory.get(), data.data(), data.size(), 8192) ==
            static_cast<ssize_t>(data.size()));
    const test::temporary_file target("");
    const base::file_descriptor file(::open(target.path().c_str(), O_RDWR | O_CLOEXEC));
    REQUIRE(audit::copy_sparse({memory.get(), 8192}, {file.get(), 0}, data.size()).has_value());
    CHECK(content(target.path()) == data);
    const auto ends = audit::copy_sparse({memory.get(), 8192}, {file.get(), 0}, data.size() + 1);
    CHECK_FALSE(ends.has_value());
}

TEST_CASE("disk image: never in place of another file, nor larger than a file can be") {
    const test::temporary_file there("mail");
    const auto refused = disk_image::create(there.path(), 4096);
    REQUIRE_FALSE(refused.has_value());
    CHECK(refused.error().message == "cannot create " + there.path() + ": File exists");
    CHECK_FALSE(disk_image::create(there.path() + ".large", ~std::uint64_t{0}).has_value());
    CHECK_FALSE(std::filesystem::exists(there.path() + ".large"));
}
