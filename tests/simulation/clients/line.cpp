// SPDX-License-Identifier: GPL-3.0-or-later
#include "line.hpp"

#include <algorithm>
#include <cerrno>
#include <utility>

#include <sys/epoll.h>

#include "system.hpp"

namespace clients {

// What is said stays in order, and so does what arrives.
void line::say(std::string_view octets, nanoseconds after) {
    if (lost_ || client_.ended || server_left_) return;
    in_.next_departure = std::max(in_.next_departure, of_.now() + after);
    while (!octets.empty()) {
        const std::size_t part = std::min(octets.size(), next_piece(octets.size()));
        in_.text += octets.substr(0, part);
        octets.remove_prefix(part);
        in_.said += part;
        in_.next_arrival = std::max(in_.next_arrival, in_.next_departure + traits_.latency);
        of_.at(in_.next_arrival, [this, part] { arrive(part); });
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
void line::arrive(std::size_t octets) {
    if (lost_ || client_.ended) return;
    const bool strikes = traits_.what == mishap::reset || traits_.what == mishap::closed ||
                         traits_.what == mishap::silent;
    const std::uint64_t until = strikes ? traits_.at : UINT64_MAX;
    const auto fits = static_cast<std::size_t>(
        std::min<std::uint64_t>(octets, until - std::min(until, in_.arrived)));
    in_.arrived += fits;
    if (client_.descriptor >= 0 && fits > 0) {
        in_.there += fits;
        of_.edge(client_.descriptor);
    }
    if (fits < octets || in_.arrived == until) suffer();
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
    in_.there = in_.taken;
    of_.edge(client_.descriptor);
}

// The next of what the client has written.
void line::reach_server(std::size_t octets) {
    if (lost_) return;
    if (server_left_) {  // whoever has closed answers with a reset
        of_.at(of_.now() + traits_.latency, [this] { break_off(ECONNRESET); });
        return;
    }
    of_.at(of_.now() + traits_.latency, [this, octets] {
        out_.under_way -= octets;
        if (client_.descriptor >= 0 && std::exchange(client_.no_room_told, false))
            of_.edge(client_.descriptor);
    });
    const std::uint64_t most = traits_.what == mishap::deaf ? traits_.at : UINT64_MAX;
    const auto heard = static_cast<std::size_t>(
        std::min<std::uint64_t>(octets, most - std::min(most, out_.heard)));
    const auto begin = static_cast<std::size_t>(out_.heard);
    out_.heard += octets;
    if (heard > 0) server_->heard(std::string_view(out_.written).substr(begin, heard));
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

}  // namespace clients
