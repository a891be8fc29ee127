// SPDX-License-Identifier: GPL-3.0-or-later
// Sockets of a system without a kernel.
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "system.hpp"

namespace clients {

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
    std::memcpy(into, from->in_.text.data() + from->in_.taken, got);
    if ((flags & MSG_PEEK) != 0) return static_cast<long>(got);
    note(got);
    from->times_.busy_at = now_;
    from->in_.taken += got;
    from->in_.read += got;
    if (from->in_.taken == from->in_.text.size()) {
        from->in_.text.clear();
        from->in_.taken = from->in_.there = 0;
    }
    return static_cast<long>(got);
}

long simulated_system::send(int which, std::span<const iovec> parts) {
    line* const to = socket_of(which);
    if (to == nullptr || !to->client_.made) return failed(ENOTCONN);
    if (to->client_.error != 0) return failed(std::exchange(to->client_.error, 0));
    if (to->client_.shut || (to->lost_ && to->client_.ended)) return failed(EPIPE);
    std::size_t room = to->traits_.room - std::min(to->traits_.room, to->out_.under_way);
    const std::size_t begin = to->out_.written.size();
    for (const iovec& one : parts) {
        const std::size_t fits = std::min(room, one.iov_len);
        to->out_.written.append(static_cast<const char*>(one.iov_base), fits);
        room -= fits;
        if (fits < one.iov_len) to->client_.no_room_told = true;
    }
    const std::size_t taken = to->out_.written.size() - begin;
    if (taken == 0) return failed(EAGAIN);
    note(taken);
    to->times_.busy_at = now_;
    to->out_.under_way += taken;
    if (to->lost_) return static_cast<long>(taken);  // nothing comes back, room neither
    at(now_ + to->traits_.latency, [to, taken] { to->reach_server(taken); });
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
