// SPDX-License-Identifier: GPL-3.0-or-later
// Ledgers that somebody made to harm whoever reads them.
#include <catch2/catch.hpp>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <string>
#include <vector>

#include <sqlite3.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/read_file.hpp"
#include "ledger/schema.hpp"
#include "support.hpp"

using namespace ledger_test;
namespace fs = std::filesystem;

namespace {

std::string content(const std::string& path) {
    const auto read = postal::base::read_file(path, std::uint64_t{1} << 30U);
    REQUIRE(read.has_value());
    return *read;
}

void put(const std::string& path, const std::string& octets) {
    std::ofstream(path, std::ios::binary) << octets;
}

// A ledger with so many messages sent.
void make_ledger(const std::string& path, unsigned messages) {
    open(path, run_of(1));
    run_sql(path,
            "INSERT INTO addresses VALUES(1000, 'a@example.com');"
            "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n WHERE x < " +
                std::to_string(messages) +
                ") INSERT INTO sent SELECT NULL, 1, 1, x, 1000, 1000, 0, 1, 250, '2.1.5', "
                "1790000000000000 + x, 5120 FROM n");
}

std::string number(std::uint64_t value, int octets) {
    std::string result;
    for (int i = octets - 1; i >= 0; --i)
        result += static_cast<char>(value >> (8 * i));
    return result;
}

// A hot rollback journal without pages, which names a super-journal
// (https://sqlite.org/fileformat2.html).
std::string journal_naming(const std::string& victim) {
    const std::string magic = "\xd9\xd5\x05\xf9\x20\xa1\x63\xd7";
    std::string header =
        magic + number(0, 4) + number(1, 4) + number(1, 4) + number(512, 4) + number(4096, 4);
    header.resize(512, '\0');
    const auto sum = std::accumulate(victim.begin(), victim.end(), std::uint32_t{0});
    return header + number(0x40000000 / 4096 + 1, 4) + victim + number(victim.size(), 4) +
           number(sum, 4) + magic;
}

std::uint64_t accepted(const std::string& path) {
    return report(path).totals.acknowledged();
}

std::string refusal(const std::string& path) {
    const auto opened = open_to_read(path);
    return opened ? std::string() : opened.error().message;
}

// Three pages whose pointers all lead to the next, the last to a leaf: 10^8 rows and more in a file
// of some KiB. `first` is done with the ledger before.
void lead_round_in_circles(const std::string& path, unsigned messages, const std::string& first) {
    make_ledger(path, messages);
    run_sql(path, first);
    run_sql(path, "VACUUM");  // a table's pages lie side by side then
    const auto root = static_cast<std::size_t>(
        std::stoul(ask_sql(path, "SELECT rootpage FROM sqlite_schema WHERE name = 'sent'")));
    run_sql(path, "PRAGMA wal_checkpoint(TRUNCATE)");
    std::string file = content(path);
    const std::size_t size = 4096;
    const auto page_at = [&](std::size_t page) { return (page - 1) * size; };
    const auto child_of = [&](std::size_t page) {  // the last one
        std::size_t result = 0;
        for (std::size_t i = 0; i < 4; ++i)
            result = result * 256 + static_cast<unsigned char>(file[page_at(page) + 8 + i]);
        return result;
    };
    REQUIRE(file[page_at(root)] == 5);  // an interior page of a table
    const auto lead = [&](std::size_t page, std::size_t to) {
        constexpr std::size_t cells = 680;  // SQLite takes no page with more
        const std::string cell = number(to, 4) + '\x01';
        std::string octets = '\x05' + number(0, 2) + number(cells, 2) +
                             number(size - cell.size(), 2) + number(0, 1) + number(to, 4);
        for (std::size_t i = 0; i < cells; ++i)
            octets += number(size - cell.size(), 2);
        octets.resize(size - cell.size(), '\0');
        file.replace(page_at(page), size, octets + cell);
    };
    const std::size_t leaf = child_of(root);
    REQUIRE(file[page_at(leaf)] == 13);
    lead(root, leaf - 1);
    lead(leaf - 1, leaf - 2);
    lead(leaf - 2, leaf);
    put(path, file);
}

// What reading it ends with.
std::string end_of_reading(const std::string& path) {
    auto book = reader::open(path);
    REQUIRE(book.has_value());
    const auto told = book->reconcile({});
    REQUIRE_FALSE(told.has_value());
    return told.error().message;
}

std::uint64_t octets_written() {
    std::ifstream io("/proc/self/io");
    std::string name;
    std::uint64_t count = 0;
    while (io >> name >> count && name != "wchar:") {
    }
    return count;
}

}  // namespace

TEST_CASE("hostile ledger: a journal beside it that names a file does not remove that file") {
    const folder here;
    const std::string path = here / "ledger";
    const std::string victim = here / "victim";
    make_ledger(path, 10);
    put(victim, "kept");
    put(path + "-journal", journal_naming(victim));
    const std::string before = content(path);
    CHECK(refusal(path) ==
          path + ": " + path +
              "-journal lies beside it, which is no file of a ledger's; move it away");
    CHECK(fs::exists(victim));
    CHECK(fs::exists(path + "-journal"));
    CHECK(content(path) == before);
    (void)open_to_write(path);
    CHECK(fs::exists(victim));

    // That such a journal bites, whoever opens it as SQLite does by itself.
    put(path + "-journal", journal_naming(victim));
    sqlite3* plain = nullptr;
    CHECK(sqlite3_open_v2(path.c_str(), &plain, SQLITE_OPEN_READWRITE, nullptr) == SQLITE_OK);
    sqlite3_exec(plain, "SELECT 1 FROM sqlite_schema", nullptr, nullptr, nullptr);
    sqlite3_close(plain);
    CHECK_FALSE(fs::exists(victim));
}

