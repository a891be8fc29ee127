// SPDX-License-Identifier: GPL-3.0-or-later
#include "ledger/schema_tables.hpp"

#include <iterator>
#include <string_view>

#include <fmt/format.h>

#include "base/version.hpp"
#include "ledger/rows.hpp"
#include "ledger/schema.hpp"

namespace postal::ledger {

namespace {

// The numbers are those of the enumerations in rows.hpp. Schema 2 had these and no others.
constexpr const char* runs_of_2 = R"sql(
CREATE TABLE runs(id INTEGER PRIMARY KEY, run TEXT NOT NULL UNIQUE, role TEXT, program TEXT,
    started TEXT, seed INTEGER, argv TEXT, horizon_us INTEGER, ended_us INTEGER);
)sql";
constexpr const char* shared_tables = R"sql(
CREATE TABLE meta(key TEXT PRIMARY KEY, value TEXT) WITHOUT ROWID;
CREATE TABLE addresses(id INTEGER PRIMARY KEY, address TEXT NOT NULL UNIQUE);
CREATE TABLE outcomes(id INTEGER PRIMARY KEY, outcome TEXT);
CREATE TABLE conditions(id INTEGER PRIMARY KEY, condition TEXT);
CREATE TABLE ways(id INTEGER PRIMARY KEY, way TEXT);
)sql";

// Up to schema 5.
constexpr const char* seen_of_2 = R"sql(
CREATE TABLE seen(number INTEGER PRIMARY KEY, observer INTEGER NOT NULL, run INTEGER,
    session INTEGER, sequence INTEGER, mailbox INTEGER NOT NULL, condition INTEGER NOT NULL,
    way INTEGER NOT NULL, server INTEGER, uid_validity INTEGER NOT NULL, uid INTEGER NOT NULL,
    place INTEGER NOT NULL, detail TEXT, time_us INTEGER NOT NULL, sent_us INTEGER);
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
// Since schema 6 with when a reader was told of it, and while it waited for that.
constexpr const char* seen_of_6 = R"sql(
CREATE TABLE notices(id INTEGER PRIMARY KEY, notice TEXT);
CREATE TABLE seen(number INTEGER PRIMARY KEY, observer INTEGER NOT NULL, run INTEGER,
    session INTEGER, sequence INTEGER, mailbox INTEGER NOT NULL, condition INTEGER NOT NULL,
    way INTEGER NOT NULL, server INTEGER, uid_validity INTEGER NOT NULL, uid INTEGER NOT NULL,
    place INTEGER NOT NULL, detail TEXT, time_us INTEGER NOT NULL, sent_us INTEGER,
    announced_us INTEGER, notice INTEGER, watcher INTEGER, arrived_us INTEGER);
CREATE VIEW seen_messages AS SELECT s.number, b.run AS observer, r.run, s.session, s.sequence,
    m.address AS mailbox, c.condition, s.detail, w.way, v.address AS server, s.uid_validity,
    s.uid, s.place,
    strftime('%Y-%m-%dT%H:%M:%S', s.time_us / 1000000, 'unixepoch')
        || printf('.%06dZ', s.time_us % 1000000) AS time,
    (s.time_us - s.sent_us) / 1000000.0 AS delivery_s,
    strftime('%Y-%m-%dT%H:%M:%S', s.announced_us / 1000000, 'unixepoch')
        || printf('.%06dZ', s.announced_us % 1000000) AS announced, n.notice, s.watcher
    FROM seen s JOIN runs b ON b.id = s.observer JOIN addresses m ON m.id = s.mailbox
    JOIN conditions c ON c.id = s.condition JOIN ways w ON w.id = s.way
    LEFT JOIN runs r ON r.id = s.run LEFT JOIN addresses v ON v.id = s.server
    LEFT JOIN notices n ON n.id = s.notice;
)sql";
constexpr const char* waits_of_6 = R"sql(
CREATE TABLE waitings(id INTEGER PRIMARY KEY, waiting TEXT);
CREATE TABLE waits(number INTEGER PRIMARY KEY, observer INTEGER NOT NULL,
    session INTEGER NOT NULL, mailbox INTEGER NOT NULL, way INTEGER NOT NULL,
    server INTEGER NOT NULL, waiting INTEGER NOT NULL, opened_us INTEGER NOT NULL,
    began_us INTEGER NOT NULL, ended_us INTEGER NOT NULL);
