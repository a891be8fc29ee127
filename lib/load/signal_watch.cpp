// SPDX-License-Identifier: GPL-3.0-or-later
#include "load/signal_watch.hpp"

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <system_error>

#include <sys/eventfd.h>
#include <unistd.h>

#include "base/interrupted.hpp"

namespace postal::load {

namespace {

std::atomic<int> wakes{-1};  // the watch's descriptor
std::atomic<unsigned> came[NSIG];
static_assert(std::atomic<unsigned>::is_always_lock_free && std::atomic<int>::is_always_lock_free);

void count(int signal) {
    const int before = errno;
    came[signal].fetch_add(1);
    const std::uint64_t one = 1;
    const int descriptor = wakes.load();
    if (descriptor >= 0) base::uninterrupted([&] { return ::write(descriptor, &one, sizeof one); });
    errno = before;
}

int open_descriptor() {
    const int made = ::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    if (made < 0)
        throw std::system_error(errno, std::generic_category(), "cannot watch for signals");
    return made;
}

}  // namespace

signal_watch::signal_watch(boost::asio::io_context& loop, std::function<void(int)> heard)
    : woken_(loop), heard_(std::move(heard)) {
    const int descriptor = open_descriptor();
    boost::system::error_code error;
    woken_.assign(descriptor, error);
    if (error) {
        ::close(descriptor);
        throw std::system_error(error.value(), std::generic_category(), "cannot watch for signals");
    }
    woken_before_ = wakes.exchange(descriptor);
    add(SIGINT);
    add(SIGTERM);
    wait();
}

signal_watch::~signal_watch() {
    for (const auto& [signal, handler] : before_)
        ::sigaction(signal, &handler, nullptr);
    wakes.store(woken_before_);
}

void signal_watch::add(int signal) {
    struct sigaction counted {};
    counted.sa_handler = count;
    counted.sa_flags = SA_RESTART;
    ::sigfillset(&counted.sa_mask);
    came[signal].store(0);
    struct sigaction earlier {};
    before_.reserve(before_.size() + 1);
    if (::sigaction(signal, &counted, &earlier) == 0) before_.emplace_back(signal, earlier);
}

// Where that fails, the next look() tries again.
void signal_watch::wait() {
    if (waiting_) return;
    waiting_ = true;
    woken_.async_wait(boost::asio::posix::descriptor_base::wait_read,
                      [this](const boost::system::error_code& error) {
                          waiting_ = false;
                          if (error) return;
                          std::uint64_t times = 0;
                          [[maybe_unused]] const auto drained =
                              ::read(woken_.native_handle(), &times, sizeof times);
                          look();
                      });
}

void signal_watch::look() {
    for (std::size_t i = 0; i < before_.size(); ++i) {
        const int signal = before_[i].first;
        for (unsigned left = came[signal].exchange(0); left > 0; --left)
            heard_(signal);
    }
    wait();
}

}  // namespace postal::load
