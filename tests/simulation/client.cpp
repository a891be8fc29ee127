// SPDX-License-Identifier: GPL-3.0-or-later
#include "client.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "proto/smtp/client_commands.hpp"

namespace simulation {

namespace {

using namespace std::chrono_literals;
using postal::load::pass;
using postal::sender::hearing;

constexpr auto long_idle = 1s;
constexpr std::uint64_t of_clients = 0x636c69656e747321;  // keeps its numbers apart from others'

}  // namespace

client::client(client_house& house, std::uint32_t session)
    : house_(house),
      wire_(house),
      exchange_(house.plan, house.maker, house.outcomes, session),
      opening_(house, *this),
      random_(postal::base::mix(house.of.seed, of_clients, session)),
      next_{session, 0} {}

void client::act() {
    while (state_ != state::over && step())
        house_.time.exert();
    if (state_ != state::over && wire_.deadline() != steady_time::max())
        house_.time.wake(*this, wire_.deadline());
}

bool client::step() {
    switch (state_) {
        case state::resting:
            return begin();
        case state::awaiting_ticket:
            return await_ticket();
        case state::banner:
            return hear_banner();
        case state::hello:
            return hear_hello();
        case state::mail:
            return exchange_mail();
        case state::awaiting_next:
            return await_next();
        case state::quit:
            return hear_goodbye();
        case state::over:
            break;
    }
    return false;
}

// ---- connections ----

// A session that keeps its connection opens it at once; others connect when they have something to
// send. One whose server does not answer leaves the messages to others until it does.
bool client::begin() {
    if (house_.stopping || house_.gate.over()) return leave();
    if (house_.time.now() < opening_.rests_until()) {
        house_.time.wake(*this, opening_.rests_until());
        return false;
    }
    const bool keeps = house_.of.messages_a_connection < 0 && !house_.of.open_loop;
    const bool doubtful = opening_.failing() && house_.of.rate == 0;
    if (keeps || doubtful || opening_.has_ticket()) return connect();
    if (opening_.try_pass(exchange_.wanted())) return connect();
    if (opening_.over()) return leave();
    state_ = state::awaiting_ticket;
    opening_.wait(false, exchange_.wanted());
    return false;
}

bool client::await_ticket() {
    if (opening_.waits()) return false;
    return opening_.take_what_came() ? connect() : leave();
}

bool client::connect() {
    const line_number number = next_;
    ++next_.connection;
    fine_ = says_helo_ = false;
    output_ = nullptr;
    if (!wire_.open(number, *this)) return part();
    wire_.truth().first_sequence = begun_;
    state_ = state::banner;
    return true;
}

bool client::hear_banner() {
    const answer heard = wire_.read_reply();
    if (heard == answer::nothing_yet) return false;
    if (heard == answer::failed || wire_.code() == 421) return part();
    if (heard == answer::negative || house_.stopping) return say_quit(heard == answer::positive);
    return say_hello(house_.of.lmtp ? "LHLO" : "EHLO");
}

bool client::say_hello(std::string_view verb) {
    offered_ = {};
    std::string text;
    postal::proto::append_greeting(text, verb, house_.plan.helo);
    return say(text, state::hello);
}

// HELO to a server that does not know EHLO (RFC 5321 3.2).
bool client::hear_hello() {
    const answer heard = wire_.read_reply(&offered_);
    if (heard == answer::nothing_yet) return false;
    if (heard == answer::failed || wire_.code() == 421) return part();
    if (heard == answer::positive) {
        if (house_.stopping) return say_quit(true);
        begin_mail();
        return true;
    }
    const bool knows_no_ehlo = wire_.code() >= 500 && !house_.of.lmtp;
    if (knows_no_ehlo && !std::exchange(says_helo_, true)) return say_hello("HELO");
    return say_quit(false);
}

bool client::say(std::string_view command, state then) {
    wire_.say(command);
    state_ = then;
    return true;
}

bool client::say_quit(bool fine) {
    fine_ = fine;
    return say(postal::proto::quit_command, state::quit);
}

// What was said before the goodbye counts, whatever becomes of that.
bool client::hear_goodbye() {
    if (wire_.read_reply() == answer::nothing_yet) return false;
    return part();
}

// ---- mail ----

void client::begin_mail() {
    offered_.pipelining = offered_.pipelining && house_.of.offers_pipelining;
    offered_.chunking = offered_.chunking && house_.of.offers_chunking;
    offered_.eight_bit_mime = offered_.eight_bit_mime && house_.of.offers_8bit;
    wire_.truth().takes_8bit = offered_.eight_bit_mime;
    state_ = state::mail;
    exchange_.begin(offered_, messages_for_connection());
    if (opening_.has_ticket()) take(opening_.use());
}

std::uint64_t client::messages_for_connection() {
    const std::int64_t most = house_.of.messages_a_connection;
    if (most < 0) return std::numeric_limits<std::uint64_t>::max();
    if (most <= 1) return static_cast<std::uint64_t>(most);
    return 1 + random_.below(static_cast<std::uint64_t>(most));
}

// Each ticket that the exchange is given begins one transaction.
void client::take(postal::load::ticket&& got) {
    exchange_.take(std::move(got));
    ++begun_;
    ++wire_.truth().begun;
}

bool client::exchange_mail() {
    if (house_.stopped_now) return give_up(fault::stopped);
    if (output_ == nullptr) {
        compose();
        postal::net::gather& said = exchange_.gather_output();
        if (!said.empty()) {
            output_ = &said;
            wire_.be_patient();
        } else if (exchange_.idle()) {
            return end_mail();
        }
    }
    if (output_ != nullptr && !write()) return state_ != state::mail;
    return hear_replies();
}

// Says as much as there are tickets for.
void client::compose() {
    compose_once();
    while (exchange_.wants_ticket()) {
        postal::load::ticket got = house_.gate.try_pass(exchange_.wanted());
        if (got.what == pass::over) exchange_.no_more_tickets();
        if (got.what != pass::go) return;
        house_.gate.use(got.messages);
        take(std::move(got));
        compose_once();
    }
}

// A message that ends as it begins is one that the server does not take.
void client::compose_once() {
    const std::uint64_t failed = house_.counts.failed;
    exchange_.compose(now(), wire_.octets_out());
    if (house_.counts.failed != failed) wire_.truth().left_out.push_back(wire_.truth().begun - 1);
}

// False while the network takes no more, or when it is broken.
bool client::write() {
    while (!output_->empty()) {
        const iovec& part = output_->left().front();
        const std::string_view octets(static_cast<const char*>(part.iov_base), part.iov_len);
        const std::size_t left = wire_.write(octets);
        if (left == 0) {
            const bool lost =
                wire_.line().is_reset(side::client) || house_.time.now() >= wire_.deadline();
            const fault why = lost ? wire_.trouble() : fault::none;
            if (why != fault::none) give_up(why);
            return false;
        }
        output_->take_away(left);
        exchange_.octets_left(wire_.octets_out(), house_.time.now());
    }
    exchange_.output_written();
    output_ = nullptr;
    wire_.be_patient();
    return true;
}

bool client::hear_replies() {
    const std::string_view got = wire_.read();
    if (got.empty()) {
        const fault why = wire_.trouble();
        return why != fault::none && give_up(why);
    }
    const auto heard = exchange_.hear(got, now());
    if (heard.what == hearing::go_on) {
        if (heard.replies > 0) wire_.be_patient();
        return true;
    }
    return break_off(heard.what);
}

// The server has said that it closes, or makes no sense.
bool client::break_off(hearing what) {
    postal::base::error_name others;
    if (what == hearing::closing) others = "closed";
    exchange_.lost({others, "server", wire_.octets_out()}, now());
    return part();
}

// Nothing is under way.
bool client::end_mail() {
    if (exchange_.finished() || house_.stopping) return say_quit(true);
    wire_.wait_for_ever();
    state_ = state::awaiting_next;
    opening_.wait(true, exchange_.wanted());
    return !opening_.waits();
}

// Between two messages of a paced run: the connection is kept, and may be lost meanwhile.
bool client::await_next() {
    if (house_.stopped_now) {
        opening_.leave();
        return give_up(fault::stopped);
    }
    if (opening_.waits()) return false;
    if (!opening_.take_what_came()) return say_quit(true);
    state_ = state::mail;
    wire_.be_patient();
    if (opening_.waited() > long_idle && !wire_.quiet()) return give_up(fault::closed);
    take(opening_.use());
    return true;
}

// What the server said before it closed says more than the failure.
bool client::give_up(fault why) {
    while (why == fault::reset || why == fault::closed) {
        const std::string_view last_words = wire_.read();
        if (last_words.empty()) break;
        const auto heard = exchange_.hear(last_words, now());
        if (heard.what != hearing::go_on) return break_off(heard.what);
    }
    static constexpr std::string_view names[] = {"", "closed", "reset", "timeout", "stopped"};
    const std::string_view name = names[static_cast<std::size_t>(why)];
    house_.shown.note(wire_.line().number(), "the client gives up: {}", name);
    if (!exchange_.idle() || exchange_.anything_open()) {
        exchange_.lost({postal::base::error_name::of(name), "server", wire_.octets_out()}, now());
    }
    return part();
}

bool client::part() {
    wire_.close();
    opening_.part(fine_, exchange_.any_accepted());
    state_ = state::resting;
    return true;
}

bool client::leave() {
    opening_.give_back();
    wire_.wait_for_ever();
    state_ = state::over;
    return false;
}

}  // namespace simulation