CREATE UNIQUE INDEX all_visits ON waits(observer, mailbox, way, server) WHERE waiting = 2;
CREATE VIEW mailbox_waits AS SELECT s.number, b.run AS observer, s.session,
    m.address AS mailbox, g.waiting, w.way, v.address AS server,
    strftime('%Y-%m-%dT%H:%M:%S', s.opened_us / 1000000, 'unixepoch')
        || printf('.%06dZ', s.opened_us % 1000000) AS opened,
    strftime('%Y-%m-%dT%H:%M:%S', s.began_us / 1000000, 'unixepoch')
        || printf('.%06dZ', s.began_us % 1000000) AS began,
    strftime('%Y-%m-%dT%H:%M:%S', s.ended_us / 1000000, 'unixepoch')
        || printf('.%06dZ', s.ended_us % 1000000) AS ended
    FROM waits s JOIN runs b ON b.id = s.observer JOIN addresses m ON m.id = s.mailbox
    JOIN waitings g ON g.id = s.waiting JOIN ways w ON w.id = s.way
    JOIN addresses v ON v.id = s.server;
)sql";

// Up to schema 4.
constexpr const char* sent_of_2 = R"sql(
CREATE TABLE sent(number INTEGER PRIMARY KEY, run INTEGER NOT NULL, session INTEGER NOT NULL,
    sequence INTEGER NOT NULL, recipient INTEGER NOT NULL, sender INTEGER,
    outcome INTEGER NOT NULL, counted INTEGER NOT NULL, code INTEGER, enhanced TEXT,
    time_us INTEGER NOT NULL);
CREATE VIEW sent_messages AS SELECT s.number, r.run, s.session, s.sequence,
    f.address AS sender, t.address AS recipient, o.outcome, s.counted, s.code, s.enhanced,
    strftime('%Y-%m-%dT%H:%M:%S', s.time_us / 1000000, 'unixepoch')
        || printf('.%06dZ', s.time_us % 1000000) AS time
    FROM sent s JOIN runs r ON r.id = s.run JOIN addresses t ON t.id = s.recipient
    JOIN outcomes o ON o.id = s.outcome LEFT JOIN addresses f ON f.id = s.sender;
)sql";
// Since schema 5 with the size of each message.
constexpr const char* sent_of_5 = R"sql(
CREATE TABLE sent(number INTEGER PRIMARY KEY, run INTEGER NOT NULL, session INTEGER NOT NULL,
    sequence INTEGER NOT NULL, recipient INTEGER NOT NULL, sender INTEGER,
    outcome INTEGER NOT NULL, counted INTEGER NOT NULL, code INTEGER, enhanced TEXT,
    time_us INTEGER NOT NULL, octets INTEGER);
CREATE VIEW sent_messages AS SELECT s.number, r.run, s.session, s.sequence,
    f.address AS sender, t.address AS recipient, o.outcome, s.counted, s.code, s.enhanced,
    strftime('%Y-%m-%dT%H:%M:%S', s.time_us / 1000000, 'unixepoch')
        || printf('.%06dZ', s.time_us % 1000000) AS time, s.octets
    FROM sent s JOIN runs r ON r.id = s.run JOIN addresses t ON t.id = s.recipient
    JOIN outcomes o ON o.id = s.outcome LEFT JOIN addresses f ON f.id = s.sender;
)sql";

