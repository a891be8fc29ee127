// SPDX-License-Identifier: GPL-3.0-or-later
// Whether an event loop hears its timers. Asio does not look at whether the kernel had memory to
// watch the timers' descriptor: such a loop would never wake, nor hear of a stop.
#pragma once

#include <boost/asio/io_context.hpp>

namespace postal::load {

// Before the loop runs, and in no other thread; throws std::runtime_error when it does not. It has
// nothing else to do yet.
void check_loop(boost::asio::io_context& loop);

}  // namespace postal::load
