// SPDX-License-Identifier: GPL-3.0-or-later
// SQLite's C calls as two small owners: a database and a statement.
//
// A failed call gives SQLite's result code back, or a failure that names the file; nothing throws.
// One thread at a time. https://sqlite.org/c3ref/intro.html
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>

#include <sqlite3.h>

#include "base/result.hpp"

namespace postal::ledger {

class statement {
  public:
    statement() = default;
    explicit statement(sqlite3_stmt* made) noexcept : made_(made) {}

    // Parameters count from 1. A text must stay where it is until the statement has run.
    void bind(int which, std::int64_t value) noexcept {
        sqlite3_bind_int64(made_.get(), which, value);
    }
    void bind(int which, std::uint64_t value) noexcept {
        bind(which, static_cast<std::int64_t>(value));
    }
    void bind(int which, std::string_view text) noexcept {
        sqlite3_bind_text64(made_.get(), which, text.data(), text.size(), SQLITE_STATIC,
                            SQLITE_UTF8);
    }
    void bind_null(int which) noexcept { sqlite3_bind_null(made_.get(), which); }
    // All of them, in their order: numbers, enumerators, texts, null, and what may be null.
    template <class... Value>
    void bind_all(const Value&... values) noexcept {
        int which = 0;
        (put(++which, values), ...);
    }

    // SQLITE_ROW, SQLITE_DONE or what failed.
    int step() noexcept { return sqlite3_step(made_.get()); }
    // For one that gives no rows: runs it and makes it ready for the next.
    int run() noexcept {
        const int result = step();
        sqlite3_reset(made_.get());
        return result == SQLITE_DONE || result == SQLITE_ROW ? SQLITE_OK : result;
    }
    template <class... Value>
    int run_with(const Value&... values) noexcept {
        bind_all(values...);
        return run();
    }
    void reset() noexcept { sqlite3_reset(made_.get()); }

    // Columns count from 0.
    [[nodiscard]] std::int64_t number(int column) const noexcept {
        return sqlite3_column_int64(made_.get(), column);
    }
    [[nodiscard]] std::string text(int column) const;
    [[nodiscard]] bool is_number(int column) const noexcept {
        return sqlite3_column_type(made_.get(), column) == SQLITE_INTEGER;
    }
    [[nodiscard]] bool is_null(int column) const noexcept {
        return sqlite3_column_type(made_.get(), column) == SQLITE_NULL;
    }

  private:
    template <class Value>
    void put(int which, const Value& value) noexcept {
        if constexpr (std::is_same_v<Value, std::nullopt_t>)
            bind_null(which);
        else if constexpr (requires {
                               *value;
                               value.has_value();
                           })
            value.has_value() ? put(which, *value) : bind_null(which);
        else if constexpr (std::is_enum_v<Value> || std::is_integral_v<Value>)
            bind(which, static_cast<std::int64_t>(value));
        else
            bind(which, std::string_view(value));
    }

    struct finalize {
        void operator()(sqlite3_stmt* one) const noexcept { sqlite3_finalize(one); }
    };
    std::unique_ptr<sqlite3_stmt, finalize> made_;
};

class database {
  public:
    // `flags` as of sqlite3_open_v2. Only for reading, no rollback journal is looked at, and
    // helpers that had to be made are removed at the end.
    static base::expected<database> open(const std::string& path, int flags);

    // Before the first use of a file that somebody else may have made: its schema can run nothing
    // with effects, and its pages are checked as they are read.
    int distrust() noexcept;
    // From now on ends what takes far more steps, or larger temporary files, than any reading of a
    // sound ledger of this size.
    void limit_reading();

    [[nodiscard]] const std::string& path() const noexcept { return path_; }
    void set_patience(int milliseconds) noexcept {
        sqlite3_busy_timeout(handle_.get(), milliseconds);
    }
    // Several statements, without parameters and results; a result code.
    int execute(const std::string& sql) noexcept;
    base::expected<statement> prepare(std::string_view sql);
    // The first column of the first row, for pragmas and counts.
    base::expected<std::int64_t> number(std::string_view sql);

    // All of it as one file, with what the write-ahead log has. Fails where that is more than
    // `most` octets.
    base::expected<std::string> octets(std::uint64_t most);

    // How many pages the write-ahead log had then; -1 when that is not known. `mode` as of
    // sqlite3_wal_checkpoint_v2; one that fails may be tried again.
    int checkpoint(int mode) noexcept;

    // The line for what a call has just failed with.
    [[nodiscard]] base::failure failure(int result) const;
    [[nodiscard]] bool read_only() const noexcept {
        return sqlite3_db_readonly(handle_.get(), "main") == 1;
    }

  private:
    struct close {
        std::string tidied;  // empty: no helpers to remove
        void operator()(sqlite3* one) const noexcept;
    };
    struct step_limit {
        std::uint64_t left = 0;
    };
    database(std::string path, sqlite3* handle) : path_(std::move(path)), handle_(handle) {}
    void tidy_at_the_end();

    std::string path_;
    std::unique_ptr<step_limit> steps_;  // outlives the handle
    std::unique_ptr<sqlite3, close> handle_;
};

}  // namespace postal::ledger
