// The one thread that writes a run's rows into its ledger.
//
// Flow:
//   auto book = writer::open(path, run);          refuses with one line what cannot be written to
//   page mine(*book);  mine.add(row)...           in each worker; see page.hpp
//   if (!book->keeps_up()) ...                    start nothing new for a while
//   book->close();                                when no page has rows any more
//
// Rows wait in memory and go to the file twice a second, or sooner when many wait, in one
// transaction each, so that a killed run loses less than its last second and several programs can
// write to one file in turn. No row is ever dropped: when the disk is slower than the run,
// keeps_up() is false until the backlog is half gone, and whoever starts messages waits meanwhile.
// Another program's lock is waited for. A failure (disk full) is kept: failure() tells it, rows
// that come after it are discarded, and the run is to end as a failed one.
//
// Limits: addresses stay in memory, about 150 octets for each different one. After a power cut (not
// a kill) what the kernel had not written yet is missing; the file stays sound.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "ledger/rows.hpp"

namespace postal::ledger {

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
    // ask their page, which remembers.
    [[nodiscard]] address_id address(std::string_view text);

    // False while too many rows wait to be written.
    [[nodiscard]] bool keeps_up() const noexcept {
        return keeps_up_.load(std::memory_order_relaxed);
    }
    [[nodiscard]] std::uint64_t backlog() const noexcept {
        return backlog_.load(std::memory_order_relaxed);
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

    // ---- at the end, when no page has rows any more ----

    // Writes what is left and ends the thread; says what has failed, now or before.
    base::expected<void> close();

    [[nodiscard]] std::uint64_t rows_written() const noexcept;
    [[nodiscard]] std::chrono::nanoseconds cpu_time() const noexcept;  // of the thread

    // For page.
    std::unique_ptr<block> exchange(std::unique_ptr<block> full);

  private:
    struct inside;  // the queue, the dictionary, the database and the thread

    explicit writer(std::unique_ptr<inside> all);
    void work();
    void write_batch();
    void fail(const std::string& why);
    void settle(std::uint64_t rows_gone);

    std::unique_ptr<inside> inside_;
    std::atomic<bool> keeps_up_{true};
    std::atomic<bool> failed_{false};
    std::atomic<std::uint64_t> backlog_{0};
    std::atomic<std::uint64_t> times_behind_{0};
};

}  // namespace postal::ledger
