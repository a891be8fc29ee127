// SPDX-License-Identifier: GPL-3.0-or-later
#include "serve/session.hpp"

#include <utility>

#include <boost/asio/post.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>

namespace postal::serve {
namespace {

namespace asio = boost::asio;
using std::chrono::steady_clock;
using next = dialogue::next;
using doing = suspension::what;

constexpr unsigned reads_a_turn = 16;

// At the end of a session, whose other steps must not be left out for want of memory in this one.
template <class Step>
void whatever_happens(Step step) noexcept {
    try {
        step();
    } catch (const std::bad_alloc&) {
    }
}

}  // namespace

session::session(worker_context& context, accepted_client&& who, std::string_view host_name)
    : client_(context, who, host_name, *this, *this),
      dialogue_(client_),
      departure_(client_, dialogue_),
      arrival_(client_, departure_) {
    context.own.watch(*this);
    if (client_.from.trusted()) machine().trust_client();
    const net::fault why = connection().adopt(std::move(who.socket));
    if (why != net::fault::none) {
        tally().errors.add("connect", 0, net::to_text(why), "cannot use an accepted socket");
        client_.end();
    }
    if (auto* shown = client_.from.transcript()) shown->begin_connection("a client");
    context.own.connection_opened();
    ++tally().connections;
}

session::~session() {
    client_.context.own.connection_closed();
    connection().close();
}

asio::awaitable<void> session::run() {
    try {
        if (!client_.over()) co_await converse();
        co_await finish_work();
    } catch (const std::bad_alloc&) {
        client_.end();
        client_.output.give_back();
        client_.connection.close();
        whatever_happens([this] { stop_now(); });
        count_no_memory(tally());
    }
    whatever_happens([this] {
        tally().unheard += client_.output.unheard(client_.counted.has_quit());
        doubtful_answers(client_.counted.has_quit());
    });
    whatever_happens([this] { client_.counted.message_dropped(); });
}

asio::awaitable<void> session::converse() {
    co_await arrival_.let_in();
    dialogue_.begin_turn();
    while (!client_.over()) {
        const next todo = dialogue_.process();
        const bool ends =
            todo == next::close || todo == next::stop || todo == next::cut || todo == next::secure;
        if (!say(ends ? reply_sender::how::closing : reply_sender::how::as_it_suits))
            co_await send_slowly();
        if (client_.over()) co_return;
        switch (todo) {
            case next::read:
                if (client_.context.own.stopping() && !client_.machine.in_transaction()) {
                    departure_.close_politely(closing_for_stop);
                    co_return;
                }
                // What was read last takes its time.
                if (const auto takes = client_.input.take_time(); takes.count() != 0)
                    co_await pause(takes);
                if (client_.over()) co_return;
                if (!client_.machine.in_line())
                    set_deadline(client_.time.of_client(client_.machine, client_.input.slow()));
                client_.waits.begin(doing::reading);
                if (!client_.connection.something_to_read()) {
                    co_await client_.connection.wait_to_read();
                    dialogue_.begin_turn();
                } else if (++reads_in_a_row_ % reads_a_turn == 0) {
                    co_await let_others_run();
                }
                client_.waits.end();
                read_input();
                break;
            case next::flush:
                break;
            case next::others:
                client_.input.keep();
                co_await let_others_run();
                client_.read_clock();
                break;
            case next::hold:
                co_await hold_back();
                break;
            case next::answers:
                co_await wait_for_answers();
                break;
            case next::secure:
                co_await arrival_.secure();
                break;
            case next::cut:
                co_await cut_off();
                break;
            case next::close:
                departure_.hang_up();
                break;
            case next::stop:
                departure_.close_politely(closing_for_stop);
                break;
        }
    }
}

// A client that sends faster than we read would keep the thread to itself.
asio::awaitable<void> session::let_others_run() {
    co_await asio::post(client_.context.own.context(), asio::use_awaitable);
    dialogue_.begin_turn();
}

// The whole message is here. Whether the client waits for the answers decides only what is begun.
asio::awaitable<void> session::wait_for_answers() {
    client_.input.keep();
    clear_deadline();
    bool told = false;
    while (!answers_ready()) {
        if (!told && departure_.client_has_left()) {
            told = true;
            client_left();
            continue;
        }
        client_.connection.forget();
        departure_.watch();
        co_await client_.waits.sleep_until_woken();
    }
    client_.connection.forget();
    client_.read_clock();
    client_.time.begin_anew();
    if (client_.counted.is_stopped_now()) co_return departure_.lost(net::fault::stopped);
    give_answers();
    dialogue_.let_go();
}

asio::awaitable<void> session::finish_work() {
    if (!work_left()) co_return;
    clear_deadline();
    client_.connection.close();
    client_left();
    while (work_left()) {
        co_await client_.waits.sleep_until_woken();
    }
}

asio::awaitable<void> session::pause(std::chrono::nanoseconds how_long) {
    if (client_.counted.is_stopped_now()) co_return departure_.lost(net::fault::stopped);
    clear_deadline();
    asio::steady_timer timer(client_.context.own.context(), how_long);
    boost::system::error_code cut_short;
    client_.waits.begin(doing::held_back, &timer);
    co_await timer.async_wait(asio::redirect_error(asio::use_awaitable, cut_short));
    client_.waits.end();
    const load::steady_time before = client_.time.it_is(steady_clock::now());
    client_.time.held_back(now() - before);
    if (cut_short) co_return departure_.lost(net::fault::stopped);
    // converse() sets none while a line has begun.
    client_.wait_for_client();
}

// What was written last waits for its time; what stood before it has been sent.
asio::awaitable<void> session::hold_back() {
    client_.input.keep();
    co_await pause(dialogue_.wait());
    if (!client_.over()) dialogue_.held_back();
}

// On purpose: of what is under way the client hears nothing more.
asio::awaitable<void> session::cut_off() {
    const cut ending = dialogue_.ending();
    client_.note(to_text(ending));
    if (ending == cut::silence) {
        client_.input.forget();
        client_.wait_for_client();
        while (!client_.context.own.stopping() && client_.connection.is_open()) {
            client_.waits.begin(doing::reading);
            if (client_.connection.something_to_read()) {
                co_await let_others_run();
            } else {
                co_await client_.connection.wait_to_read();
            }
            client_.waits.end();
            if (client_.connection.read_ready(client_.context.input).why != net::fault::none) break;
        }
    }
    if (ending != cut::rst) co_return departure_.hang_up();
    client_.end();
    client_.connection.reset();
}

// The socket is full: nothing more is read or answered until the client has read.
asio::awaitable<void> session::send_slowly() {
    net::gather rest;
    client_.output.put_aside(rest);
    client_.input.keep();
    client_.wait_for_client();
    client_.waits.begin(doing::sending);
    const net::fault why = co_await client_.connection.write_rest(rest);
    client_.waits.end();
    client_.read_clock();
    if (why != net::fault::none) departure_.lost(why);
    client_.output.forget_rest();
}

// True when all of the output is on its way, or the connection has failed.
bool session::say(reply_sender::how when) {
    const auto sent = client_.output.send_now(when);
    if (sent == reply_sender::sent::broken) departure_.lost(client_.connection.last_fault());
    return sent != reply_sender::sent::later;
}

// Nothing may have come, or the session be over.
void session::read_input() {
    const net::read_result got = client_.input.read(client_.connection);
    if (got.why != net::fault::none) departure_.lost(got.why);
    const load::steady_time before = client_.time.it_is(steady_clock::now());
    if (client_.machine.content_begun()) client_.time.content_waited(now() - before);
}

// ---- the worker's calls ----

void session::on_deadline() {
    client_.connection.cancel(net::cancelled_by::deadline);
}

// In a gentle stop, a transaction that is under way may end; see run() for what comes then.
void session::on_stop(load::stop_kind how) {
    if (how == load::stop_kind::now) {
        client_.counted.stopped_now();
        stop_now();
        client_.waits.cut_short();
        client_.connection.cancel(net::cancelled_by::stop);
        return;
    }
    stop_gently();
    const bool idle = dialogue_.at_rest() || client_.waits.is(doing::shaking_hands);
    if (idle) client_.waits.cut_short();
    const bool reads = client_.waits.is(doing::reading) || client_.waits.is(doing::shaking_hands);
    if (reads && (idle || dialogue_.ending() == cut::silence))
        client_.connection.cancel(net::cancelled_by::stop);
}

}  // namespace postal::serve
