// SPDX-License-Identifier: GPL-3.0-or-later
// Each table is read row by row and written again with the numbers that runs and addresses have in
// the whole; numbers of messages begin behind those of the file before.
#include "ledger/joined.hpp"

#include <array>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string_view>
#include <system_error>
#include <unordered_map>

#include "ledger/schema.hpp"
#include "ledger/schema_tables.hpp"

namespace postal::ledger {

namespace {

using base::expected;
namespace fs = std::filesystem;

// What a program has noted of a run counts more than that its messages were seen. Where one file's
// part has no end, all before its horizon is written.
constexpr std::string_view put_run = R"sql(
INSERT INTO runs(run, role, program, started, seed, argv, horizon_us, ended_us, notes_visits)
VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)
ON CONFLICT(run) DO UPDATE SET role = coalesce(role, excluded.role),
    program = coalesce(program, excluded.program),
    started = min(coalesce(started, excluded.started), coalesce(excluded.started, started)),
    seed = coalesce(seed, excluded.seed), argv = coalesce(argv, excluded.argv),
    horizon_us = CASE WHEN program IS NULL THEN excluded.horizon_us
        WHEN excluded.program IS NULL THEN horizon_us
        WHEN ended_us IS NULL AND excluded.ended_us IS NULL
            THEN min(horizon_us, excluded.horizon_us)
        WHEN ended_us IS NULL THEN horizon_us
        WHEN excluded.ended_us IS NULL THEN excluded.horizon_us
        ELSE max(horizon_us, excluded.horizon_us) END,
    ended_us = CASE WHEN program IS NULL THEN excluded.ended_us
        WHEN excluded.program IS NULL THEN ended_us
        WHEN ended_us IS NULL OR excluded.ended_us IS NULL THEN NULL
        ELSE max(ended_us, excluded.ended_us) END,
    notes_visits = coalesce(notes_visits, excluded.notes_visits)
RETURNING id)sql";
constexpr std::string_view put_address =
    "INSERT INTO addresses(address) VALUES(?1) "
    "ON CONFLICT(address) DO UPDATE SET address = excluded.address RETURNING id";

using numbers = std::unordered_map<std::int64_t, std::int64_t>;

enum class column : std::uint8_t { plain, message, run, address };

constexpr std::array sent_copied{column::message, column::run,     column::plain, column::plain,
                                 column::address, column::address, column::plain, column::plain,
                                 column::plain,   column::plain,   column::plain, column::plain};
constexpr std::array seen_copied{column::message, column::run,     column::run,   column::plain,
                                 column::plain,   column::address, column::plain, column::plain,
                                 column::address, column::plain,   column::plain, column::plain,
                                 column::plain,   column::plain,   column::plain, column::plain,
                                 column::plain,   column::plain,   column::plain};

constexpr std::array removed_columns{
    column::message, column::run,     column::run,   column::plain, column::plain, column::address,
    column::plain,   column::address, column::plain, column::plain, column::plain};
constexpr std::array returned_columns{
    column::message, column::run,   column::run,   column::plain, column::plain, column::address,
    column::address, column::plain, column::plain, column::plain, column::plain, column::plain};
constexpr std::array visit_columns{column::message, column::run,   column::address, column::plain,
                                   column::address, column::plain, column::plain,   column::plain,
                                   column::plain,   column::plain, column::plain};

constexpr std::array wait_columns{column::message, column::run,     column::plain, column::address,
                                  column::plain,   column::address, column::plain, column::plain,
                                  column::plain,   column::plain};

class joiner {
  public:
    explicit joiner(database& into) : into_(into) {}

    expected<void> add(database& from) {
        const int begun = from.execute("BEGIN");
        if (begun != SQLITE_OK) return from.failure(begun);
        runs_.clear();
        addresses_.clear();
        auto done = copy_names(from,
                               "SELECT id, run, role, program, started, seed, argv, horizon_us, "
                               "ended_us, notes_visits FROM runs",
                               put_run, 9, runs_);
        if (done)
            done =
                copy_names(from, "SELECT id, address FROM addresses", put_address, 1, addresses_);
        if (done) done = copy_rows(from, "sent", sent_copied);
        if (done) done = copy_rows(from, "seen", seen_copied);
        if (done) done = copy_rows(from, "removed", removed_columns);
        if (done) done = copy_rows(from, "returned", returned_columns);
        if (done) done = copy_rows(from, "waits", wait_columns, put_wait);
        if (done) done = copy_rows(from, "visits", visit_columns, put_visit);
        from.execute("COMMIT");
        return done;
    }

