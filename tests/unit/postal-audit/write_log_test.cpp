// SPDX-License-Identifier: GPL-3.0-or-later
// Logs of writes: what is read, what survives for certain, and what is refused.
#include "postal-audit/write_log.hpp"

#include "../temporary_file.hpp"
#include "log_builder.hpp"

#include "base/random.hpp"

#include <filesystem>
#include <limits>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

using namespace postal;
using audit::log_entry;
using audit::write_log;
using test::log_builder;

namespace {

constexpr std::uint64_t largest = std::numeric_limits<std::uint64_t>::max();

base::expected<write_log> read_log(const std::string& text) {
    const test::temporary_file file(text);
    return write_log::open(file.path());
}

std::string refusal(const std::string& text) {
    const test::temporary_file file(text);
    const auto log = write_log::open(file.path());
    if (log) return "";
    const std::string& message = log.error().message;
    CHECK(message.find('\n') == std::string::npos);
    if (message.rfind(file.path() + ": ", 0) != 0) return message;
    return message.substr(file.path().size() + 2);
}

}  // namespace

TEST_CASE("write log: entries, whatever the size of a sector") {
    const std::uint32_t sector = GENERATE(512U, 4096U, 65536U);
    const auto log = read_log(log_builder(sector)
                                  .write(3, "ab")
                                  .flushed()
                                  .entry(7, 100, test::discard)
                                  .entry(0, 0, test::mark)
                                  .write(1, "c", test::fua | test::metadata)
                                  .text());
    REQUIRE(log.has_value());
    CHECK(log->sector_size() == sector);
    const std::uint64_t s = sector;
    const std::vector<log_entry> expected = {
        {3 * s, 2 * s, 2 * s, 4 * s, false, false, false, false},
        {0, 0, 5 * s, 5 * s, true, false, false, false},
        {7 * s, 100 * s, 6 * s, 6 * s, false, false, true, false},
        {0, 0, 7 * s, 7 * s, false, false, false, true},
        {1 * s, 1 * s, 8 * s, 9 * s, false, true, false, false},
    };
    CHECK(log->entries() == expected);
    CHECK(log->ends_whole());
    CHECK(log->flushes() == 1);
    CHECK(log->writes() == 2);
    CHECK(log->octets() == 3 * s);
}

TEST_CASE("write log: what a cut may lose") {
    const auto log = read_log(log_builder()
                                  .write(0, "a")                           // 0
                                  .write(1, "b", test::fua)                // 1
                                  .flushed()                               // 2
                                  .write(2, "c")                           // 3
                                  .entry(0, 4, test::discard)              // 4
                                  .write(3, "d", test::fua)                // 5
                                  .write(4, "e", test::flush)              // 6
                                  .entry(0, 0, test::mark)                 // 7
                                  .write(5, "f", test::flush | test::fua)  // 8
                                  .write(6, "g")                           // 9
                                  .text());
    REQUIRE(log.has_value());
    struct row {
        std::size_t entries;
        std::size_t durable;
        std::vector<std::size_t> at_risk;
        const char* why;
    };
    const std::vector<row> rows = {
        {0, 0, {}, "nothing was written"},
        {1, 0, {0}, "no flush yet"},
        {2, 0, {0}, "FUA is durable by itself, and of itself only"},
        {3, 3, {}, "a flush"},
        {4, 3, {3}, "a write behind it"},
        {6, 3, {3, 4}, "a discard is lost as a write is"},
        {7, 6, {6}, "a flush comes before its own data"},
        {8, 6, {6}, "a mark is nothing to lose"},
        {9, 9, {}, "a flush whose own data is FUA"},
        {10, 9, {9}, "the last entry"},
        {11, 9, {9}, "no more than there are"},
    };
    for (const row& one : rows) {
        INFO(one.why);
        CHECK(log->last_flush_before(one.entries) == one.durable);
        CHECK(log->at_risk(one.entries) == one.at_risk);
    }
    CHECK(log->flushes() == 3);
    CHECK(log->writes() == 7);
}

TEST_CASE("write log: it is read to its end, whatever the superblock has counted so far") {
    const log_builder builder = log_builder().write(0, "a").flushed().write(1, "b");
    for (const std::uint64_t counted : {0U, 2U, 3U}) {
        const auto log = read_log(builder.text(counted));
        REQUIRE(log.has_value());
        CHECK(log->entries().size() == 3);
    }
    CHECK(refusal(builder.text(4)) ==
          "octet 3072: the log ends behind 3 entries; it should have 4");
    CHECK_THAT(refusal(builder.text(largest)),
               Catch::Contains("it should have 18446744073709551615"));
}

