// SPDX-License-Identifier: GPL-3.0-or-later
#include "postal-audit/log_watch.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <time.h>

#include <algorithm>
#include <cerrno>

namespace postal::audit {
namespace {

constexpr long between_looks_ns = 1'000'000;
constexpr long second_ns = 1'000'000'000;

timespec monotonic_now() {
    timespec now{};
    ::clock_gettime(CLOCK_MONOTONIC, &now);
    return now;
}

// A look that comes too late does not make the others come in a burst.
void advance(timespec& due) {
    due.tv_nsec += between_looks_ns;
    if (due.tv_nsec >= second_ns) {
        due.tv_nsec -= second_ns;
        ++due.tv_sec;
    }
    const timespec now = monotonic_now();
    const bool is_past =
        due.tv_sec < now.tv_sec || (due.tv_sec == now.tv_sec && due.tv_nsec < now.tv_nsec);
    if (is_past) due = now;
}

}  // namespace

std::int64_t wall_clock_us() {
    const auto since_epoch = std::chrono::system_clock::now().time_since_epoch();
    return std::chrono::duration_cast<std::chrono::microseconds>(since_epoch).count();
}

void length_notes::add(std::int64_t time_us, std::uint64_t octets) {
    for (auto later = notes_.rbegin(); later != notes_.rend() && later->time_us > time_us; ++later)
        later->time_us = time_us;
    if (!notes_.empty() && octets <= notes_.back().octets) {
        notes_.back().time_us = time_us;
        return;
    }
    if (++unnoted_ < step_) return;
    unnoted_ = 0;
    if (notes_.size() >= most_) {
        for (std::size_t i = 0; 2 * i < notes_.size(); ++i)
            notes_[i] = notes_[2 * i];
        notes_.resize((notes_.size() + 1) / 2);
        step_ *= 2;
    }
    notes_.push_back({octets, time_us});
}

std::optional<std::int64_t> length_notes::last_time_at_most(std::uint64_t octets) const {
    const auto above =
        std::upper_bound(notes_.begin(), notes_.end(), octets,
                         [](std::uint64_t most, const note& one) { return most < one.octets; });
    if (above == notes_.begin()) return std::nullopt;
    return std::prev(above)->time_us;
}

base::expected<void> log_watch::start(const std::string& path) {
    file_ = base::file_descriptor(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    struct stat status {};
    if (!file_.is_open() || ::fstat(file_.get(), &status) != 0)
        return base::fail("{}: {}", path, base::system_message(errno));
    if (!S_ISREG(status.st_mode))
        return base::fail("{}: only a regular file can be watched growing", path);
    look();
    thread_ = std::thread([this] { watch(); });
    return {};
}

void log_watch::stop() {
    if (!thread_.joinable()) return;
    ended_ = true;
    thread_.join();
    look();
}

void log_watch::look() {
    const auto steady = std::chrono::steady_clock::now();
    const std::int64_t time_us = wall_clock_us();
    struct stat status {};
    const bool known = ::fstat(file_.get(), &status) == 0;
    const int reason = known ? 0 : errno;
    const std::lock_guard lock(mutex_);
    if (last_look_) longest_gap_ = std::max(longest_gap_, steady - *last_look_);
    last_look_ = steady;
    if (known)
        notes_.add(time_us, static_cast<std::uint64_t>(status.st_size));
    else
        error_ = reason;
}

void log_watch::watch() {
    timespec due = monotonic_now();
    while (!ended_) {
        advance(due);
        while (::clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &due, nullptr) == EINTR) {
        }
        look();
    }
}

std::optional<std::int64_t> log_watch::last_time_at_most(std::uint64_t octets) const {
    const std::lock_guard lock(mutex_);
    return notes_.last_time_at_most(octets);
}

std::chrono::nanoseconds log_watch::longest_gap() const {
    const std::lock_guard lock(mutex_);
    return longest_gap_;
}

int log_watch::error() const {
    const std::lock_guard lock(mutex_);
    return error_;
}

}  // namespace postal::audit