// Since schema 3.
constexpr const char* runs_of_3 = R"sql(
CREATE TABLE runs(id INTEGER PRIMARY KEY, run TEXT NOT NULL UNIQUE, role TEXT, program TEXT,
    started TEXT, seed INTEGER, argv TEXT, horizon_us INTEGER, ended_us INTEGER,
    notes_visits INTEGER);
)sql";
constexpr const char* extents_of_3 = R"sql(
CREATE TABLE extents(id INTEGER PRIMARY KEY, extent TEXT);
)sql";
// Schema 3 kept of each extent the latest visit, of watches too.
constexpr const char* visits_of_3 = R"sql(
CREATE TABLE visits(number INTEGER PRIMARY KEY, observer INTEGER NOT NULL,
    mailbox INTEGER NOT NULL, way INTEGER NOT NULL, server INTEGER NOT NULL,
    extent INTEGER NOT NULL, began_us INTEGER NOT NULL, ended_us INTEGER NOT NULL,
    messages INTEGER NOT NULL, looked_at INTEGER NOT NULL, reason TEXT,
    UNIQUE(observer, mailbox, way, server, extent));
)sql";
// Each watch is a span of its own: what came in between two of them nobody has seen come.
constexpr const char* visits_of_4 = R"sql(
CREATE TABLE visits(number INTEGER PRIMARY KEY, observer INTEGER NOT NULL,
    mailbox INTEGER NOT NULL, way INTEGER NOT NULL, server INTEGER NOT NULL,
    extent INTEGER NOT NULL, began_us INTEGER NOT NULL, ended_us INTEGER NOT NULL,
    messages INTEGER NOT NULL, looked_at INTEGER NOT NULL, reason TEXT);
CREATE UNIQUE INDEX latest_visits ON visits(observer, mailbox, way, server, extent)
    WHERE extent <> 1;
)sql";
constexpr const char* tables_of_3 = R"sql(
CREATE TABLE removed(number INTEGER PRIMARY KEY, observer INTEGER NOT NULL, run INTEGER NOT NULL,
    session INTEGER NOT NULL, sequence INTEGER NOT NULL, mailbox INTEGER NOT NULL,
    way INTEGER NOT NULL, server INTEGER, uid_validity INTEGER NOT NULL, uid INTEGER NOT NULL,
    time_us INTEGER NOT NULL);
CREATE VIEW mailbox_visits AS SELECT s.number, b.run AS observer, m.address AS mailbox, e.extent,
    s.messages, s.looked_at, s.reason, w.way, v.address AS server,
    strftime('%Y-%m-%dT%H:%M:%S', s.began_us / 1000000, 'unixepoch')
        || printf('.%06dZ', s.began_us % 1000000) AS began,
    strftime('%Y-%m-%dT%H:%M:%S', s.ended_us / 1000000, 'unixepoch')
        || printf('.%06dZ', s.ended_us % 1000000) AS ended
    FROM visits s JOIN runs b ON b.id = s.observer JOIN addresses m ON m.id = s.mailbox
    JOIN extents e ON e.id = s.extent JOIN ways w ON w.id = s.way
    JOIN addresses v ON v.id = s.server;
)sql";

// What notifications of failure say that came back.
constexpr const char* tables_of_4 = R"sql(
CREATE TABLE actions(id INTEGER PRIMARY KEY, action TEXT);
CREATE TABLE returned(number INTEGER PRIMARY KEY, observer INTEGER NOT NULL, run INTEGER NOT NULL,
    session INTEGER NOT NULL, sequence INTEGER NOT NULL, recipient INTEGER NOT NULL,
    mailbox INTEGER NOT NULL, action INTEGER NOT NULL, status TEXT, detail TEXT,
    way INTEGER NOT NULL, time_us INTEGER NOT NULL);
CREATE VIEW returned_messages AS SELECT s.number, b.run AS observer, r.run, s.session, s.sequence,
    t.address AS recipient, m.address AS mailbox, a.action, s.status, s.detail, w.way,
    strftime('%Y-%m-%dT%H:%M:%S', s.time_us / 1000000, 'unixepoch')
        || printf('.%06dZ', s.time_us % 1000000) AS time
    FROM returned s JOIN runs b ON b.id = s.observer JOIN runs r ON r.id = s.run
    JOIN addresses t ON t.id = s.recipient JOIN addresses m ON m.id = s.mailbox
    JOIN actions a ON a.id = s.action JOIN ways w ON w.id = s.way;
)sql";

