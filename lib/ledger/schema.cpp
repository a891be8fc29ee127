#include "ledger/schema.hpp"

#include <cerrno>
#include <chrono>
#include <filesystem>
#include <thread>

#include <fmt/format.h>

#include "base/version.hpp"
#include "ledger/rows.hpp"

namespace postal::ledger {

namespace {

using base::expected;
namespace fs = std::filesystem;

constexpr auto patience = std::chrono::seconds(5);  // with others' locks, while opening
constexpr int patience_ms = 5000;

// The numbers are those of the enumerations in rows.hpp.
constexpr const char* tables = R"sql(
CREATE TABLE meta(key TEXT PRIMARY KEY, value TEXT) WITHOUT ROWID;
CREATE TABLE runs(id INTEGER PRIMARY KEY, run TEXT NOT NULL UNIQUE, role TEXT, program TEXT,
    started TEXT, seed INTEGER, argv TEXT, horizon_us INTEGER, ended_us INTEGER);
CREATE TABLE addresses(id INTEGER PRIMARY KEY, address TEXT NOT NULL UNIQUE);
CREATE TABLE outcomes(id INTEGER PRIMARY KEY, outcome TEXT);
CREATE TABLE conditions(id INTEGER PRIMARY KEY, condition TEXT);
CREATE TABLE ways(id INTEGER PRIMARY KEY, way TEXT);
CREATE TABLE sent(number INTEGER PRIMARY KEY, run INTEGER NOT NULL, session INTEGER NOT NULL,
    sequence INTEGER NOT NULL, recipient INTEGER NOT NULL, sender INTEGER,
    outcome INTEGER NOT NULL, counted INTEGER NOT NULL, code INTEGER, enhanced TEXT,
    time_us INTEGER NOT NULL);
CREATE TABLE seen(number INTEGER PRIMARY KEY, observer INTEGER NOT NULL, run INTEGER,
    session INTEGER, sequence INTEGER, mailbox INTEGER NOT NULL, condition INTEGER NOT NULL,
    way INTEGER NOT NULL, server INTEGER, uid_validity INTEGER NOT NULL, uid INTEGER NOT NULL,
    place INTEGER NOT NULL, detail TEXT, time_us INTEGER NOT NULL, sent_us INTEGER);
CREATE VIEW sent_messages AS SELECT s.number, r.run, s.session, s.sequence,
    f.address AS sender, t.address AS recipient, o.outcome, s.counted, s.code, s.enhanced,
    strftime('%Y-%m-%dT%H:%M:%S', s.time_us / 1000000, 'unixepoch')
        || printf('.%06dZ', s.time_us % 1000000) AS time
    FROM sent s JOIN runs r ON r.id = s.run JOIN addresses t ON t.id = s.recipient
    JOIN outcomes o ON o.id = s.outcome LEFT JOIN addresses f ON f.id = s.sender;
CREATE VIEW seen_messages AS SELECT s.number, b.run AS observer, r.run, s.session, s.sequence,
    m.address AS mailbox, c.condition, s.detail, w.way, v.address AS server, s.uid_validity,
    s.uid, s.place,
    strftime('%Y-%m-%dT%H:%M:%S', s.time_us / 1000000, 'unixepoch')
        || printf('.%06dZ', s.time_us % 1000000) AS time,
    (s.time_us - s.sent_us) / 1000000.0 AS delivery_s
    FROM seen s JOIN runs b ON b.id = s.observer JOIN addresses m ON m.id = s.mailbox
    JOIN conditions c ON c.id = s.condition JOIN ways w ON w.id = s.way
    LEFT JOIN runs r ON r.id = s.run LEFT JOIN addresses v ON v.id = s.server;
)sql";

template <class Enumeration>
void append_names(std::string& sql, const char* table, std::uint8_t count) {
    for (std::uint8_t each = 0; each < count; ++each) {
        fmt::format_to(std::back_inserter(sql), "INSERT INTO {} VALUES({}, '{}');", table, each,
                       to_text(static_cast<Enumeration>(each)));
    }
}

std::string whole_schema() {
    std::string sql = tables;
    append_names<outcome>(sql, "outcomes", 5);
    append_names<condition>(sql, "conditions", condition_count);
    append_names<way>(sql, "ways", 4);
    sql += fmt::format(
        "INSERT INTO meta VALUES('schema', 'postal-ledger/{0}'), ('version', '{1}');"
        "PRAGMA application_id = {2}; PRAGMA user_version = {0};",
        schema_version, base::build_version, application_id);
    return sql;
}

enum class kind { ledger, empty };

expected<kind> judge_once(database& file) {
    const auto id = file.number("PRAGMA application_id");
    if (!id) return id.error();
    const auto version = file.number("PRAGMA user_version");
    if (!version) return version.error();
    if (*id == application_id && *version == schema_version) return kind::ledger;
    if (*id == application_id) {
        return base::fail("{}: has schema {} of ledgers; this version knows schema {} only",
                          file.path(), *version, schema_version);
    }
    const auto objects = file.number("SELECT count(*) FROM sqlite_schema");
    if (!objects) return objects.error();
    if (*id == 0 && *version == 0 && *objects == 0) return kind::empty;
    return base::fail("{}: is a database, but no ledger", file.path());
}

// What the file is, as far as it is nothing that must be refused. Another program may be making it
// a ledger between two of the questions, in one step: then the second look is right.
expected<kind> judge(database& file) {
    auto found = judge_once(file);
    if (found) return found;
    return judge_once(file);
}

bool is_busy(int result) {
    return (result & 0xff) == SQLITE_BUSY;
}

// SQLite does not wait for a lock when it changes the journal's mode.
expected<void> execute_patiently(database& file, const std::string& sql) {
    const auto until = std::chrono::steady_clock::now() + patience;
    int result = file.execute(sql);
    while (is_busy(result) && std::chrono::steady_clock::now() < until) {
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
        result = file.execute(sql);
    }
    if (result != SQLITE_OK) return file.failure(result);
    return {};
}

// Unless another program has made it meanwhile.
expected<void> create(database& file) {
    int result = file.execute("BEGIN IMMEDIATE");
    if (result != SQLITE_OK) return file.failure(result);
    const auto now = judge(file);
    if (now && *now == kind::empty) result = file.execute(whole_schema());
    if (!now || result != SQLITE_OK) {
        const base::failure why = now ? file.failure(result) : now.error();
        file.execute("ROLLBACK");
        return why;
    }
    result = file.execute("COMMIT");
    if (result != SQLITE_OK) return file.failure(result);
    return {};
}

expected<void> refuse_directories(const std::string& path) {
    std::error_code ignored;
    if (fs::is_directory(path, ignored)) return base::fail("{}: is a directory", path);
    return {};
}

// The file as one that nobody writes to, for SQLite.
std::string unchanging(const std::string& path) {
    std::string result = "file:";
    for (const char octet : path) {
        if (octet == '?' || octet == '#' || octet == '%') {
            result += fmt::format("%{:02x}", octet);
        } else {
            result += octet;
        }
    }
    return result + "?immutable=1";
}

}  // namespace

