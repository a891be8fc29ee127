// SPDX-License-Identifier: GPL-3.0-or-later
// Notices a block device that has something to do and does nothing.
//
// A thread of its own looks at /sys/block/DEVICE/stat twice a second, since whoever uses such a
// device may be stuck in the kernel. Stalled is what was seen with requests under way and without
// progress in so many looks as fit into `limit`; a machine that slept has not been looked at.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>

namespace postal::testbed {

// Of /sys/block/DEVICE/stat (Documentation/block/stat.rst).
struct device_progress {
    std::uint64_t done = 0;  // requests that came to their end, of all kinds
    std::uint64_t in_flight = 0;
    bool operator==(const device_progress&) const = default;
};

// None where the text is not of that form.
[[nodiscard]] std::optional<device_progress> parse_device_stat(std::string_view text);

class stall_watch {
  public:
    stall_watch() = default;
    ~stall_watch() { stop(); }
    stall_watch(const stall_watch&) = delete;
    stall_watch& operator=(const stall_watch&) = delete;

    // Once. `on_stall` is called in the watch's own thread, at most once.
    void start(const std::string& device, std::chrono::nanoseconds limit,
               std::function<void()> on_stall);
    void stop();

    [[nodiscard]] bool has_stalled() const noexcept { return stalled_; }

  private:
    void watch(const std::stop_token& ended, const std::string& path, std::uint64_t most_looks,
               const std::function<void()>& on_stall);

    std::jthread thread_;
    std::atomic<bool> stalled_{false};
};

}  // namespace postal::testbed