  private:
    // Rows of an id and `fields` more, whose ids in the whole are noted.
    expected<void> copy_names(database& from, std::string_view get, std::string_view put,
                              int fields, numbers& ids) {
        auto ask = from.prepare(get);
        if (!ask) return ask.error();
        auto write = into_.prepare(put);
        if (!write) return write.error();
        int step = SQLITE_ROW;
        while ((step = ask->step()) == SQLITE_ROW) {
            std::array<std::string, 9> texts;
            for (int i = 1; i <= fields; ++i)
                bind_as_it_is(*write, i, *ask, i, texts[static_cast<std::size_t>(i - 1)]);
            const int written = write->step();
            if (written != SQLITE_ROW) return not_added(from, written);
            ids[ask->number(0)] = write->number(0);
            write->reset();
        }
        if (step != SQLITE_DONE) return from.failure(step);
        return {};
    }

    // `put` writes a row of that table; without one each row is added as it is.
    template <std::size_t Columns>
    expected<void> copy_rows(database& from, const std::string& table,
                             const std::array<column, Columns>& columns,
                             std::string_view put = {}) {
        const auto before = into_.number("SELECT coalesce(max(number), 0) FROM " + table);
        if (!before) return before.error();
        auto ask = from.prepare("SELECT * FROM " + table + " ORDER BY number");
        if (!ask) return ask.error();
        std::string marks = "?1";
        for (std::size_t i = 2; i <= Columns; ++i)
            marks += ", ?" + std::to_string(i);
        const std::string add = "INSERT INTO " + table + " VALUES(" + marks + ")";
        auto write = into_.prepare(put.empty() ? std::string_view(add) : put);
        if (!write) return write.error();
        int step = SQLITE_ROW;
        while ((step = ask->step()) == SQLITE_ROW) {
            std::array<std::string, Columns> texts;
            for (std::size_t i = 0; i < Columns; ++i) {
                const int at = static_cast<int>(i);
                const auto mapped = number_in_whole(columns[i], *ask, at, *before);
                mapped ? write->bind(at + 1, *mapped)
                       : bind_as_it_is(*write, at + 1, *ask, at, texts[i]);
            }
            const int written = write->run();
            if (written != SQLITE_OK) return not_added(from, written);
        }
        if (step != SQLITE_DONE) return from.failure(step);
        return {};
    }

    // What no sound ledger would have had written is its own fault.
    base::failure not_added(const database& from, int written) const {
        if (written == SQLITE_INTERRUPT) return from.failure(written);
        if ((written & 0xff) == SQLITE_CONSTRAINT)
            return base::fail("{}: is damaged: it has one row twice", from.path());
        return into_.failure(written);
    }

    // Nothing for what is no reference, or refers to nothing.
    std::optional<std::int64_t> number_in_whole(column kind, const statement& row, int at,
                                                std::int64_t before) const {
        if (kind == column::plain || row.is_null(at)) return std::nullopt;
        if (kind == column::message) return before + row.number(at);
        const numbers& ids = kind == column::run ? runs_ : addresses_;
        const auto found = ids.find(row.number(at));
        return found == ids.end() ? std::int64_t{-1} : found->second;
    }

    // The text must outlive the statement's run.
    static void bind_as_it_is(statement& to, int which, const statement& from, int at,
                              std::string& text) {
        if (from.is_null(at)) return to.bind_null(which);
        if (from.is_number(at)) return to.bind(which, from.number(at));
        text = from.text(at);
        to.bind(which, std::string_view(text));
    }

    database& into_;
    numbers runs_;
    numbers addresses_;
};

expected<void> refuse_twins(const std::vector<std::string>& paths) {
    for (std::size_t i = 0; i < paths.size(); ++i) {
        for (std::size_t j = 0; j < i; ++j) {
            std::error_code ignored;
            if (fs::equivalent(paths[i], paths[j], ignored))
                return base::fail("{}: is given twice; name each ledger once", paths[i]);
        }
    }
    return {};
}

}  // namespace

expected<database> join(const std::vector<std::string>& paths) {
    const auto apart = refuse_twins(paths);
    if (!apart) return apart.error();
    auto whole = make_temporary();
    if (!whole) return whole.error();
    joiner into(*whole);
    const int begun = whole->execute("BEGIN");
    if (begun != SQLITE_OK) return whole->failure(begun);
    for (const std::string& path : paths) {
        auto one = open_to_read(path);
        if (!one) return one.error();
        const auto added = into.add(*one);
        if (!added) return added.error();
    }
    const int kept = whole->execute("COMMIT");
    if (kept != SQLITE_OK) return whole->failure(kept);
    return whole;
}

}  // namespace postal::ledger
