// SPDX-License-Identifier: GPL-3.0-or-later
// The one thread that writes a run's rows into its ledger.
//
// Flow:
//   auto book = writer::open(path, run);          refuses with one line what cannot be written to
//   row_buffer mine(*book);  mine.add(row)...     in each worker; see row_buffer.hpp
//   if (!book->keeps_up()) ...                    start nothing new for a while
//   book->close();                                when no row buffer has rows any more
//
// Rows wait in memory and go to the file some times a second, or sooner when many wait, in one
// transaction each, so that several programs can write to one file in turn. No row is ever dropped:
// when the disk is slower than the run, or another program has kept the file locked for half a
// second, keeps_up() is false until half of the backlog is gone, and whoever starts messages waits
// meanwhile. So a killed run loses the rows of one second at most, and of what was in hand when
// keeps_up() became false. A failure (disk full) is kept: failure() tells it, rows that come after
// it are discarded, and the run is to end as a failed one.
//
// With the rows goes the run's horizon: all that it did before that time of the wall clock is in
// the file. It moves at least once a second while the file can be written. close() notes the end of
// the run, unless something has failed; without that note nobody knows what the run did behind its
// horizon.
//
// Limits: addresses stay in memory, about 150 octets for each different one. A power cut (not a
// kill) takes what the kernel had not written yet, and may in rare cases damage the file.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "base/result.hpp"
#include "ledger/rows.hpp"

namespace postal::ledger {

class row_buffer;
class table_writer;
struct block;

class writer {
  public:
    // Creates the file if there is none; adds the run to it.
    static base::expected<std::unique_ptr<writer>> open(const std::string& path,
                                                        const run_entry& own);
    ~writer();  // closes, if that was not done
    writer(const writer&) = delete;
    writer& operator=(const writer&) = delete;

    // ---- from any thread; none of these waits for the disk ----

    // The number of an address, the same whatever its case. Not for each row: callers keep it, or
    // ask their row buffer, which remembers.
    [[nodiscard]] address_id address(std::string_view text);

    // False while too many rows wait to be written.
    [[nodiscard]] bool keeps_up() const noexcept {
        return keeps_up_.load(std::memory_order_relaxed);
    }
    // How often keeps_up() has become false so far.
    [[nodiscard]] std::uint64_t times_behind() const noexcept {
        return times_behind_.load(std::memory_order_relaxed);
    }
    [[nodiscard]] bool has_failed() const noexcept {
        return failed_.load(std::memory_order_acquire);
    }
    // One line; empty as long as nothing has failed.
    [[nodiscard]] std::string failure() const;

    // For row_buffer: takes a block with all rows that it has, and gives an empty one.
    [[nodiscard]] std::unique_ptr<block> hand_over(std::unique_ptr<block> rows,
                                                   const row_buffer& from);
    // That buffer will hand over rows; the horizon waits for it.
    void know(const row_buffer& which);
    // It will hand over no more than these. Where there is no memory for them the run has failed.
    void forget(const row_buffer& which, std::unique_ptr<block> last) noexcept;

    // ---- at the end, when no row buffer has rows any more ----

    // Writes what is left and ends the thread; says what has failed, now or before.
    base::expected<void> close();

    // Of its thread, as gettid(2) has it, from open() on.
    [[nodiscard]] pid_t thread() const noexcept {
        return thread_number_.load(std::memory_order_acquire);
    }
    [[nodiscard]] std::uint64_t rows_written() const noexcept {
        return rows_written_.load(std::memory_order_relaxed);
    }

  private:
    using blocks = std::vector<std::unique_ptr<block>>;
    struct queue;  // what row buffers and the thread share

    explicit writer(std::unique_ptr<table_writer> tables);
    void work();
    bool wait_for_rows(blocks& into);
    bool begin();
    void write(const blocks& rows);
    void end();
    bool done(int result);
    void fail(std::string why);
    void count_down(std::uint64_t rows);
    void give_back(blocks& rows);

    std::unique_ptr<table_writer> tables_;
    std::unique_ptr<queue> queue_;
    std::atomic<bool> keeps_up_{true};
    std::atomic<bool> failed_{false};
    std::atomic<std::uint64_t> times_behind_{0};
    std::atomic<std::uint64_t> rows_written_{0};
    // The thread's own: of the rows in hand, and of those in the file, in us since the epoch.
    std::uint64_t horizon_us_ = 0;
    std::uint64_t written_horizon_us_ = 0;
    std::atomic<pid_t> thread_number_{0};
    std::thread thread_;
};

}  // namespace postal::ledger
