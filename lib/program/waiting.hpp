// SPDX-License-Identifier: GPL-3.0-or-later
// Waiting for another program before a run begins, in naps, while signals are heard: who gives up
// the wait leaves in order.
#pragma once

#include "load/signal_watch.hpp"

#include <boost/asio/io_context.hpp>

#include <chrono>
#include <string_view>
#include <utility>

namespace postal::program {

enum class waited { done, too_long, interrupted };
constexpr std::string_view interrupted_before = "interrupted before the search began";

// From here on SIGINT and SIGTERM end waits, not the process.
class waiting_in_order {
  public:
    // Asks again and again until it is done.
    template <class Done>
    waited until(std::chrono::steady_clock::time_point end, Done&& done) {
        constexpr auto nap = std::chrono::milliseconds(2);
        while (!done()) {
            signals_.look();
            if (interrupted_) return waited::interrupted;
            if (std::chrono::steady_clock::now() >= end) return waited::too_long;
            loop_.run_one_for(nap);
        }
        return waited::done;
    }
    [[nodiscard]] bool interrupted() const noexcept { return interrupted_; }

  private:
    bool interrupted_ = false;
    boost::asio::io_context loop_{1};
    load::signal_watch signals_{loop_, [this](int) { interrupted_ = true; }};
};

template <class Done>
waited wait_for_other(std::chrono::nanoseconds patience, Done&& done) {
    return waiting_in_order().until(std::chrono::steady_clock::now() + patience,
                                    std::forward<Done>(done));
}

}  // namespace postal::program
