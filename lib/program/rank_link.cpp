// SPDX-License-Identifier: GPL-3.0-or-later
#include "program/rank_link.hpp"

#include <chrono>
#include <thread>
#include <utility>

#include <unistd.h>

namespace postal::program {
namespace {

// For MPI to end at all ranks.
constexpr auto leave_patience = std::chrono::seconds(10);

// Everything is written. A rank that dies now would keep those that leave together for ever.
void end_in_time(cli::exit_status status) {
    std::thread([status] {
        std::this_thread::sleep_for(leave_patience);
        ::_exit(static_cast<int>(status));
    }).detach();
}

}  // namespace

void rank_link::close(bool together, cli::exit_status status) {
    if (std::exchange(left_, true)) return;
    if (together) end_in_time(status);
    way_->close(together);
}

}  // namespace postal::program
