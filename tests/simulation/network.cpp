// SPDX-License-Identifier: GPL-3.0-or-later
#include "network.hpp"

#include <algorithm>

namespace simulation {

namespace {

constexpr std::uint64_t of_networks = 0x6e6574776f726b73;  // keeps its numbers apart from others'

std::string_view name_of(side one) {
    return one == side::client ? "client" : "server";
}

}  // namespace

// ---- one direction ----

void direction::add(std::string_view octets, steady_time now, steady_time then) {
    said_.append(octets);
    departures_.push_back({said_.size(), now});
    if (silent_) return;
    last_arrival_ = std::max(last_arrival_, then);
    under_way_.push_back({said_.size(), last_arrival_});
}

void direction::add_end(steady_time then) {
    if (silent_ || std::exchange(says_no_more_, true)) return;
    last_arrival_ = std::max(last_arrival_, then);
    under_way_.push_back({said_.size(), last_arrival_});
}

const network_fault* direction::arrive(steady_time now) {
    while (!under_way_.empty() && under_way_.front().when <= now) {
        const piece next = under_way_.front();
        const auto met = std::find_if(faults_.begin(), faults_.end(), [&](const auto& one) {
            return one.at > arrived_ && one.at <= next.until;
        });
        if (met == faults_.end()) {
            under_way_.pop_front();
            ended_ = ended_ || (says_no_more_ && next.until == arrived_ && under_way_.empty());
            arrived_ = next.until;
            continue;
        }
        arrived_ = met->at;
        if (met->what == loss::silence) {
            silent_ = true;
            under_way_.clear();
        } else if (met->what == loss::stall) {
            last_arrival_ += met->lasts;
            for (piece& one : under_way_)
                one.when += met->lasts;
        } else {
            return &*met;
        }
    }
    return nullptr;
}

std::string_view direction::read(std::size_t most) {
    const std::size_t octets = std::min(most, unread());
    const std::string_view got(said_.data() + read_, octets);
    read_ += octets;
    return got;
}

void direction::cut_off() {
    under_way_.clear();
    ended_ = true;
}

steady_time direction::left_at(std::size_t octet) const {
    const auto with =
        std::upper_bound(departures_.begin(), departures_.end(), octet,
                         [](std::size_t place, const piece& one) { return place < one.until; });
    return with == departures_.end() ? steady_time::max() : with->when;
}

// ---- both ----

connection::connection(timeline& time, const scenario& of, line_number which,
                       const transcript& shown)
    : time_(time),
      of_(of),
      number_(which),
      shown_(shown),
      random_(postal::base::mix(of.seed ^ of_networks, which.session, which.connection)) {
    std::vector<network_fault> mine;
    std::copy_if(of.losses.begin(), of.losses.end(), std::back_inserter(mine),
                 [&](const auto& one) { return one.where == which; });
    std::stable_sort(mine.begin(), mine.end(),
                     [](const auto& a, const auto& b) { return a.at < b.at; });
    for (const network_fault& one : mine)
        way(one.from).add_fault(one);
}

steady_time connection::arrival() {
    const auto late =
        static_cast<std::int64_t>(static_cast<double>(of_.jitter.count()) * random_.uniform());
    return time_.now() + of_.latency + nanoseconds(late);
}

std::size_t connection::write(side me, std::string_view octets) {
    const std::size_t taken_up = way(me).not_read();
    if (octets.empty() || is_reset(me) || taken_up >= of_.room) return 0;
    if (coin(8)) {  // the system has no memory for it just now
        time_.wake(*end(me).who, time_.now() + std::chrono::microseconds(100));
        return 0;
    }
    std::size_t most = std::min(octets.size(), of_.room - taken_up);
    if (coin(2)) most = 1 + random_.below(most);
    std::size_t from = 0;
    while (from < most) {
        const std::size_t piece = coin(2) ? 1 + random_.below(most - from) : most - from;
        way(me).add(octets.substr(from, piece), time_.now(), arrival());
        from += piece;
    }
    if (lost_) send_reset(me);
    time_.wake(*this, std::min(way(me).next_arrival(), end(me).breaks));
    return most;
}

std::string_view connection::read(side me, std::size_t most) {
    direction& theirs = way(other(me));
    const std::size_t there = theirs.unread();
    if (there == 0) return {};
    if (coin(2)) most = std::min<std::size_t>(most, 1 + random_.below(there));
    const bool was_full = theirs.not_read() >= of_.room;
    const std::string_view got = theirs.read(most);
    if (was_full) tell(other(me));
    return got;
}

// Closing with octets unread resets the connection, as TCP has it (RFC 1122 4.2.2.13).
void connection::close(side me) {
    if (std::exchange(end(me).closed, true)) return;
    shown_.note(number_, "the {} closes", name_of(me));
    way(me).add_end(arrival());
    if (way(other(me)).unread() > 0) send_reset(other(me));
    time_.wake(*this, std::min(way(me).next_arrival(), end(other(me)).breaks));
}

void connection::reset(side me) {
    if (std::exchange(end(me).closed, true)) return;
    shown_.note(number_, "the {} resets", name_of(me));
    send_reset(other(me));
    time_.wake(*this, end(other(me)).breaks);
}

void connection::act() {
    for (const side one : {side::client, side::server}) {
        arrive(one);
        break_if_due(one);
    }
    steady_time next = steady_time::max();
    for (const side one : {side::client, side::server})
        next = std::min({next, way(one).next_arrival(), end(one).breaks});
    if (next != steady_time::max()) time_.wake(*this, next);
}

void connection::arrive(side from) {
    direction& theirs = way(from);
    const std::size_t before = theirs.unread();
    const bool ended_before = theirs.ended();
    const network_fault* met = theirs.arrive(time_.now());
    const bool news = theirs.unread() > before || theirs.ended() != ended_before;
    if (theirs.unread() > before && end(other(from)).closed) {
        theirs.forget_unread();
        send_reset(from);
    }
    if (met != nullptr) return suffer(*met);
    if (news) tell(other(from));
}

void connection::suffer(const network_fault& what) {
    shown_.note(number_, "the network breaks it, {} octets from the {}", what.at,
                name_of(what.from));
    lost_ = true;
    for (const side one : {side::client, side::server}) {
        way(one).cut_off();
        if (what.what == loss::reset) {
            end(one).broken = true;
            way(other(one)).forget_unread();
        }
        tell(one);
    }
}

// Nothing gets through where the network has fallen silent.
void connection::send_reset(side to) {
    if (way(other(to)).silent()) return;
    end(to).breaks = std::min(end(to).breaks, arrival());
}

// What came before it may be read still.
void connection::break_if_due(side whose) {
    endpoint& one = end(whose);
    if (one.breaks > time_.now()) return;
    one.breaks = steady_time::max();
    if (std::exchange(one.broken, true)) return;
    shown_.note(number_, "the {} hears of a reset", name_of(whose));
    way(other(whose)).cut_off();
    way(whose).cut_off();
    tell(whose);
}

void connection::tell(side which) {
    if (end(which).who != nullptr && !end(which).closed) time_.wake(*end(which).who);
}

}  // namespace simulation
