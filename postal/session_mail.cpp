// SPDX-License-Identifier: GPL-3.0-or-later
// The part of a session in which mail is exchanged; the rest of the dialogue stands in session.cpp.
#include <string>
#include <utility>

#include "postal/session.hpp"

namespace postal::sender {

namespace {

constexpr std::string_view lost_behind_dot =
    "the server probably lost what was sent behind the final dot; try --pipelining auto";

}  // namespace

asio::awaitable<session::step> session::exchange_mail() {
    channel_.set_hurried(false);
    net::connection& line = channel_.connection();
    for (;;) {
        compose();
        net::gather& output = exchange_.gather_output();
        if (!output.empty()) {
            const net::fault why =
                write_at_once(output) ? line.last_fault() : co_await write_rest(output);
            if (why != net::fault::none) co_return give_up(why);
            exchange_.output_written();
            channel_.set_deadline_for(exchange_.awaited());
        } else if (exchange_.idle()) {
            if (exchange_.finished() || stopping()) co_return step::done;
            const step how = co_await wait_for_next();
            if (how != step::done || !exchange_.has_ticket()) co_return how;
            continue;
        }
        if (!line.something_to_read()) co_await line.wait_to_read();
        const net::read_result got = line.read_ready(shared_.inbox);
        if (got.why != net::fault::none) co_return give_up(got.why);
        const step how = hear_replies({shared_.inbox.data(), got.size});
        if (how != step::done) co_return how;
    }
}

// Says as much as there are tickets for.
void session::compose() {
    const moment now = context_.at(channel_.now());
    const std::uint64_t written = channel_.connection().octets_queued();
    exchange_.compose(now, written);
    while (exchange_.wants_ticket()) {
        load::ticket got = shared_.gate.try_pass(now.steady, exchange_.wanted());
        if (got.what == load::pass::over) exchange_.no_more_tickets();
        if (got.what != load::pass::go) return;
        shared_.gate.use(got.messages);
        exchange_.take(std::move(got));
        exchange_.compose(now, written);
    }
}

// False when some of it has to wait for the peer. Not put off when the peer has said or ended
// something meanwhile: what was sent must be known when that is read.
bool session::write_at_once(net::gather& output) {
    net::connection& line = channel_.connection();
    if (!line.something_to_read() && line.write_soon(output)) return true;
    return line.write_now(output);
}

asio::awaitable<net::fault> session::write_rest(net::gather& output) {
    channel_.set_deadline_for(stage::data);
    net::connection& line = channel_.connection();
    const net::fault why = co_await line.write_rest(output);
    looked_at_ = line.octets_out;  // still_takes_output() goes on from here
    on_the_way_ = line.octets_on_the_way();
    co_return why;
}

// The time for a reply begins when all that it answers has left.
void session::octets_left(load::steady_time when) noexcept {
    const std::uint64_t written = channel_.connection().octets_out;
    channel_.set_now(when);
    exchange_.octets_left(written, when);
    const bool was_put_off = !exchange_.has_output() && !exchange_.idle();
    if (was_put_off) channel_.set_deadline_for(exchange_.awaited(written));
}

// A reply is due in its time when what it answers has arrived, and megabytes of that may still lie
// in our own system. Where they have become fewer since the last look the server gets that time
// anew, also when the last of them went.
bool session::still_takes_output() {
    const net::connection& line = channel_.connection();
    if (exchange_.idle() || exchange_.has_output()) return false;
    const std::size_t on_the_way = line.octets_on_the_way();
    const bool first_look = std::exchange(looked_at_, line.octets_out) != line.octets_out;
    const std::size_t before = std::exchange(on_the_way_, on_the_way);
    if (first_look ? on_the_way == 0 : on_the_way >= before) return false;
    channel_.read_clock();
    channel_.set_deadline_for(exchange_.awaited());
    return true;
}

// Between two messages of a paced run: the connection is kept, and may be lost meanwhile.
asio::awaitable<session::step> session::wait_for_next() {
    clear_deadline();
    load::turnstile::waiter& place = opening_.place();
    place.connected = true;
    place.wanted = exchange_.wanted();
    load::ticket go = co_await shared_.gate.wait(place);
    place.connected = false;
    channel_.read_clock();
    if (go.what != load::pass::go) co_return step::done;
    // What the server has said meanwhile, or that it has left, comes before the message.
    net::connection& line = channel_.connection();
    const net::read_result got =
        line.something_to_read() ? line.read_ready(shared_.inbox) : net::read_result{};
    if (got.size > 0 || got.why != net::fault::none) {
        opening_.keep(std::move(go));
        if (hear_replies({shared_.inbox.data(), got.size}) == step::failed) co_return step::failed;
        co_return give_up(got.size > 0 ? net::fault::closed : got.why);
    }
    shared_.gate.use(go.messages);
    exchange_.take(std::move(go));
    co_return step::done;
}

session::step session::hear_replies(std::string_view octets) {
    const moment now = context_.at(channel_.read_clock());
    if (channel_.transcript() != nullptr) channel_.transcript()->received(octets);
    const exchange::heard got = exchange_.hear(octets, now);
    if (got.replies > 0) shared_.own.made_progress();
    if (got.what != hearing::go_on) {
        net::connection& line = channel_.connection();
        line.settle();
        base::error_name others;
        if (got.what == hearing::closing) others = "closed";
        exchange_.lost({.reason = others,
                        .sample = target_.where.text,
                        .written = line.octets_out,
                        .is_counted = true},
                       now);
        return step::failed;
    }
    if (got.replies > 0 && !exchange_.idle()) channel_.set_deadline_for(exchange_.awaited());
    return step::done;
}

// The connection has failed. What the server said before it closed says more than the failure.
session::step session::give_up(net::fault why) {
    net::connection& line = channel_.connection();
    line.settle();
    while (why == net::fault::reset || why == net::fault::closed) {
        const std::size_t last_words = line.read_now(shared_.inbox);
        if (last_words == 0) break;
        if (hear_replies({shared_.inbox.data(), last_words}) == step::failed) return step::failed;
    }
    if (exchange_.idle() && !exchange_.anything_open()) {
        channel_.lost(stage::idle, why);
        return step::failed;
    }
    if (channel_.transcript() != nullptr) channel_.transcript()->note(net::to_text(why));
    const std::string_view otherwise = why == net::fault::stopped
                                           ? "a message was abandoned when the run ended"
                                           : std::string_view(target_.where.text);
    client::explanation what = client::explain(why, line, otherwise);
    const std::string among = exchange_.broken_among_recipients();
    if (!among.empty()) what.sample = among;
    if (why == net::fault::timeout && exchange_.awaits_overlapped_mail()) {
        what.sample = lost_behind_dot;
    }
    // That the run ended is no error of a server that owes us no more than the reply to RSET.
    exchange_.lost({.reason = base::error_name::of(what.reason),
                    .sample = what.sample,
                    .written = line.octets_out,
                    .is_counted = why == net::fault::stopped},
                   context_.at(channel_.read_clock()));
    return step::failed;
}

}  // namespace postal::sender
