// SPDX-License-Identifier: GPL-3.0-or-later
#include "load/loop_check.hpp"

#include <boost/asio/steady_timer.hpp>

#include <chrono>
#include <stdexcept>

namespace postal::load {

void check_loop(boost::asio::io_context& loop) {
    constexpr auto soon = std::chrono::microseconds(1);
    constexpr auto patience = std::chrono::seconds(2);  // on a machine that is very busy
    bool heard = false;
    boost::asio::steady_timer timer(loop, soon);
    timer.async_wait([&](const boost::system::error_code& error) { heard = !error; });
    const auto until = std::chrono::steady_clock::now() + patience;
    while (!heard && std::chrono::steady_clock::now() < until)
        loop.run_one_until(until);
    timer.cancel();
    loop.restart();
    while (loop.poll() > 0)
        continue;
    loop.restart();
    if (!heard) throw std::runtime_error("the system cannot watch for events: out of memory?");
}

}  // namespace postal::load