TEST_CASE("hostile ledger: helpers that are links are not followed") {
    for (const char* helper : {"-wal", "-shm", "-journal"}) {
        INFO(helper);
        const folder here;
        const std::string path = here / "ledger";
        make_ledger(path, 10);
        fs::create_symlink(here / "made", path + helper);
        (void)refusal(path);
        CHECK_FALSE(fs::exists(here / "made"));
        put(here / "made", "kept");
        (void)refusal(path);
        (void)open_to_write(path);
        CHECK(content(here / "made") == "kept");
    }
}

// fs.protected_symlinks
TEST_CASE("hostile ledger: a stranger's link in a folder for all is not followed") {
    std::ifstream setting("/proc/sys/fs/protected_symlinks");
    int is_protected = 0;
    if (::geteuid() != 0 || !(setting >> is_protected) || is_protected == 0) return;
    const folder here;
    fs::create_directory(here / "shared");
    REQUIRE(::chmod((here / "shared").c_str(), 01777) == 0);
    fs::create_symlink(here / "made", here / "shared/ledger");
    REQUIRE(::lchown((here / "shared/ledger").c_str(), 65534, 65534) == 0);
    CHECK_FALSE(open_to_write(here / "shared/ledger").has_value());
    CHECK_FALSE(open_to_read(here / "shared/ledger").has_value());
    CHECK_FALSE(fs::exists(here / "made"));
}

TEST_CASE("hostile ledger: anything but a ledger's own tables and views is refused") {
    struct row {
        const char* sql;
        const char* said;
    };
    const std::vector<row> rows{
        {"DROP TABLE sent; CREATE VIEW sent AS WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT "
         "x + 1 FROM n) SELECT x AS number, 1 AS run, 1 AS session, x AS sequence, 1 AS recipient, "
         "1 AS sender, 0 AS outcome, 1 AS counted, 250 AS code, '' AS enhanced, 1 AS time_us FROM "
         "n",
         "view sent of sent"},
        {"CREATE TRIGGER t AFTER INSERT ON sent BEGIN DELETE FROM runs; END", "trigger t of sent"},
        {"CREATE TABLE more(a)", "table more of more"},
        {"CREATE INDEX own ON sent(abs(run))", "index own of sent"},
        {"CREATE INDEX own ON sent(run) WHERE run > 3", "index own of sent"},
        {"DROP TABLE seen", "tables are missing"},
        {"ALTER TABLE sent ADD COLUMN more TEXT", "table sent of sent"},
        {"CREATE TABLE \"\x1b[2J\"(a)", "\\x1b[2J"},
    };
    for (const row& one : rows) {
        INFO(one.sql);
        const folder here;
        const std::string path = here / "ledger";
        make_ledger(path, 10);
        run_sql(path, one.sql);
        CHECK(refusal(path).find(one.said) != std::string::npos);
        const auto written = open_to_write(path);
        REQUIRE_FALSE(written.has_value());
        CHECK(written.error().message.find(one.said) != std::string::npos);
        CHECK_FALSE(reader::open(std::vector<std::string>{path, path}).has_value());
    }
    const folder here;
    make_ledger(here / "ledger", 10);
    run_sql(here / "ledger", "CREATE INDEX own ON sent(session, sequence DESC)");
    CHECK(accepted(here / "ledger") == 10);
}

TEST_CASE("hostile ledger: pages that are read again and again come to an end") {
    const folder here;
    const std::string path = here / "ledger";
    lead_round_in_circles(path, 2'000, "SELECT 1");
    const auto begun = std::chrono::steady_clock::now();
    const std::string said = end_of_reading(path);
    CHECK(said == path + ": is damaged: there is no end to what is in it");
    CHECK(std::chrono::steady_clock::now() - begun < std::chrono::minutes(2));
}

TEST_CASE("hostile ledger: what is sorted fills no disk") {
    const folder here;
    const std::string path = here / "ledger";
    lead_round_in_circles(path, 300, "UPDATE sent SET time_us = hex(randomblob(900))");
    make_ledger(here / "another", 10);
    const std::uint64_t before = octets_written();
    CHECK(end_of_reading(path) == path + ": is damaged: there is no end to what is in it");
    // 64 MiB, and eight octets for each of the file's.
    CHECK(octets_written() - before < (std::uint64_t{200} << 20U));
    const auto both = reader::open(std::vector{path, here / "another"});
    REQUIRE_FALSE(both.has_value());
    CHECK(both.error().message == path + ": is damaged: it has one row twice");
    CHECK(octets_written() - before < (std::uint64_t{200} << 20U));
}

TEST_CASE("hostile ledger: reading changes nothing, and leaves nothing") {
    const folder here;
    const std::string path = here / "ledger";
    make_ledger(path, 100);
    const auto files = [&] {
        return std::distance(fs::directory_iterator(fs::path(path).parent_path()), {});
    };
    REQUIRE(files() == 1);
    const std::string before = content(path);
    CHECK(accepted(path) == 100);
    CHECK(files() == 1);
    CHECK(content(path) == before);

    // Beside a writer, and after one that was killed: its log is read, and stays as it is.
    auto writer = database::open(path, SQLITE_OPEN_READWRITE);
    REQUIRE(writer.has_value());
    REQUIRE(writer->execute("DELETE FROM sent WHERE sequence > 50") == SQLITE_OK);
    CHECK(accepted(path) == 50);
    for (const char* helper : {"", "-wal"})
        fs::copy_file(path + helper, here / "copy" + helper);
    const std::string log = content(here / "copy" + "-wal");
    REQUIRE_FALSE(log.empty());
    CHECK(accepted(here / "copy") == 50);
    CHECK(content(here / "copy") == before);
    CHECK(content(here / "copy" + "-wal") == log);
}
