// SPDX-License-Identifier: GPL-3.0-or-later
#include "testbed/stall_watch.hpp"

#include "base/read_file.hpp"
#include "base/text.hpp"
#include "base/units.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <condition_variable>
#include <filesystem>
#include <mutex>

namespace postal::testbed {
namespace {

using namespace std::chrono_literals;

constexpr std::chrono::nanoseconds between_stall_looks = 500ms;

}  // namespace

std::optional<device_progress> parse_device_stat(std::string_view text) {
    // Reads, their merges, sectors, time; the same of writes; in flight, two times; the same four
    // of discards (4.18); flushes and their time (5.5).
    std::array<std::uint64_t, 17> fields{};
    std::size_t count = 0;
    while (count < fields.size()) {
        text.remove_prefix(std::min(text.find_first_not_of(" \n"), text.size()));
        if (text.empty()) break;
        const auto [end, wrong] =
            std::from_chars(text.data(), text.data() + text.size(), fields[count]);
        if (wrong != std::errc{}) return std::nullopt;
        text.remove_prefix(static_cast<std::size_t>(end - text.data()));
        ++count;
    }
    if (count < 11) return std::nullopt;
    return device_progress{.done = fields[0] + fields[4] + fields[11] + fields[15],
                           .in_flight = fields[8]};
}

void stall_watch::start(const std::string& device, std::chrono::nanoseconds limit,
                        std::function<void()> on_stall) {
    const std::string path =
        "/sys/block/" + std::filesystem::path(device).filename().string() + "/stat";
    const auto looks =
        static_cast<std::uint64_t>(std::max<std::int64_t>(limit / between_stall_looks, 1));
    thread_ = std::jthread([this, path, looks, act = std::move(on_stall)](
                               const std::stop_token& ended) { watch(ended, path, looks, act); });
}

void stall_watch::stop() {
    if (!thread_.joinable()) return;
    thread_.request_stop();
    thread_.join();
}

void stall_watch::watch(const std::stop_token& ended, const std::string& path,
                        std::uint64_t most_looks, const std::function<void()>& on_stall) {
    std::mutex mutex;
    std::condition_variable_any never;
    device_progress last;
    std::uint64_t without_progress = 0;
    std::unique_lock lock(mutex);
    while (!never.wait_for(lock, ended, between_stall_looks, [] { return false; })) {
        if (ended.stop_requested()) return;
        const auto text = base::read_file(path);
        const auto now = text ? parse_device_stat(*text) : std::nullopt;
        if (!now) continue;
        const bool stuck = now->in_flight > 0 && now->done == last.done;
        without_progress = stuck ? without_progress + 1 : 0;
        last = *now;
        if (without_progress < most_looks) continue;
        stalled_ = true;
        on_stall();
        return;
    }
}

}  // namespace postal::testbed
