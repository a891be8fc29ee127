// SPDX-License-Identifier: GPL-3.0-or-later
// Notes each millisecond how long a file that grows has become: which time a place in a log of
// writes belongs to.
//
// The clock is read before the length, so at the noted time the log was at most so long. Times are
// wall-clock microseconds since the epoch, as ledgers have them. Where that clock is set back, the
// notes of later times are set back with it, so that what is acknowledged after a place in the log
// is never taken for acknowledged before it.
//
// One note of 16 octets for each length that was seen, 64 MiB at most. Beyond, every second note is
// forgotten and from then on only every second look makes one, which makes times earlier, never
// later. How late a look was at most is kept.
#pragma once

#include "base/file_descriptor.hpp"
#include "base/result.hpp"

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace postal::audit {

// Microseconds since the epoch.
[[nodiscard]] std::int64_t wall_clock_us();

// The notes by themselves; one thread.
class length_notes {
  public:
    static constexpr std::size_t most_notes = std::size_t{1} << 22U;

    explicit length_notes(std::size_t most = most_notes) : most_(most) {}

    // Later looks come later; what has become shorter counts as if it had not.
    void add(std::int64_t time_us, std::uint64_t octets);
    // The last time at which at most so many octets were seen; none where there always were more.
    [[nodiscard]] std::optional<std::int64_t> last_time_at_most(std::uint64_t octets) const;
    [[nodiscard]] std::size_t size() const noexcept { return notes_.size(); }

  private:
    struct note {
        std::uint64_t octets = 0;
        std::int64_t time_us = 0;  // the last at which it had these
    };

    std::size_t most_;
    std::vector<note> notes_;    // both ascending
    std::uint64_t step_ = 1;     // looks at something longer for each note
    std::uint64_t unnoted_ = 0;  // such looks since the last one
};

class log_watch {
  public:
    log_watch() = default;
    ~log_watch() { stop(); }
    log_watch(const log_watch&) = delete;
    log_watch& operator=(const log_watch&) = delete;

    // Once. Fails with one line where the file cannot be opened or is no regular file. The first
    // look has been taken when it returns.
    [[nodiscard]] base::expected<void> start(const std::string& path);
    // Takes a last look. May be called again.
    void stop();

    // At any time.
    [[nodiscard]] std::optional<std::int64_t> last_time_at_most(std::uint64_t octets) const;
    // The longest time between two looks; 1 ms where none was late.
    [[nodiscard]] std::chrono::nanoseconds longest_gap() const;
    // Why lengths could not be read from some time on; 0, or errno.
    [[nodiscard]] int error() const;

  private:
    void look();
    void watch();

    base::file_descriptor file_;
    std::thread thread_;
    std::atomic<bool> ended_{false};

    mutable std::mutex mutex_;  // for all below
    length_notes notes_;
    std::optional<std::chrono::steady_clock::time_point> last_look_;
    std::chrono::nanoseconds longest_gap_{0};
    int error_ = 0;
};

}  // namespace postal::audit
