// SPDX-License-Identifier: GPL-3.0-or-later
#include "system.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

namespace clients {

int failed(int number) noexcept {
    errno = number;
    return -1;
}

// ---- time ----

simulated_system::simulated_system(listening who, nanoseconds limit)
    : who_(std::move(who)), limit_(limit) {
    current_ = this;
}

simulated_system::~simulated_system() {
    current_ = nullptr;
}

void simulated_system::at(nanoseconds when, std::function<void()> what) {
    to_come_.push_back({std::max(when, now_), order_++, std::move(what)});
    std::push_heap(to_come_.begin(), to_come_.end());
}

void simulated_system::note(std::uint64_t what) noexcept {
    ++steps_;
    digest_ = (digest_ ^ what ^ static_cast<std::uint64_t>(now_.count())) * 0x100000001b3U;
}

// ---- readiness ----

simulated_system::object* simulated_system::find(int which) noexcept {
    const auto place = static_cast<std::size_t>(which - first_descriptor);
    return which >= first_descriptor && place < objects_.size() ? objects_[place].get() : nullptr;
}

line* simulated_system::socket_of(int which) noexcept {
    object* const one = find(which);
    return one == nullptr ? nullptr : one->of;
}

std::uint32_t simulated_system::ready(const object& one) const noexcept {
    switch (one.what) {
        case kind::timer:
            return one.expired ? std::uint32_t{EPOLLIN} : 0U;
        case kind::event:
            return (one.count > 0 ? std::uint32_t{EPOLLIN} : 0U) | EPOLLOUT;
        case kind::socket:
            return one.of == nullptr ? 0 : one.of->ready();
        case kind::listener:
            return one.listens->queue.empty() ? 0U : std::uint32_t{EPOLLIN};
        case kind::pipe:
            return (one.through->text.empty() ? 0U : std::uint32_t{EPOLLIN}) |
                   (one.through->writers == 0 ? std::uint32_t{EPOLLHUP} : 0U);
        case kind::child:
            return one.process->over() ? std::uint32_t{EPOLLIN} : 0U;
        case kind::epoll:
            break;
    }
    const bool any = std::any_of(one.watches.begin(), one.watches.end(), [&](const auto& watch) {
        const std::uint32_t wanted = watch->event.events | EPOLLERR | EPOLLHUP;
        return watch->armed && (ready(object_at(watch->which)) & wanted) != 0;
    });
    return any ? std::uint32_t{EPOLLIN} : 0U;
}

void simulated_system::edge(int which) {
    object* const one = find(which);
    if (one == nullptr) return;
    if (one->of != nullptr) one->of->times_.told_at = now_;
    for (registration* watch : one->watched_by) {
        watch->armed = true;
        edge(watch->epoll);
    }
}

int simulated_system::collect(object& epoll, epoll_event* events, int most) {
    int found = 0;
    for (const auto& watch : epoll.watches) {
        if (found == most) break;
        if (!watch->armed) continue;
        const std::uint32_t wanted = watch->event.events | EPOLLERR | EPOLLHUP;
        const std::uint32_t seen = ready(object_at(watch->which)) & wanted;
        if (seen == 0 || (watch->event.events & EPOLLET) != 0) watch->armed = false;
        if (seen == 0) continue;
        events[found].events = seen;
        events[found++].data = watch->event.data;
        note(seen);
    }
    return found;
}

int simulated_system::wait(int epoll, epoll_event* events, int most, int milliseconds) {
    const nanoseconds until =
        milliseconds < 0 ? nanoseconds::max() : now_ + std::chrono::milliseconds(milliseconds);
    for (;;) {
        const int found = collect(object_at(epoll), events, most);
        if (found > 0 || milliseconds == 0) return found;
        if (to_come_.empty() && milliseconds < 0) throw stuck("a wait for nothing");
        if (to_come_.empty() || to_come_.front().when > until) {
            now_ = std::max(now_, until);
            return 0;
        }
        std::pop_heap(to_come_.begin(), to_come_.end());
        const happening next = std::move(to_come_.back());
        to_come_.pop_back();
        now_ = std::max(now_, next.when);
        if (now_ > limit_) throw stuck("it goes on and on");
        note(next.order);
        next.what();
    }
}

int simulated_system::epoll_control(int epoll, int operation, int which, epoll_event* event) {
    object* const set = find(epoll);
    object* const one = find(which);
    if (set == nullptr || one == nullptr) return failed(EBADF);
    const auto known = std::find_if(one->watched_by.begin(), one->watched_by.end(),
                                    [&](const registration* w) { return w->epoll == epoll; });
    if (operation == EPOLL_CTL_ADD) {
        if (known != one->watched_by.end()) return failed(EEXIST);
        set->watches.push_back(std::make_unique<registration>());
        registration& made = *set->watches.back();
        made = {epoll, which, *event, true};
        one->watched_by.push_back(&made);
    } else if (known == one->watched_by.end()) {
        return failed(ENOENT);
    } else if (operation == EPOLL_CTL_DEL) {
        forget(**known);
        return 0;
    } else {
        (*known)->event = *event;
        (*known)->armed = true;
    }
    if (ready(*one) != 0) edge(epoll);
    return 0;
}

void simulated_system::forget(registration& one) {
    object& which = object_at(one.which);
    std::erase(which.watched_by, &one);
    auto& watches = object_at(one.epoll).watches;
    std::erase_if(watches, [&](const auto& watch) { return watch.get() == &one; });
}

// ---- what is no socket ----

int simulated_system::make(bool is_epoll) {
    return add_object(is_epoll ? kind::epoll : kind::socket);
}

// Its descriptor; none is used twice, so that who uses one that was closed is found out.
int simulated_system::add_object(kind what) {
    objects_.push_back(std::make_unique<object>());
    objects_.back()->what = what;
    ++open_now_;
    return first_descriptor + static_cast<int>(objects_.size()) - 1;
}

int simulated_system::make_timer() {
    return add_object(kind::timer);
}

int simulated_system::make_event(unsigned count) {
    const int made = add_object(kind::event);
    object_at(made).count = count;
    return made;
}

int simulated_system::set_timer(int timer, nanoseconds when, bool armed) {
    object* const one = find(timer);
    if (one == nullptr || one->what != kind::timer) return failed(EBADF);
    one->expired = false;
    const std::uint64_t turn = ++one->turn;
    if (!armed) return 0;
    at(when, [this, timer, turn] {
        object* const still = find(timer);
        if (still == nullptr || still->turn != turn) return;
        still->expired = true;
        edge(timer);
    });
    return 0;
}

long simulated_system::read_event(int which, void* into, std::size_t size) {
    object* const one = find(which);
    if (one != nullptr && one->what == kind::pipe) return read_pipe(*one, into, size);
    if (one == nullptr || one->what != kind::event) return failed(EBADF);
    if (one->count == 0) return failed(EAGAIN);
    std::memcpy(into, &one->count, std::min(size, sizeof one->count));
    one->count = 0;
    return sizeof one->count;
}

long simulated_system::write_event(int which, const void* from, std::size_t size) {
    object* const one = find(which);
    if (one == nullptr || one->what != kind::event || size != sizeof one->count)
        return failed(EBADF);
    std::uint64_t more = 0;
    std::memcpy(&more, from, sizeof more);
    one->count += more;
    edge(which);
    return static_cast<long>(size);
}

}  // namespace clients
