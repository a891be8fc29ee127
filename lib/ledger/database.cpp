#include "ledger/database.hpp"

namespace postal::ledger {

std::string statement::text(int column) const {
    const auto* octets =
        reinterpret_cast<const char*>(sqlite3_column_text(made_.get(), column));  // octets of UTF-8
    const int size = sqlite3_column_bytes(made_.get(), column);
    return octets == nullptr ? std::string() : std::string(octets, static_cast<std::size_t>(size));
}

base::expected<database> database::open(const std::string& path, int flags) {
    sqlite3* handle = nullptr;
    // One thread at a time uses it, so that SQLite need not lock for every call.
    const int result = sqlite3_open_v2(path.c_str(), &handle, flags | SQLITE_OPEN_NOMUTEX, nullptr);
    database opened(path, handle);
    if (result != SQLITE_OK) return opened.failure(result);
    sqlite3_extended_result_codes(handle, 1);
    return opened;
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

int database::checkpoint(int mode) noexcept {
    int pages = -1;
    sqlite3_wal_checkpoint_v2(handle_.get(), "main", mode, &pages, nullptr);
    return pages;
}

base::failure database::failure(int result) const {
    switch (result & 0xff) {
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
        default:
            break;
    }
    const int system = sqlite3_system_errno(handle_.get());
    if (system != 0) return base::fail("{}: {}", path_, base::system_message(system));
    return base::fail("{}: {}", path_, sqlite3_errmsg(handle_.get()));
}

}  // namespace postal::ledger
