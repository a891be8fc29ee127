// SPDX-License-Identifier: GPL-3.0-or-later
// Waiting for other ranks in naps, so that nobody burns a processor that the load needs: the main
// thread's, before the start and after the end of a run.
#pragma once

#include <chrono>
#include <thread>
#include <utility>

namespace postal::cluster {

// Asks again and again until it is done or time is up; whether it is done.
template <class Done>
bool wait_for(std::chrono::nanoseconds patience, Done&& done) {
    constexpr auto nap = std::chrono::milliseconds(1);
    const auto until = std::chrono::steady_clock::now() + patience;
    while (!done()) {
        if (std::chrono::steady_clock::now() >= until) return false;
        std::this_thread::sleep_for(nap);
    }
    return true;
}

}  // namespace postal::cluster
