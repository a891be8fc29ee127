// SPDX-License-Identifier: GPL-3.0-or-later
// A ledger in a folder of its own, for tests.
#pragma once

#include <catch2/catch.hpp>

#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include <stdlib.h>

#include "../temporary_folder.hpp"
#include "ledger/database.hpp"
#include "ledger/reader.hpp"
#include "ledger/row_buffer.hpp"
#include "ledger/schema_tables.hpp"
#include "ledger/writer.hpp"

namespace ledger_test {

using namespace postal::ledger;

extern thread_local unsigned allocations_to_fail;  // of this thread; evidence_test.cpp

using folder = test::temporary_folder;

inline run_entry run_of(std::uint64_t number, const std::string& program = "postal") {
    return {.run = number,
            .program = program,
            .started = std::chrono::system_clock::time_point(std::chrono::seconds(1790000000)),
            .seed = 42,
            .argv = {program, "-t", "a b"}};
}

inline std::unique_ptr<writer> open(const std::string& path, const run_entry& run) {
    auto made = writer::open(path, run);
    INFO((made ? std::string() : made.error().message));
    REQUIRE(made.has_value());
    return std::move(*made);
}

// Statements as somebody with the sqlite3 shell would run them.
inline void run_sql(const std::string& path, const std::string& sql) {
    auto file = database::open(path, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE);
    REQUIRE(file.has_value());
    REQUIRE(file->execute(sql) == SQLITE_OK);
}

inline std::string ask_sql(const std::string& path, const std::string& sql) {
    auto file = database::open(path, SQLITE_OPEN_READWRITE);
    REQUIRE(file.has_value());
    auto asked = file->prepare(sql);
    REQUIRE(asked.has_value());
    std::string result;
    while (asked->step() == SQLITE_ROW) {
        result += (result.empty() ? "" : " ") + asked->text(0);
    }
    return result;
}

// What a ledger's report says, with the rows of one list as "sequence>mailbox".
struct told {
    summary totals;
    std::vector<discrepancy_row> rows;
    std::vector<std::int64_t> deliveries_us;
    std::vector<run_row> runs;
};

inline told report(const std::string& path, discrepancy list = discrepancy::lost) {
    told result;
    auto book = reader::open(path);
    INFO((book ? std::string() : book.error().message));
    REQUIRE(book.has_value());
    questions wanted;
    wanted.list = list;
    wanted.on_row = [&](const discrepancy_row& row) { result.rows.push_back(row); };
    wanted.on_delivery = [&](std::int64_t took) { result.deliveries_us.push_back(took); };
    auto said = book->reconcile(wanted);
    REQUIRE(said.has_value());
    result.totals = said->totals;
    result.runs = said->runs;
    return result;
}

// The same rows in a file of schema 3 or 4, in its place.
inline void make_older(const std::string& path, int schema) {
    const std::string older = path + ".older";
    std::string sql = "ATTACH '" + path + "' AS newer;" + tables_of(schema);
    std::vector<std::string> tables{"meta", "runs",    "addresses", "outcomes", "conditions",
                                    "ways", "extents", "removed",   "visits"};
    if (schema > 3) tables.insert(tables.end(), {"actions", "returned"});
    for (const std::string& table : tables)
        sql += "INSERT INTO " + table + " SELECT * FROM newer." + table + ";";
    sql +=
        "INSERT INTO sent SELECT number, run, session, sequence, recipient, sender, outcome, "
        "counted, code, enhanced, time_us FROM newer.sent;"
        "INSERT INTO seen SELECT number, observer, run, session, sequence, mailbox, condition, "
        "way, server, uid_validity, uid, place, detail, time_us, sent_us FROM newer.seen;";
    run_sql(older, sql + "PRAGMA application_id = 0x506f734c; PRAGMA user_version = " +
                       std::to_string(schema));
    std::filesystem::rename(older, path);
}

}  // namespace ledger_test
