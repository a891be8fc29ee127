// SPDX-License-Identifier: GPL-3.0-or-later
#include "ledger/database.hpp"

#include <cerrno>

#include <sys/stat.h>
#include <unistd.h>

#include "ledger/own_files.hpp"

namespace postal::ledger {

namespace {

constexpr int steps_at_once = 100'000;
// Reading a row takes some 40 steps of SQLite's machine, and a row has 20 octets or more. A file
// whose pages lead round in circles would be read, and sorted into temporary files, without an end.
constexpr std::uint64_t steps_an_octet = 50;
constexpr std::uint64_t steps_at_least = 10'000'000;
// Sorted, a row is written twice or three times, with all that is asked of it.
constexpr std::uint64_t temporary_an_octet = 8;
constexpr int longest_value = 16 * 1024 * 1024;  // a command line, at most

std::uint64_t octets_of(const char* file) noexcept {
    struct stat is {};
    return lstat(file, &is) == 0 ? static_cast<std::uint64_t>(is.st_size) : 0;
}

}  // namespace

std::string statement::text(int column) const {
    const auto* octets =
        reinterpret_cast<const char*>(sqlite3_column_text(made_.get(), column));  // octets of UTF-8
    const int size = sqlite3_column_bytes(made_.get(), column);
    return octets == nullptr ? std::string() : std::string(octets, static_cast<std::size_t>(size));
}

base::expected<database> database::open(const std::string& path, int flags) {
    sqlite3* handle = nullptr;
    // One thread at a time uses it, so that SQLite need not lock for every call.
    const bool reads = (flags & SQLITE_OPEN_READONLY) != 0;
    const char* files = reads ? files_for_readers() : files_for_writers();
    if (files == nullptr) return base::fail("{}: {}", path, base::system_message(ENOMEM));
    const int result = sqlite3_open_v2(path.c_str(), &handle, flags | SQLITE_OPEN_NOMUTEX, files);
    database opened(path.empty() ? "temporary file" : path, handle);
    if (result != SQLITE_OK) return opened.failure(result);
    sqlite3_extended_result_codes(handle, 1);
    if (reads) opened.tidy_at_the_end();
    return opened;
}

// SQLite makes the helpers only when the file is read.
void database::tidy_at_the_end() {
    const char* file = sqlite3_db_filename(handle_.get(), "main");
    struct stat log {};
    if (file == nullptr || *file == '\0') return;
    if (lstat(sqlite3_filename_wal(file), &log) != 0) handle_.get_deleter().tidied = file;
}

void database::close::operator()(sqlite3* one) const noexcept {
    sqlite3_close(one);
    if (!tidied.empty()) tidy_helpers(tidied.c_str());
}

int database::distrust() noexcept {
    sqlite3* const file = handle_.get();
    sqlite3_limit(file, SQLITE_LIMIT_LENGTH, longest_value);
    sqlite3_limit(file, SQLITE_LIMIT_ATTACHED, 0);
    for (const auto& [what, on] :
         {std::pair(SQLITE_DBCONFIG_DEFENSIVE, 1), std::pair(SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0),
          std::pair(SQLITE_DBCONFIG_ENABLE_TRIGGER, 0),
          std::pair(SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0)}) {
        const int result = sqlite3_db_config(file, what, on, nullptr);
        if (result != SQLITE_OK) return result;
    }
    return execute("PRAGMA cell_size_check = ON; PRAGMA mmap_size = 0");
}

void database::limit_reading() {
    const char* file = sqlite3_db_filename(handle_.get(), "main");
    if (file == nullptr || *file == '\0') return;  // one of our own, in a temporary file
    const std::uint64_t octets = octets_of(file) + octets_of(sqlite3_filename_wal(file));
    const std::uint64_t most = steps_at_least + octets * steps_an_octet;
    allow_temporary(octets * temporary_an_octet);
    if (steps_ == nullptr) steps_ = std::make_unique<step_limit>();
    steps_->left = most / steps_at_once + 1;
    const auto used_up = [](void* of) -> int {
        auto& limit = *static_cast<step_limit*>(of);
        if (limit.left == 0) return 1;
        --limit.left;
        return 0;
    };
    sqlite3_progress_handler(handle_.get(), steps_at_once, used_up, steps_.get());
}

int database::execute(const std::string& sql) noexcept {
    return sqlite3_exec(handle_.get(), sql.c_str(), nullptr, nullptr, nullptr);
}

base::expected<statement> database::prepare(std::string_view sql) {
    sqlite3_stmt* made = nullptr;
    const int result = sqlite3_prepare_v3(handle_.get(), sql.data(), static_cast<int>(sql.size()),
                                          SQLITE_PREPARE_PERSISTENT, &made, nullptr);
    statement owned(made);
    if (result != SQLITE_OK) return failure(result);
    return owned;
}

base::expected<std::int64_t> database::number(std::string_view sql) {
    auto asked = prepare(sql);
    if (!asked) return asked.error();
    const int result = asked->step();
    if (result != SQLITE_ROW) return failure(result);
    return asked->number(0);
}

base::expected<std::string> database::octets(std::uint64_t most) {
    const auto pages = number("PRAGMA page_count");
    if (!pages) return pages.error();
    const auto page = number("PRAGMA page_size");
    if (!page) return page.error();
    if (*pages < 0 || static_cast<std::uint64_t>(*pages) > most / static_cast<std::uint64_t>(*page))
        return base::fail("{}: is larger than {} octets", path_, most);
    sqlite3_int64 size = 0;
    const std::unique_ptr<unsigned char, decltype(&sqlite3_free)> made(
        sqlite3_serialize(handle_.get(), "main", &size, 0), &sqlite3_free);
    if (made == nullptr || size <= 0) return failure(SQLITE_NOMEM);
    if (static_cast<std::uint64_t>(size) > most)
        return base::fail("{}: is larger than {} octets", path_, most);
    return {boost::system::in_place_value, reinterpret_cast<const char*>(made.get()),
            static_cast<std::size_t>(size)};
}

int database::checkpoint(int mode) noexcept {
    int pages = -1;
    sqlite3_wal_checkpoint_v2(handle_.get(), "main", mode, &pages, nullptr);
    return pages;
}

base::failure database::failure(int result) const {
    if (result == SQLITE_READONLY_ROLLBACK) {
        return base::fail(
            "{0}: {0}-journal lies beside it, which is no file of a ledger's; move it away", path_);
    }
    switch (result & 0xff) {
        case SQLITE_INTERRUPT:
            return base::fail("{}: is damaged: there is no end to what is in it", path_);
        case SQLITE_TOOBIG:
            return base::fail("{}: is damaged: a value is larger than any of a ledger's", path_);
        case SQLITE_BUSY:
        case SQLITE_LOCKED:
            return base::fail("{}: is locked by another program", path_);
        case SQLITE_NOTADB:
            return base::fail("{}: is no ledger", path_);
        case SQLITE_CORRUPT:
            return base::fail("{}: is damaged: {}", path_, sqlite3_errmsg(handle_.get()));
        case SQLITE_READONLY:
            return base::fail("{}: is read-only", path_);
        case SQLITE_FULL:
            return base::fail("{}: cannot be written: No space left on device", path_);
        case SQLITE_NOMEM:
            return base::fail("{}: {}", path_, base::system_message(ENOMEM));
        case SQLITE_IOERR:
            if (result == SQLITE_IOERR_NOMEM || sqlite3_system_errno(handle_.get()) == 0)
                return base::fail(
                    "{}: {}", path_,
                    base::system_message(result == SQLITE_IOERR_NOMEM ? ENOMEM : EIO));
            break;
        default:
            break;
    }
    const int system = sqlite3_system_errno(handle_.get());
    if (system == ENOENT && ::access(path_.c_str(), F_OK) == 0) {
        // A journal that could not be made was then looked for, to read it.
        return base::fail("{}: a file beside it cannot be made: {}", path_,
                          base::system_message(EIO));
    }
    if (system != 0) return base::fail("{}: {}", path_, base::system_message(system));
    return base::fail("{}: {}", path_, sqlite3_errmsg(handle_.get()));
}

}  // namespace postal::ledger