// What a ledger of schema 5 lacks, beside it, where its own names would be.
constexpr const char* beside_5 = R"sql(
CREATE TEMP VIEW seen AS SELECT *, NULL AS announced_us, NULL AS notice, NULL AS watcher,
    NULL AS arrived_us FROM main.seen;
CREATE TEMP VIEW seen_messages AS SELECT *, NULL AS announced, NULL AS notice, NULL AS watcher
    FROM main.seen_messages;
CREATE TEMP TABLE waits(number INTEGER PRIMARY KEY, observer, session, mailbox, way, server,
    waiting, opened_us, began_us, ended_us);
CREATE TEMP VIEW mailbox_waits AS SELECT *, opened_us AS opened, began_us AS began,
    ended_us AS ended FROM waits;
)sql";
// What one of schema 4 lacks, too.
constexpr const char* beside_4 = R"sql(
CREATE TEMP VIEW sent AS SELECT *, NULL AS octets FROM main.sent;
CREATE TEMP VIEW sent_messages AS SELECT *, NULL AS octets FROM main.sent_messages;
)sql";
// What one of schema 3 lacks, too.
constexpr const char* beside_3 = R"sql(
CREATE TEMP TABLE returned(number INTEGER PRIMARY KEY, observer, run, session, sequence, recipient,
    mailbox, action, status, detail, way, time_us);
CREATE TEMP VIEW returned_messages AS SELECT *, time_us AS time FROM returned;
)sql";

// What one of schema 2 lacks, too.
constexpr const char* beside_2 = R"sql(
CREATE TEMP TABLE visits(number INTEGER PRIMARY KEY, observer, mailbox, way, server, extent,
    began_us, ended_us, messages, looked_at, reason);
CREATE TEMP TABLE removed(number INTEGER PRIMARY KEY, observer, run, session, sequence, mailbox,
    way, server, uid_validity, uid, time_us);
CREATE TEMP VIEW runs AS SELECT *, NULL AS notes_visits FROM main.runs;
)sql";

template <class Enumeration>
void append_names(std::string& sql, const char* table, std::uint8_t count) {
    for (std::uint8_t each = 0; each < count; ++each) {
        fmt::format_to(std::back_inserter(sql), "INSERT INTO {} VALUES({}, '{}');", table, each,
                       to_text(static_cast<Enumeration>(each)));
    }
}

}  // namespace

std::string tables_of(std::int64_t version) {
    const std::string shared = std::string(shared_tables) + (version < 6 ? seen_of_2 : seen_of_6) +
                               (version < 5 ? sent_of_2 : sent_of_5);
    if (version == 2) return runs_of_2 + shared;
    const bool old = version == 3;
    return runs_of_3 + shared + extents_of_3 + (old ? visits_of_3 : visits_of_4) + tables_of_3 +
           (old ? "" : tables_of_4) + (version < 6 ? "" : waits_of_6);
}

std::string tables_beside(std::int64_t version) {
    std::string sql = std::string("PRAGMA temp_store = FILE;") + beside_5;
    if (version <= 4) sql += beside_4;
    if (version <= 3) sql += beside_3;
    if (version == 2) sql += beside_2;
    return sql;
}

std::string whole_schema() {
    std::string sql = tables_of(schema_version);
    append_names<outcome>(sql, "outcomes", 5);
    append_names<condition>(sql, "conditions", condition_count);
    append_names<way>(sql, "ways", 4);
    append_names<extent>(sql, "extents", extent_count);
    append_names<action>(sql, "actions", action_count);
    append_names<notice>(sql, "notices", notice_count);
    append_names<waiting>(sql, "waitings", waiting_count);
    sql += fmt::format(
        "INSERT INTO meta VALUES('schema', 'postal-ledger/{0}'), ('version', '{1}');"
        "PRAGMA application_id = {2}; PRAGMA user_version = {0};",
        schema_version, base::build_version, application_id);
    return sql;
}

}  // namespace postal::ledger
