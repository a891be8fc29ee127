// SPDX-License-Identifier: GPL-3.0-or-later
#include "ledger/schema.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <filesystem>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <fcntl.h>
#include <unistd.h>

#include <fmt/format.h>

#include "base/file_descriptor.hpp"
#include "base/text.hpp"
#include "base/write_file.hpp"
#include "ledger/schema_tables.hpp"

namespace postal::ledger {

namespace {

using base::expected;
namespace fs = std::filesystem;

constexpr auto patience = std::chrono::seconds(5);  // with others' locks, while opening
constexpr int patience_ms = 5000;

constexpr std::size_t most_definitions = 100;  // there are fewer in a ledger

// An index over plain columns, which somebody has made to ask faster, computes nothing.
bool is_plain_index(std::string_view type, std::string_view sql) {
    const std::size_t open = sql.find('(');
    if (type != "index" || open == sql.npos || !sql.ends_with(')')) return false;
    const std::string_view columns = sql.substr(open + 1, sql.size() - open - 2);
    return std::all_of(columns.begin(), columns.end(), [](char c) {
        const char low = base::ascii_lower(c);
        return (low >= 'a' && low <= 'z') || c == '_' || c == ',' || c == ' ';
    });
}

// All that the file defines but for plain indexes, as lines; the same for every ledger.
expected<std::vector<std::string>> definitions(database& file) {
    auto ask =
        file.prepare("SELECT type, name, tbl_name, sql FROM sqlite_schema ORDER BY type, name");
    if (!ask) return ask.error();
    std::vector<std::string> all;
    int step = SQLITE_ROW;
    while (all.size() < most_definitions && (step = ask->step()) == SQLITE_ROW) {
        if (is_plain_index(ask->text(0), ask->text(3))) continue;
        all.push_back(
            fmt::format("{} {} of {}: {}", ask->text(0), ask->text(1), ask->text(2), ask->text(3)));
    }
    if (step != SQLITE_ROW && step != SQLITE_DONE) return file.failure(step);
    return all;
}

// A view in a table's place could be without an end, a trigger would run with each row.
expected<void> compare_schema(database& file, std::int64_t version) {
    auto ours = database::open("", SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE);
    if (!ours) return ours.error();
    const int made = ours->execute(tables_of(version));
    if (made != SQLITE_OK) return ours->failure(made);
    const auto wanted = definitions(*ours);
    if (!wanted) return wanted.error();
    const auto found = definitions(file);
    if (!found) return found.error();
    if (*found == *wanted) return {};
    for (const std::string& one : *found) {
        if (std::find(wanted->begin(), wanted->end(), one) != wanted->end()) continue;
        return base::fail("{}: is no ledger as programs of this version make them: it has {}",
                          file.path(), base::printable(one, 120));
    }
    return base::fail("{}: is no ledger as programs of this version make them: tables are missing",
                      file.path());
}

constexpr std::int64_t empty = 0;

// The version of its schema, or that it is empty.
expected<std::int64_t> judge_once(database& file) {
    const auto id = file.number("PRAGMA application_id");
    if (!id) return id.error();
    const auto version = file.number("PRAGMA user_version");
    if (!version) return version.error();
    if (*id == application_id && *version >= oldest_schema && *version <= schema_version) {
        const auto same = compare_schema(file, *version);
        if (!same) return same.error();
        return *version;
    }
    if (*id == application_id) {
        return base::fail(
            "{}: has schema {} of ledgers; this version knows schema {} and reads {} on",
            file.path(), *version, schema_version, oldest_schema);
    }
    const auto objects = file.number("SELECT count(*) FROM sqlite_schema");
    if (!objects) return objects.error();
    if (*id == 0 && *version == 0 && *objects == 0) return empty;
    return base::fail("{}: is a database, but no ledger", file.path());
}

// What the file is, as far as it is nothing that must be refused. Another program may be making it
// a ledger between two of the questions, in one step: then the second look is right.
expected<std::int64_t> judge(database& file) {
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
    if (now && *now == empty) result = file.execute(whole_schema());
    if (!now || result != SQLITE_OK) {
        const base::failure why = now ? file.failure(result) : now.error();
        file.execute("ROLLBACK");
        return why;
    }
    result = file.execute("COMMIT");
    if (result != SQLITE_OK) return file.failure(result);
    return {};
}

// SQLite resolves links by itself, and so would follow those of strangers in /tmp that the kernel
// does not (protected_symlinks, proc(5)).
expected<void> refuse_directories(const std::string& path) {
    std::error_code problem;
    if (fs::is_directory(path, problem)) return base::fail("{}: is a directory", path);
    if (problem && problem != std::errc::no_such_file_or_directory)
        return base::fail("{}: {}", path, base::system_message(problem.value()));
    return {};
}

expected<void> can_be_made(const std::string& path) {
    const int how = O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW;
    const base::file_descriptor made(::open(path.c_str(), how, 0644));
    if (made.is_open() || errno == ELOOP) return {};
    return base::fail("{}: {}", path, base::system_message(errno));
}

base::failure is_older(const std::string& path) {
    return base::fail(
        "{}: is of an older version, and can be read only; give another file, and read both as "
        "one with postal-report --ledger",
        path);
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

// The file, or as one that nobody writes to.
expected<database> open_once(const std::string& name, int flags) {
    auto file = database::open(name, SQLITE_OPEN_READONLY | flags);
    if (!file) return file.error();
    file->set_patience(patience_ms);
    const int distrusted = file->distrust();
    if (distrusted != SQLITE_OK) return file->failure(distrusted);
    file->limit_reading();
    return file;
}

// Where SQLite cannot make its helpers: on a read-only disk, say. Then nobody writes there, but
// what a log has must not be left out.
expected<database> open_unchanging(const std::string& path) {
    std::error_code none;
    const auto log = fs::file_size(path + "-wal", none);
    if (!none && log > 0) {
        return base::fail(
            "{0}: {0}-wal has a part of it, which can only be read where files can be made: copy "
            "both into such a folder",
            path);
    }
    return open_once(unchanging(path), SQLITE_OPEN_URI);
}

}  // namespace

expected<database> open_to_write(const std::string& path) {
    const auto file_at_most = refuse_directories(path);
    if (!file_at_most) return file_at_most.error();
    constexpr int to_write = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
    auto file = database::open(path, to_write);
    if (!file) {
        // SQLite tells why it could not open the file to read, which it tried at last.
        const auto able = can_be_made(path);
        if (!able) return able.error();
        file = database::open(path, to_write);
    }
    if (!file) return file.error();
    file->set_patience(patience_ms);
    const int distrusted = file->distrust();
    if (distrusted != SQLITE_OK) return file->failure(distrusted);
    const auto found = judge(*file);
    if (!found) return found.error();
    if (*found != empty && *found != schema_version) {
        return is_older(path);
    }
    if (file->read_only()) return file->failure(SQLITE_READONLY);
    const auto mode = execute_patiently(*file, "PRAGMA journal_mode = WAL");
    if (!mode) return mode.error();
    if (*found == empty) {
        const auto created = create(*file);
        if (!created) return created.error();
    }
    return file;
}

expected<void> check_to_write(const std::string& path) {
    const auto file_at_most = refuse_directories(path);
    if (!file_at_most) return file_at_most;
    std::error_code none;
    const bool is_new = !fs::exists(path, none) || fs::file_size(path, none) == 0;
    if (is_new) return base::check_writable(path);
    auto there = open_to_read(path);
    if (!there) return there.error();
    const auto version = there->number("PRAGMA user_version");
    if (!version) return version.error();
    if (*version != schema_version) return is_older(path);
    if (::access(path.c_str(), W_OK) != 0)
        return base::fail("{}: {}", path, base::system_message(errno));
    return {};
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
    auto file = open_once(path, 0);
    if (!file) return file.error();
    const int looked = file->execute("SELECT 1 FROM sqlite_schema LIMIT 1");
    const bool helpless =
        (looked & 0xff) == SQLITE_CANTOPEN ||
        ((looked & 0xff) == SQLITE_READONLY && looked != SQLITE_READONLY_ROLLBACK);
    if (looked == SQLITE_READONLY_ROLLBACK) return file->failure(looked);
    if (helpless) file = open_unchanging(path);
    if (!file) return file.error();
    const auto found = judge(*file);
    if (!found) return found.error();
    if (*found == empty) return base::fail("{}: is empty, and no ledger", path);
    if (*found != schema_version) {
        const int result = file->execute(tables_beside(*found));
        if (result != SQLITE_OK) return file->failure(result);
    }
    return file;
}

}  // namespace postal::ledger
