// SPDX-License-Identifier: GPL-3.0-or-later
#include "ledger/own_files.hpp"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <new>
#include <string>

#include <sqlite3.h>
#include <sys/stat.h>

namespace postal::ledger {

namespace {

sqlite3_vfs* usual() noexcept {
    return sqlite3_vfs_find(nullptr);
}

// ---- temporary files: the usual ones, whose octets are counted ----

std::atomic<std::int64_t> temporary_left = std::int64_t{64} << 20U;

// The usual file lies behind it, at a multiple of 8 as SQLite has its files.
struct counted_file : sqlite3_file {
    std::int64_t size = 0;

    sqlite3_file* usual_file() noexcept { return reinterpret_cast<sqlite3_file*>(this + 1); }

    // False when there is no room for so many.
    bool resize(std::int64_t octets) noexcept {
        const std::int64_t more = octets - size;
        if (temporary_left.fetch_sub(more) < more && more > 0) {
            temporary_left += more;
            return false;
        }
        size = octets;
        return true;
    }
};

static_assert(sizeof(counted_file) % 8 == 0);

counted_file* counted(sqlite3_file* file) noexcept {
    return static_cast<counted_file*>(file);
}

int close_counted(sqlite3_file* file) noexcept {
    counted(file)->resize(0);
    sqlite3_file* const inner = counted(file)->usual_file();
    return inner->pMethods->xClose(inner);
}

// What a query that has no end is told, too (database::limit_reading()).
int write_counted(sqlite3_file* file, const void* octets, int count, sqlite3_int64 place) noexcept {
    const std::int64_t end = place + count;
    if (end > counted(file)->size && !counted(file)->resize(end)) return SQLITE_INTERRUPT;
    sqlite3_file* const inner = counted(file)->usual_file();
    return inner->pMethods->xWrite(inner, octets, count, place);
}

int truncate_counted(sqlite3_file* file, sqlite3_int64 size) noexcept {
    if (size < counted(file)->size) counted(file)->resize(size);
    sqlite3_file* const inner = counted(file)->usual_file();
    return inner->pMethods->xTruncate(inner, size);
}

// What changes nothing in the count is the usual file's.
template <auto Method, class... Args>
int handed_on(sqlite3_file* file, Args... args) noexcept {
    sqlite3_file* const inner = counted(file)->usual_file();
    return (inner->pMethods->*Method)(inner, args...);
}

// Of the first version: neither shared nor mapped.
using methods = sqlite3_io_methods;
constexpr methods counting{1,
                           close_counted,
                           handed_on<&methods::xRead>,
                           write_counted,
                           truncate_counted,
                           handed_on<&methods::xSync>,
                           handed_on<&methods::xFileSize>,
                           handed_on<&methods::xLock>,
                           handed_on<&methods::xUnlock>,
                           handed_on<&methods::xCheckReservedLock>,
                           handed_on<&methods::xFileControl>,
                           handed_on<&methods::xSectorSize>,
                           handed_on<&methods::xDeviceCharacteristics>,
                           nullptr,
                           nullptr,
                           nullptr,
                           nullptr,
                           nullptr,
                           nullptr};

int open_counted(const char* name, sqlite3_file* file, int flags, int* got) {
    auto* const made = new (file) counted_file{};
    const int opened = usual()->xOpen(usual(), name, made->usual_file(), flags, got);
    if (opened == SQLITE_OK) made->pMethods = &counting;
    return opened;
}

// ---- which files are opened ----

template <int Refused>
int open_unless(sqlite3_vfs*, const char* name, sqlite3_file* file, int flags, int* got) {
    file->pMethods = nullptr;
    if ((flags & Refused) != 0) return SQLITE_CANTOPEN;
    if ((flags & SQLITE_OPEN_DELETEONCLOSE) != 0) return open_counted(name, file, flags, got);
    return usual()->xOpen(usual(), name, file, flags, got);
}

// The usual one's, but for opening; registered for good.
template <int Refused>
struct restricted {
    explicit restricted(const char* name) noexcept {
        if (usual() == nullptr) return;
        vfs = *usual();
        vfs.zName = name;
        vfs.pNext = nullptr;
        vfs.szOsFile += static_cast<int>(sizeof(counted_file));
        vfs.xOpen = open_unless<Refused>;
        registered = sqlite3_vfs_register(&vfs, 0) == SQLITE_OK;
    }

    sqlite3_vfs vfs{};
    bool registered = false;
};

}  // namespace

const char* files_for_writers() noexcept {
    static restricted<SQLITE_OPEN_SUPER_JOURNAL> one("postal-writers");
    return one.registered ? one.vfs.zName : nullptr;
}

const char* files_for_readers() noexcept {
    static restricted<SQLITE_OPEN_SUPER_JOURNAL | SQLITE_OPEN_MAIN_JOURNAL> one("postal-readers");
    return one.registered ? one.vfs.zName : nullptr;
}

void allow_temporary(std::uint64_t octets) noexcept {
    constexpr std::uint64_t most = std::uint64_t{1} << 50U;
    temporary_left += static_cast<std::int64_t>(std::min(octets, most));
}

void tidy_helpers(const char* path) noexcept {
    struct stat log {};
    try {
        if (lstat((std::string(path) + "-wal").c_str(), &log) != 0 || log.st_size != 0) return;
    } catch (const std::bad_alloc&) {
        return;
    }
    sqlite3* handle = nullptr;
    const int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX;
    // The last one who closes a database removes its helpers, if it may write.
    if (sqlite3_open_v2(path, &handle, flags, files_for_readers()) == SQLITE_OK) {
        sqlite3_exec(handle, "SELECT 1 FROM sqlite_schema LIMIT 1", nullptr, nullptr, nullptr);
    }
    sqlite3_close(handle);
}

}  // namespace postal::ledger