expected<database> open_to_write(const std::string& path) {
    const auto file_at_most = refuse_directories(path);
    if (!file_at_most) return file_at_most.error();
    auto file = database::open(path, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE);
    if (!file) return file.error();
    file->set_patience(patience_ms);
    const auto found = judge(*file);
    if (!found) return found.error();
    if (file->read_only()) return file->failure(SQLITE_READONLY);
    const auto mode = execute_patiently(*file, "PRAGMA journal_mode = WAL");
    if (!mode) return mode.error();
    if (*found == kind::empty) {
        const auto created = create(*file);
        if (!created) return created.error();
    }
    return file;
}

expected<database> make_temporary() {
    auto file = database::open("", SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE);
    if (!file) return file.error();
    const int result =
        file->execute("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;" + whole_schema());
    if (result != SQLITE_OK) return file->failure(result);
    return file;
}

expected<database> open_to_read(const std::string& path) {
    const auto file_at_most = refuse_directories(path);
    if (!file_at_most) return file_at_most.error();
    std::error_code ignored;
    if (!fs::exists(path, ignored)) {
        return base::fail("{}: {}", path, base::system_message(ENOENT));
    }
    auto file = database::open(path, SQLITE_OPEN_READWRITE);
    if (!file) file = database::open(path, SQLITE_OPEN_READONLY);
    if (!file) return file.error();
    file->set_patience(patience_ms);
    auto found = judge(*file);
    if (!found && file->read_only()) {  // a folder in which SQLite cannot make its helpers
        file = database::open(unchanging(path), SQLITE_OPEN_READONLY | SQLITE_OPEN_URI);
        if (!file) return file.error();
        found = judge(*file);
    }
    if (!found) return found.error();
    if (*found == kind::empty) return base::fail("{}: is empty, and no ledger", path);
    return file;
}

}  // namespace postal::ledger
