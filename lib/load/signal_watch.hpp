// SPDX-License-Identifier: GPL-3.0-or-later
// Signals that end a run, or tell it something, heard in the thread of one event loop whatever
// fails.
//
// Flow:
//   signal_watch signals(loop, heard);     SIGINT and SIGTERM from now on; signals.add(SIGUSR1)
//   loop.run_one_for(signal_watch::look_again); signals.look();     again and again
// The handler counts the signal and wakes the loop. What is counted is what is true: where the loop
// could not be woken (an interrupted write, a descriptor that the kernel had no memory to watch),
// look() hears of it all the same, at most look_again later. Asio's own signal_set knows only what
// it reads from its pipe.
//
// One hears at a time in a process, the latest; what was there before comes back at its end. Throws
// std::system_error when the descriptor cannot be had.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>

#include <chrono>
#include <csignal>
#include <functional>
#include <utility>
#include <vector>

namespace postal::load {

class signal_watch {
  public:
    static constexpr auto look_again = std::chrono::milliseconds(250);

    signal_watch(boost::asio::io_context& loop, std::function<void(int)> heard);
    signal_watch(const signal_watch&) = delete;
    signal_watch& operator=(const signal_watch&) = delete;
    ~signal_watch();

    void add(int signal);
    // Tells of each signal that came since the last time; in the loop's thread.
    void look();

  private:
    void wait();

    boost::asio::posix::stream_descriptor woken_;
    std::function<void(int)> heard_;
    std::vector<std::pair<int, struct sigaction>> before_;
    int woken_before_ = -1;
    bool waiting_ = false;
};

}  // namespace postal::load
