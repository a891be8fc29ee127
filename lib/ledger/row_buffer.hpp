// SPDX-License-Identifier: GPL-3.0-or-later
// A worker's own buffer of rows for a ledger: rows are added here, and handed to the writer some
// thousands at once.
//
// One thread's own. add() touches no lock but once every few thousand rows, and never waits for the
// disk. The worker calls flush_if_due() some ten times a second, also when nothing happens, so that
// no row is kept for longer than about 200 ms, and the writer hears up to when it has all rows. A
// row is to be added before anybody outside hears of what it says. The destructor hands over what
// is left; it must run before writer::close().
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "ledger/rows.hpp"
#include "ledger/writer.hpp"

namespace postal::ledger {

// Rows on their way from a row buffer to the file, in the order in which they came.
struct block {
    std::vector<sent_row> sent;
    std::vector<seen_row> seen;
    std::vector<removed_row> removed;
    std::vector<returned_row> returned;
    std::vector<wait_row> waits;    // behind all that was told in them
    std::vector<visit_row> visits;  // behind all that they saw

    [[nodiscard]] std::size_t size() const noexcept {
        return sent.size() + seen.size() + removed.size() + returned.size() + waits.size() +
               visits.size();
    }
    void clear() noexcept {
        sent.clear();
        seen.clear();
        removed.clear();
        returned.clear();
        waits.clear();
        visits.clear();
    }
};

class row_buffer {
  public:
    explicit row_buffer(writer& to);
    ~row_buffer();
    row_buffer(const row_buffer&) = delete;
    row_buffer& operator=(const row_buffer&) = delete;

    void add(const sent_row& row) {
        block_->sent.push_back(row);
        if (block_->sent.size() >= full) flush();
    }
    void add(seen_row row) {
        block_->seen.push_back(std::move(row));
        if (block_->seen.size() >= full) flush();
    }
    void add(const removed_row& row) {
        block_->removed.push_back(row);
        if (block_->removed.size() >= full) flush();
    }
    void add(returned_row row) {
        block_->returned.push_back(std::move(row));
        if (block_->returned.size() >= full) flush();
    }
    void add(const wait_row& row) {
        block_->waits.push_back(row);
        if (block_->waits.size() >= full) flush();
    }
    void add(visit_row row) {
        block_->visits.push_back(std::move(row));
        if (block_->visits.size() >= full) flush();
    }

    // As writer::address(), but asked for each row: the answers are remembered.
    [[nodiscard]] address_id address(std::string_view text);

    void flush_if_due(std::chrono::steady_clock::time_point now);
    void flush();

    [[nodiscard]] bool keeps_up() const noexcept { return writer_->keeps_up(); }

  private:
    static constexpr std::size_t full = 4096;
    static constexpr auto longest_kept = std::chrono::milliseconds(100);

    struct text_hash {
        using is_transparent = void;
        std::size_t operator()(std::string_view text) const noexcept {
            return std::hash<std::string_view>{}(text);
        }
    };

    writer* writer_;
    std::unique_ptr<block> block_;
    std::chrono::steady_clock::time_point flushed_{};
    std::unordered_map<std::string, address_id, text_hash, std::equal_to<>> known_;
};

}  // namespace postal::ledger
