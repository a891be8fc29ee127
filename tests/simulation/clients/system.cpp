// SPDX-License-Identifier: GPL-3.0-or-later
#include "system.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

namespace clients {

namespace {

thread_local simulated_system* of_this_thread = nullptr;

}  // namespace

int failed(int number) noexcept {
    errno = number;
    return -1;
}

// ---- the server's side of a line ----

// What is said stays in order, and so does what arrives.
void line::say(std::string_view octets, nanoseconds after) {
    if (lost_ || client_.ended || server_left_) return;
    in_.next_departure = std::max(in_.next_departure, of_.now() + after);
    while (!octets.empty()) {
        std::string part(octets.substr(0, next_piece(octets.size())));
        octets.remove_prefix(part.size());
        in_.said += part.size();
        in_.next_arrival = std::max(in_.next_arrival, in_.next_departure + traits_.latency);
        of_.at(in_.next_arrival,
               [this, part = std::move(part)]() mutable { arrive(std::move(part)); });
        in_.next_arrival += traits_.gap;
    }
}

// Small ones for a stretch of the stream; it is another one on each line.
std::size_t line::next_piece(std::size_t most) const noexcept {
    constexpr std::size_t small = 1000;
    constexpr std::uint64_t small_octets = 400;
    if (traits_.piece == 0) return most;
    if (traits_.piece >= small) return traits_.piece;
    if (in_.said < traits_.small_from)
        return static_cast<std::size_t>(
            std::min<std::uint64_t>(most, traits_.small_from - in_.said));
    return in_.said < traits_.small_from + small_octets ? traits_.piece : most;
}

void line::hang_up(nanoseconds after) {
    in_.next_departure = std::max(in_.next_departure, of_.now() + after);
    in_.next_arrival = std::max(in_.next_arrival, in_.next_departure + traits_.latency);
    of_.at(in_.next_departure, [this] { server_left_ = true; });
    of_.at(in_.next_arrival, [this] {
        if (lost_ || client_.descriptor < 0) return;
        client_.ended = true;
        of_.edge(client_.descriptor);
    });
}

// At the client's end, up to the octet of the mishap.
void line::arrive(std::string octets) {
    if (lost_ || client_.ended) return;
    const bool strikes = traits_.what == mishap::reset || traits_.what == mishap::closed ||
                         traits_.what == mishap::silent;
    const std::uint64_t until = strikes ? traits_.at : UINT64_MAX;
    const auto fits = static_cast<std::size_t>(
        std::min<std::uint64_t>(octets.size(), until - std::min(until, in_.arrived)));
    in_.arrived += fits;
    if (client_.descriptor >= 0 && fits > 0) {
        in_.inbox.append(octets, 0, fits);
        of_.edge(client_.descriptor);
    }
    if (fits < octets.size() || in_.arrived == until) suffer();
}

void line::suffer() {
    server_left_ = true;
    if (traits_.what == mishap::reset) return break_off(ECONNRESET);
    lost_ = traits_.what == mishap::silent;
    if (lost_ || client_.descriptor < 0) return;
    client_.ended = true;
    of_.edge(client_.descriptor);
}

// As a reset does: what was not read is gone.
void line::break_off(int error) {
    if (client_.descriptor < 0 || lost_) return;
    lost_ = client_.ended = true;
    client_.connecting = false;
    client_.error = error;
    in_.inbox.clear();
    in_.taken = 0;
    of_.edge(client_.descriptor);
}

std::uint32_t line::ready() const noexcept {
    if (client_.connecting) return 0;
    std::uint32_t events = 0;
    if (in_.unread() > 0 || client_.ended) events |= EPOLLIN;
    if (client_.ended) events |= EPOLLRDHUP;
    if (client_.error != 0) events |= EPOLLERR | EPOLLIN;
    if ((client_.ended && client_.shut) || (lost_ && client_.ended)) events |= EPOLLHUP;
    if (client_.made && out_.under_way < traits_.room) events |= EPOLLOUT;
    return events;
}

// ---- time ----

simulated_system::simulated_system(listening who, nanoseconds limit)
    : who_(std::move(who)), limit_(limit) {
    of_this_thread = this;
}

simulated_system::~simulated_system() {
    of_this_thread = nullptr;
}

simulated_system* simulated_system::current() noexcept {
    return of_this_thread;
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

// ---- sockets ----

int simulated_system::make_socket() {
    return make(false);
}

line& simulated_system::new_line(int descriptor, const sockaddr* remote, socklen_t size) {
    lines_.push_back(std::make_unique<line>(*this, lines_.size(), who_.traits(lines_.size())));
    line& made = *lines_.back();
    note(lines_.size());
    std::memcpy(&made.remote_.address, remote, size);
    made.remote_.size = size;
    made.times_.busy_at = now_;
    std::uint16_t port = 0;  // at the same place in both families
    std::memcpy(&port, remote->sa_data, sizeof port);
    made.remote_.port = static_cast<std::uint16_t>(port >> 8U | port << 8U);
    made.client_.descriptor = descriptor;
    object_at(descriptor).of = &made;
    return made;
}

int simulated_system::connect(int which, const sockaddr* remote, socklen_t size) {
    object* const one = find(which);
    if (one == nullptr || one->what != kind::socket || one->of != nullptr) return failed(EBADF);
    line& made = new_line(which, remote, size);
    const line_traits& traits = made.traits_;
    if (traits.what == mishap::unreachable) return failed(ENETUNREACH);
    made.client_.connecting = true;
    if (traits.what == mishap::never_made) return failed(EINPROGRESS);
    if (traits.latency.count() == 0 && traits.what != mishap::refused) {  // as over loopback
        establish(made);
        return 0;
    }
    at(now_ + 2 * traits.latency, [this, &made] {
        if (made.client_.descriptor < 0) return;
        if (made.traits_.what == mishap::refused) return made.break_off(ECONNREFUSED);
        establish(made);
    });
    return failed(EINPROGRESS);
}

void simulated_system::establish(line& one) {
    one.client_.connecting = false;
    one.client_.made = true;
    one.times_.busy_at = now_;
    one.server_ = who_.server(one);
    edge(one.client_.descriptor);
}

long simulated_system::receive(int which, void* into, std::size_t size, int flags) {
    line* const from = socket_of(which);
    if (from == nullptr) return failed(ENOTCONN);
    if (from->client_.error != 0) return failed(std::exchange(from->client_.error, 0));
    const std::size_t there = from->in_.unread();
    if (there == 0 && from->client_.ended) return 0;
    if (there == 0) return failed(EAGAIN);
    const std::size_t got = std::min(size, there);
    std::memcpy(into, from->in_.inbox.data() + from->in_.taken, got);
    if ((flags & MSG_PEEK) != 0) return static_cast<long>(got);
    note(got);
    from->times_.busy_at = now_;
    from->in_.taken += got;
    from->in_.read += got;
    if (from->in_.taken == from->in_.inbox.size()) {
        from->in_.inbox.clear();
        from->in_.taken = 0;
    }
    return static_cast<long>(got);
}

long simulated_system::send(int which, std::string_view octets) {
    line* const to = socket_of(which);
    if (to == nullptr || !to->client_.made) return failed(ENOTCONN);
    if (to->client_.error != 0) return failed(std::exchange(to->client_.error, 0));
    if (to->client_.shut || (to->lost_ && to->client_.ended)) return failed(EPIPE);
    const std::size_t room = to->traits_.room - std::min(to->traits_.room, to->out_.under_way);
    const std::size_t taken = std::min(room, octets.size());
    if (taken < octets.size()) to->client_.no_room_told = true;
    if (taken == 0) return failed(EAGAIN);
    note(taken);
    to->times_.busy_at = now_;
    to->out_.written.append(octets.substr(0, taken));
    to->out_.under_way += taken;
    if (to->lost_) return static_cast<long>(taken);  // nothing comes back, room neither
    at(now_ + to->traits_.latency, [this, to, text = std::string(octets.substr(0, taken))] {
        if (to->lost_) return;
        if (to->server_left_) {  // whoever has closed answers with a reset
            at(now_ + to->traits_.latency, [to] { to->break_off(ECONNRESET); });
            return;
        }
        at(now_ + to->traits_.latency, [this, to, octets = text.size()] {
            to->out_.under_way -= octets;
            if (to->client_.descriptor >= 0 && std::exchange(to->client_.no_room_told, false))
                edge(to->client_.descriptor);
        });
        std::string_view heard = text;
        if (to->traits_.what == mishap::deaf) {
            const std::uint64_t most = to->traits_.at - std::min(to->traits_.at, to->out_.heard);
            heard = heard.substr(
                0, static_cast<std::size_t>(std::min<std::uint64_t>(most, heard.size())));
        }
        to->out_.heard += text.size();
        if (!heard.empty()) to->server_->heard(heard);
    });
    return static_cast<long>(taken);
}

int simulated_system::close(int which) {
    object* const one = find(which);
    if (one == nullptr) return failed(EBADF);
    if (line* const its = one->of; its != nullptr) {
        its->client_.descriptor = -1;
        its->times_.closed_at = now_;
        its->times_.silence = now_ - its->times_.busy_at;
        const bool unheeded = its->client_.ended || its->in_.unread() > 0;
        if (unheeded && !its->client_.no_room_told)
            its->times_.unheeded = now_ - std::max(its->times_.busy_at, its->times_.told_at);
        if (its->server_ && !its->lost_)
            at(now_ + its->traits_.latency, [its] {
                if (!its->lost_) its->server_->gone();
            });
    }
    if (one->of != nullptr && one->of->accepted_) --accepted_.open;
    if (one->writes) leave_pipe(*one->through);
    if (one->listens) stop_listening(which);
    while (!one->watched_by.empty())
        forget(*one->watched_by.back());
    while (!one->watches.empty())
        forget(*one->watches.back());
    objects_[static_cast<std::size_t>(which - first_descriptor)].reset();
    --open_now_;
    return 0;
}

int simulated_system::shut(int which) {
    line* const one = socket_of(which);
    if (one == nullptr || !one->client_.made) return failed(ENOTCONN);
    one->client_.shut = true;
    at(now_ + one->traits_.latency, [one] {
        if (!one->lost_) one->server_->gone();
    });
    return 0;
}

int simulated_system::pending_error(int which) {
    line* const one = socket_of(which);
    return one == nullptr ? 0 : std::exchange(one->client_.error, 0);
}

int simulated_system::unread(int which) {
    const line* const one = socket_of(which);
    return one == nullptr ? 0 : static_cast<int>(one->in_.unread());
}

int simulated_system::unsent(int which) {
    const line* const one = socket_of(which);
    return one == nullptr ? 0 : static_cast<int>(one->out_.under_way);
}

short simulated_system::polled(int which) {
    const object* const one = find(which);
    return one == nullptr ? 0 : static_cast<short>(ready(*one));
}

int simulated_system::remote_of(int which, sockaddr* into, socklen_t* size) {
    const line* const one = socket_of(which);
    if (one == nullptr || !one->client_.made) return failed(ENOTCONN);
    std::memcpy(into, &one->remote_.address, std::min(*size, one->remote_.size));
    *size = one->remote_.size;
    return 0;
}

}  // namespace clients
