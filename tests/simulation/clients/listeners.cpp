// SPDX-License-Identifier: GPL-3.0-or-later
#include "listeners.hpp"

#include <algorithm>
#include <cerrno>
#include <utility>

#include "memory.hpp"
#include "system.hpp"

namespace clients {

namespace {

// Who cannot accept anybody rests for 100 ms, and until a ticker of as much finds that out.
constexpr nanoseconds rest_and_a_tick = std::chrono::milliseconds(200);

}  // namespace

int simulated_system::listen(int which) {
    object* const one = find(which);
    if (one == nullptr || one->what != kind::socket || one->of != nullptr) return failed(EBADF);
    one->what = kind::listener;
    one->listens = std::make_unique<listening_socket>();
    listeners_.push_back(which);
    return 0;
}

// At each of the listeners in turn.
void simulated_system::dial(const sockaddr_in& from) {
    if (listeners_.empty()) return;
    const int there = listeners_[lines_.size() % listeners_.size()];
    const int descriptor = make_socket();
    object_at(there).listens->queue.push_back({descriptor, now_});
    establish(new_line(descriptor, reinterpret_cast<const sockaddr*>(&from), sizeof from));
    edge(there);
}

int simulated_system::accept(int which) {
    object* const one = find(which);
    if (one == nullptr || one->what != kind::listener) return failed(EINVAL);
    listening_socket& here = *one->listens;
    const acceptance how = who_.accepts(accept_calls_++);
    note(accept_calls_);
    if (how.error != 0 && how.error != ECONNABORTED) {
        ++accepted_.failed;
        here.may_rest_until = now_ + rest_and_a_tick;
        return failed(how.error);
    }
    accepts_now_ = &here;
    took_somebody_ = false;
    if (here.queue.empty()) {
        scarce.left = how.allocations;
        return failed(EAGAIN);
    }
    const int next = take_first(here);
    if (how.error == ECONNABORTED) {
        close(next);
        return failed(ECONNABORTED);
    }
    line& its = *object_at(next).of;
    its.accepted_ = took_somebody_ = true;
    ++accepted_.taken;
    accepted_.most_open = std::max(accepted_.most_open, ++accepted_.open);
    scarce.left = how.allocations;
    return next;
}

// What he has waited is nobody's silence.
int simulated_system::take_first(listening_socket& from) {
    const auto [descriptor, since] = from.queue.front();
    from.queue.pop_front();
    const nanoseconds could = std::max(since, from.may_rest_until);
    accepted_.longest_wait = std::max(accepted_.longest_wait, now_ - std::min(now_, could));
    line& its = *object_at(descriptor).of;
    its.times_.busy_at = its.times_.told_at = now_;
    return descriptor;
}

// Those who wait there hear that nobody does any more.
void simulated_system::stop_listening(int which) {
    std::erase(listeners_, which);
    listening_socket& there = *object_at(which).listens;
    while (!there.queue.empty())
        close(take_first(there));
    if (accepts_now_ == &there) accepts_now_ = nullptr;
}

void simulated_system::end_scarcity() noexcept {
    scarce.left = -1;
    if (!std::exchange(scarce.failed, false)) return;
    ++(took_somebody_ ? accepted_.without_memory : accepted_.failed);
    if (accepts_now_ != nullptr) accepts_now_->may_rest_until = now_ + rest_and_a_tick;
}

}  // namespace clients
