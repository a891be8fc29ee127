// SPDX-License-Identifier: GPL-3.0-or-later
// Waiting for another program before a run begins, in naps, while signals are heard: who gives up
// the wait leaves in order.
#pragma once

#include "load/signal_watch.hpp"

#include <boost/asio/io_context.hpp>

#include <chrono>

namespace postal::program {

enum class waited { done, too_long, interrupted };

// Asks again and again until it is done.
template <class Done>
waited wait_for_other(std::chrono::nanoseconds patience, Done&& done) {
    constexpr auto nap = std::chrono::milliseconds(2);
    bool interrupted = false;
    boost::asio::io_context loop(1);
    load::signal_watch signals(loop, [&](int) { interrupted = true; });
    const auto until = std::chrono::steady_clock::now() + patience;
    while (!done()) {
        if (interrupted) return waited::interrupted;
        if (std::chrono::steady_clock::now() >= until) return waited::too_long;
        loop.run_one_for(nap);
        signals.look();
    }
    return waited::done;
}

}  // namespace postal::program
