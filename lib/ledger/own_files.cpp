#include "ledger/own_files.hpp"

#include <new>
#include <string>

#include <sqlite3.h>
#include <sys/stat.h>

namespace postal::ledger {

namespace {

sqlite3_vfs* usual() noexcept {
    return sqlite3_vfs_find(nullptr);
}

template <int Refused>
int open_unless(sqlite3_vfs*, const char* name, sqlite3_file* file, int flags, int* got) {
    if ((flags & Refused) == 0) return usual()->xOpen(usual(), name, file, flags, got);
    file->pMethods = nullptr;
    return SQLITE_CANTOPEN;
}

// The usual one's, but for opening; registered for good.
template <int Refused>
struct restricted {
    explicit restricted(const char* name) noexcept {
        if (usual() == nullptr) return;
        vfs = *usual();
        vfs.zName = name;
        vfs.pNext = nullptr;
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
