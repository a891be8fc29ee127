// SPDX-License-Identifier: GPL-3.0-or-later
// The part of a connection that carries TLS: records out, records in, the handshake, the goodbye.
#include "net/connection.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "base/release.hpp"
#include "base/text.hpp"
#include "net/connection_secured.hpp"
#include "net/tls_backend.hpp"

namespace postal::net {

namespace {

// So much is encrypted before it is sent: a few records a system call.
constexpr std::size_t records_at_once = 4 * tls_record;
// What a peer may make us answer (alerts, new keys) while it does not read.
constexpr std::size_t most_unread = 256 * 1024;
// What an idle connection may hold on to.
constexpr std::size_t kept_capacity = 4096;
constexpr unsigned rounds_a_turn = 64;

// The thread's scratch; empty whenever a call of ours ends.
std::string& scratch() {
    static thread_local std::string octets;
    octets.clear();
    return octets;
}

std::span<char> raw_buffer() {
    static thread_local std::array<char, records_at_once> octets;
    return octets;
}

// The next record's text: in place when one part is long enough, else copied together.
std::string_view next_text(gather& parts) {
    static thread_local std::array<char, tls_record> together;
    const std::span<iovec> left = parts.left();
    if (left[0].iov_len >= tls_record || left.size() == 1) {
        return {static_cast<const char*>(left[0].iov_base), std::min(left[0].iov_len, tls_record)};
    }
    std::size_t size = 0;
    for (const iovec& part : left) {
        const std::size_t taken = std::min(part.iov_len, together.size() - size);
        std::memcpy(together.data() + size, part.iov_base, taken);
        size += taken;
        if (size == together.size()) break;
    }
    return {together.data(), size};
}

// RFC 8446 5.1: a handshake begins with a handshake record, or ends in an alert.
bool begins_like_tls(std::string_view octets) {
    return octets[0] == 0x16 || octets[0] == 0x15;
}

std::string first_line(std::string_view octets) {
    return base::printable(octets.substr(0, octets.find_first_of("\r\n")), 60);
}

}  // namespace

// ---- out ----

// How many octets the socket takes now; last_fault_ tells when it has failed.
std::size_t connection::send_raw(std::string_view octets) {
    std::size_t sent = 0;
    while (sent < octets.size()) {
        const ssize_t done =
            send_octets(socket_.native(), octets.data() + sent, octets.size() - sent);
        if (done < 0 && !would_block(errno)) {
            failed(errno);
            break;
        }
        if (done < 0) {
            socket_.not_writable();
            break;
        }
        sent += static_cast<std::size_t>(done);
    }
    return sent;
}

// What is left of the records; true when nothing is, or the connection has failed.
bool connection::send_records() {
    secured& own = *secured_;
    if (own.records.empty()) return true;
    const time when = before_sending();
    const std::size_t sent = send_raw(own.records);
    records_left(sent, when);
    own.records.erase(0, sent);
    if (last_fault_ != fault::none) return true;
    if (!own.records.empty()) return false;
    base::release(own.records);
    return true;
}

void connection::records_left(std::size_t octets, time when) noexcept {
    secured& own = *secured_;
    own.left_octets += octets;
    std::uint64_t inside = 0;
    while (own.left_marks < own.marks.size() && own.marks[own.left_marks].end <= own.left_octets) {
        inside += own.marks[own.left_marks++].inside;
    }
    left(inside, when);
}

bool connection::write_secured(gather& parts) {
    secured& own = *secured_;
    while (send_records()) {
        if (last_fault_ != fault::none) return true;
        if (parts.empty()) {
            parts.clear();
            return true;
        }
        std::string& octets = scratch();
        tls_wire wire{{}, octets};
        own.marks.clear();
        own.left_marks = own.left_octets = 0;
        while (!parts.empty() && octets.size() < records_at_once) {
            const std::string_view text = next_text(parts);
            if (own.engine->write(wire, text) != tls_status::done) {
                tls_failed();
                return true;
            }
            own.marks.push_back({octets.size(), text.size()});
            parts.take_away(text.size());
        }
        const time when = before_sending();
        const std::size_t sent = send_raw(octets);
        records_left(sent, when);
        if (sent < octets.size() && last_fault_ == fault::none) {
            own.records.assign(octets, sent);
            return false;
        }
    }
    return false;
}

// ---- in ----

// Also sends what the engine has to say about what came.
read_result connection::decrypt(std::string_view& input, std::span<char> into) {
    secured& own = *secured_;
    std::string& answers = scratch();
    tls_wire wire{input, answers};
    read_result got;
    tls_engine::plain piece;
    while (got.size < into.size()) {
        piece = own.engine->read(wire, into.subspan(got.size));
        if (piece.how != tls_status::done) break;
        got.size += piece.size;
    }
    input = wire.input;
    if (piece.how == tls_status::closed) own.later = fault::closed;
    if (piece.how == tls_status::failed) own.later = tls_failed();
    more_inside_ = got.size == into.size() || own.later != fault::none;
    if (!answers.empty()) {
        own.records.append(answers);
        send_records();
        if (own.records.size() > most_unread) {
            tls_problem_ = {"too_many_answers", "the peer makes TLS answer and does not read"};
            own.later = fault::tls;
        }
    }
    return got;
}

read_result connection::read_secured(std::span<char> into) {
    secured& own = *secured_;
    if (own.later != fault::none) {
        last_fault_ = own.later;
        return {0, last_fault_};
    }
    if (more_inside_) {
        std::string_view input = own.left;
        const read_result got = decrypt(input, into);
        own.left.erase(0, own.left.size() - input.size());
        if (own.left.empty() && own.left.capacity() > kept_capacity) base::release(own.left);
        if (got.size > 0) {
            octets_in += got.size;
            return got;
        }
        if (own.later != fault::none) return read_secured(into);
    }
    if (!socket_.readable()) return {};
    const read_result came = receive(raw_buffer());
    if (came.why == fault::closed) last_fault_ = fault::truncated;
    if (came.size == 0) return {0, last_fault_};
    std::string_view input(raw_buffer().data(), came.size);
    read_result got = decrypt(input, into);
    own.left.assign(input);
    octets_in += got.size;
    if (got.size == 0 && own.later != fault::none) return read_secured(into);
    return got;
}

fault connection::tls_failed() {
    tls_problem_ = secured_->engine->problem();
    last_fault_ = fault::tls;
    return last_fault_;
}

// ---- the beginning and the end ----

asio::awaitable<fault> connection::start_tls(std::unique_ptr<tls_engine> engine) {
    if (!engine) {
        last_fault_ = fault::resources;
        co_return last_fault_;
    }
    secured_ = std::make_unique<secured>();
    secured_->engine = std::move(engine);
    const fault why = co_await shake_hands();
    if (why != fault::none) {
        last_fault_ = why;
        secured_.reset();
    }
    co_return why;
}

asio::awaitable<fault> connection::shake_hands() {
    secured& own = *secured_;
    std::string_view input;
    bool first = true;
    for (unsigned rounds = 0;; ++rounds) {
        tls_status how = tls_status::more;
        {
            std::string& answers = scratch();
            tls_wire wire{input, answers};
            how = own.engine->handshake(wire);
            input = wire.input;
            own.records.append(answers);
        }
        if (how == tls_status::failed && tls_problem_.reason.empty()) tls_failed();
        own.left.assign(input);
        if (how == tls_status::failed) last_fault_ = fault::none;  // the alert may still be sent
        while (!send_records() && how != tls_status::failed) {
            if (cancelled_ != cancelled_by::nobody) co_return cancelled();
            if (!socket_.writable()) co_await socket_.wait_writable();
        }
        if (how == tls_status::failed) co_return fault::tls;
        if (last_fault_ != fault::none) co_return last_fault_;
        if (how == tls_status::done) break;
        if (how == tls_status::closed) co_return fault::closed;
        if (cancelled_ == cancelled_by::nobody && !socket_.readable()) {
            co_await socket_.wait_readable();
        } else if (rounds % rounds_a_turn == rounds_a_turn - 1) {
            co_await asio::post(context_, asio::use_awaitable);
        }
        if (cancelled_ != cancelled_by::nobody) co_return cancelled();
        const read_result came = receive(raw_buffer());
        if (came.why != fault::none) co_return came.why;
        input = {raw_buffer().data(), came.size};
        if (!input.empty() && std::exchange(first, false) && !begins_like_tls(input)) {
            tls_problem_ = {std::string(problems::not_tls),
                            "the peer speaks no TLS: \"" + first_line(input) + '"'};
            co_return fault::tls;
        }
    }
    own.shaken = true;
    more_inside_ = !own.left.empty();
    co_return fault::none;
}

// As far as the socket has room: nobody waits for it.
void connection::say_goodbye() noexcept {
    if (!secured_ || !secured_->shaken || secured_->said_goodbye) return;
    secured_->said_goodbye = true;
    const bool broken = last_fault_ != fault::none && last_fault_ != fault::closed;
    if (broken || !socket_.is_open() || !secured_->records.empty()) return;
    std::string& octets = scratch();
    tls_wire wire{{}, octets};
    secured_->engine->finish(wire);
    send_octets(socket_.native(), octets.data(), octets.size());
}

tls_facts connection::tls() const {
    return secured_->engine->facts();
}

std::string connection::channel_binding() {
    return secured_ ? secured_->engine->channel_binding() : std::string();
}

std::string connection::peer_identity() const {
    return secured_ ? secured_->engine->peer_identity() : std::string();
}

std::unique_ptr<tls_ticket> connection::tls_ticket_given() {
    return secured_ ? secured_->engine->ticket() : nullptr;
}

}  // namespace postal::net
