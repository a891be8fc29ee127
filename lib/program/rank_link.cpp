// SPDX-License-Identifier: GPL-3.0-or-later
#include "program/rank_link.hpp"

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <stop_token>
#include <thread>
#include <utility>

#include <unistd.h>

namespace postal::program {
namespace {

// For MPI to end at all ranks.
constexpr auto leave_patience = std::chrono::seconds(10);

}  // namespace

// Everything is written. A rank that dies now would keep those that leave together for ever.
void rank_link::close(bool together, cli::exit_status status) {
    if (std::exchange(left_, true)) return;
    std::jthread limit;
    if (together)
        limit = std::jthread([status](const std::stop_token& left) {
            std::mutex mutex;
            std::unique_lock lock(mutex);
            std::condition_variable_any never;
            never.wait_for(lock, left, leave_patience, [] { return false; });
            if (!left.stop_requested()) ::_exit(static_cast<int>(status));
        });
    way_->close(together);
}

}  // namespace postal::program
