// SPDX-License-Identifier: GPL-3.0-or-later
// --samples: when each message was due, began and ended, and what became of it, as a line of CSV.
//
// Flow:
//   auto file = sample_file::open(path);              refuses with one line
//   sample_feed mine(*file, worker, on_change);  mine.add(sample)     in each worker
//   file->close();                                    when no feed is left
//
// A worker hands some thousands over at once, and what it has every tenth of a second. A thread of
// the file's own makes the text, compresses it where the name ends in ".gz", and writes. No sample
// is dropped: when half a million wait, feeds say so until half of them are written, and whoever
// starts messages waits meanwhile. After a failure (disk full) what comes is discarded, and close()
// tells it.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "base/result.hpp"
#include "cli/options.hpp"
#include "ledger/rows.hpp"
#include "load/worker.hpp"

namespace postal::sender {

// One message that was started: over SMTP a transaction, over LMTP a recipient of one.
struct message_sample {
    std::chrono::nanoseconds ended{};  // since the start of the run
    std::uint64_t session = 0;
    std::uint64_t sequence = 0;
    std::uint64_t octets = 0;
    ledger::outcome what = ledger::outcome::accepted;
    std::uint16_t code = 0;           // of the reply that said so; 0: there was none
    std::chrono::nanoseconds late{};  // its first command, behind the time when it was due
    std::chrono::nanoseconds took{};  // from its first command to its end
    // As the phases have them; of those that were accepted alone.
    std::chrono::nanoseconds envelope{};
    std::chrono::nanoseconds data{};
};

// The line, with its line feed.
void append_line(std::string& to, const message_sample& one);
inline constexpr std::string_view samples_header =
    "t_s,session,sequence,outcome,code,octets,late_us,envelope_us,data_us,service_us,message_us\n";

cli::option samples_option(std::string& file);

class sample_file {
  public:
    // Replaces what is there. Fails with the system's reason.
    static base::expected<std::unique_ptr<sample_file>> open(const std::string& path);
    ~sample_file();  // closes, if that was not done

    // From any thread: takes these, and gives empty ones with the same room.
    [[nodiscard]] std::vector<message_sample> hand_over(std::vector<message_sample> full);
    [[nodiscard]] bool keeps_up() const noexcept {
        return keeps_up_.load(std::memory_order_relaxed);
    }
    // Whether it ever did not.
    [[nodiscard]] bool fell_behind() const noexcept { return fell_behind_; }

    // Writes what is left; says what has failed, now or before.
    base::expected<void> close();

  private:
    class stream;
    using blocks = std::vector<std::vector<message_sample>>;

    explicit sample_file(std::unique_ptr<stream> out);
    void work();
    bool wait_for_samples(blocks& into);
    void write(const blocks& samples);
    void give_back(blocks& samples);

    std::unique_ptr<stream> out_;
    std::optional<std::string> failure_;  // the thread's own, until it has ended
    std::atomic<bool> keeps_up_{true};
    std::atomic<bool> fell_behind_{false};
    std::mutex mutex_;  // guards what follows
    std::condition_variable changed_;
    blocks waiting_;
    blocks spare_;
    std::size_t samples_ = 0;  // that wait, or are being written
    bool closing_ = false;
    std::thread thread_;
};

// One worker's own.
class sample_feed final : public load::watched {
  public:
    // `on_change` hears when the file falls behind (false) and when it has caught up (true).
    sample_feed(sample_file& into, load::worker& own, std::function<void(bool)> on_change);
    ~sample_feed() { flush(); }
    sample_feed(const sample_feed&) = delete;
    sample_feed& operator=(const sample_feed&) = delete;

    load::steady_time start() const noexcept { return own_.start(); }
    void add(const message_sample& one) {
        held_.push_back(one);
        if (held_.size() >= full) flush();
    }

    void on_deadline() override;
    void on_stop(load::stop_kind) override {}

  private:
    friend class sample_file;
    static constexpr std::size_t full = 4096;
    void flush();

    sample_file& file_;
    load::worker& own_;
    std::function<void(bool)> on_change_;
    std::vector<message_sample> held_;
    bool kept_up_ = true;
};

}  // namespace postal::sender