TEST_CASE("write log: every prefix is read as far as it is whole, or refused") {
    const log_builder builder =
        log_builder().write(5, "ab").flushed().entry(9, 3, test::discard).write(6, "c");
    const std::string text = builder.text(2);
    const test::temporary_file file(text);
    const auto whole = write_log::open(file.path());
    REQUIRE(whole.has_value());
    const std::uint64_t counted_end = whole->entries()[1].ends_at;
    for (std::size_t size = text.size(); size-- > 0;) {
        std::filesystem::resize_file(file.path(), size);
        const auto log = write_log::open(file.path());
        REQUIRE(log.has_value() == (size >= counted_end));
        if (!log) continue;
        std::uint64_t end = counted_end;
        std::size_t entries = 0;
        for (const log_entry& entry : whole->entries()) {
            if (entry.ends_at > size) break;
            end = entry.ends_at;
            ++entries;
        }
        REQUIRE(log->entries().size() == entries);
        REQUIRE(log->unread_octets() == size - end);
        REQUIRE(log->ends_whole() == (size == end));
    }
}

TEST_CASE("write log: it ends where an entry asks for nothing") {
    const std::string text = log_builder().write(0, "a").flushed().text();
    const auto log = read_log(text + std::string(5000, '\0'));
    REQUIRE(log.has_value());
    CHECK(log->entries().size() == 2);
    CHECK(log->unread_octets() == 5000);
    CHECK_THAT(refusal(log_builder().write(0, "a").entry(0, 0, 0).flushed().text()),
               Catch::Contains("octet 1536: the log ends behind 1 entries"));
}

TEST_CASE("write log: what is none is refused with its octet") {
    const auto with = [](std::size_t octet, const std::string& other) {
        std::string text = log_builder().write(0, "a").flushed().text();
        return text.replace(octet, other.size(), other);
    };
    const std::string no_disk = "no disk is so large";
    struct row {
        std::string text;
        std::string reason;
    };
    const std::vector<row> rows = {
        {"", "octet 0: the log ends within its first sector"},
        {log_builder(4096).text().substr(0, 4095), "octet 4095: the log ends within its first"},
        {with(0, "x"), "octet 0: not a log of writes"},
        {std::string(4096, '\0'), "octet 0: not a log of writes"},
        {with(8, log_builder::number(2)), "octet 8: version 2 of"},
        {with(24, std::string(4, '\0')), "octet 24: sectors of 0 octets"},
        {with(24, log_builder::number(513).substr(0, 4)), "octet 24: sectors of 513 octets"},
        {with(24, log_builder::number(256).substr(0, 4)), "octet 24: sectors of 256 octets"},
        {with(24, std::string(4, '\xff')), "octet 24: sectors of 4294967295 octets"},
        {with(24, log_builder::number(1U << 31U).substr(0, 4)), "sectors of 2147483648 octets"},
        {with(512 + 16, log_builder::number(32)), "octet 528: an entry with unknown flags 0x20"},
        {with(512 + 16, log_builder::number(largest)), "unknown flags 0xffffffffffffffff"},
        {with(512 + 16, log_builder::number(8)), "octet 520: a mark that writes 1 sectors"},
        {with(512, log_builder::number(largest)), no_disk},
        {with(512, log_builder::number(largest / 512)), no_disk},
        {with(512, log_builder::number(largest / 1024)), no_disk},
        {with(520, log_builder::number(largest)), no_disk},
        {with(520, log_builder::number(largest / 512)), no_disk},
        {with(520, log_builder::number(largest / 512 + 2)), no_disk},
        {with(520, log_builder::number(largest / 1024)), "octet 512: the log ends behind 0"},
        {with(520, log_builder::number(3)), "octet 512: the log ends behind 0 entries"},
        {log_builder().entry(largest, largest, test::discard).text(), no_disk},
    };
    for (const row& one : rows)
        CHECK_THAT(refusal(one.text), Catch::Contains(one.reason));
    // The sector of what writes nothing means nothing.
    CHECK(refusal(log_builder().entry(largest, 0, test::flush).text()).empty());
}

TEST_CASE("write log: a file that is none") {
    const auto missing = write_log::open("/nonexistent/log");
    REQUIRE_FALSE(missing.has_value());
    CHECK(missing.error().message == "/nonexistent/log: No such file or directory");
    const auto folder = write_log::open("/tmp");
    REQUIRE_FALSE(folder.has_value());
    CHECK(folder.error().message == "/tmp: neither a file nor a block device");
}

TEST_CASE("write log: flipped octets give a log or a line, and entries within the file") {
    const std::string text =
        log_builder().write(5, "ab").flushed().entry(9, 3, test::discard).write(6, "c").text(2);
    base::random_source random(15);
    for (unsigned round = 0; round < 2000; ++round) {
        std::string flipped = text;
        for (std::uint64_t i = 1 + random.below(3); i > 0; --i) {
            // Where the numbers are.
            const std::size_t sector = 512 * random.below(text.size() / 512);
            flipped[sector + random.below(32)] ^= static_cast<char>(1U << random.below(8));
        }
        const auto log = read_log(flipped);
        if (!log) continue;
        for (const log_entry& entry : log->entries())
            REQUIRE(entry.ends_at <= text.size());
    }
}
