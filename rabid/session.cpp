#include "rabid/session.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include "rabid/imap_visit.hpp"
#include "rabid/pop3_visit.hpp"

namespace postal::rabid {

namespace {

namespace asio = boost::asio;
using std::chrono::nanoseconds;
using std::chrono::steady_clock;

constexpr unsigned opened_at_once = 100;
constexpr auto first_pause = std::chrono::milliseconds(100);
constexpr auto longest_pause = std::chrono::seconds(5);
constexpr auto look_again = std::chrono::milliseconds(5);  // for an account that is free
constexpr std::uint64_t choices = 0x63686f6963657321;      // keeps its numbers apart from others'

}  // namespace

session::session(workshop& shop, unsigned index)
    : shop_(shop),
      plan_(shop.of_run),
      place_(shop.own),
      line_(shop, {*this, place_}, index),
      dialer_({shop.own, shop.gate, place_, *this}, line_.connection()),
      examiner_(shop),
      random_(base::mix(plan_.seed, choices, index)),
      index_(index) {
    shop_.own.watch(*this);
}

asio::awaitable<void> session::run() {
    bool open = co_await wait_to_open();
    while (open) {
        open = co_await may_connect();
        if (!open) break;
        const bool may = shop_.ledger_keeps_up();
        const auto number = may ? plan_.users->take(random_) : std::nullopt;
        if (!number) {
            co_await shop_.gate.pause(place_, look_again);
            continue;
        }
        const bool fine = co_await call_on(*number);
        plan_.users->give_back(*number, fine ? visit::done : visit::failed);
        if (!fine) {
            co_await back_off();
        } else {
            const auto rest = std::max(plan_.chosen.watch, plan_.behaviour.pause.pick(random_));
            if (rest.count() > 0) co_await shop_.gate.pause(place_, rest);
        }
    }
    return_ticket();
}

// What an open loop cannot begin any more stays in the books.
void session::return_ticket() {
    if (ticket_.what != load::pass::go) return;
    if (shop_.own.stopping() && plan_.chosen.open_loop) {
        ++shop_.own.tally().not_started;
        shop_.gate.use();
    } else {
        shop_.gate.give_back(ticket_);
    }
    ticket_ = {};
}

// Sessions open one after the other, but for the first, so that the server's accept queue does not
// overflow.
asio::awaitable<bool> session::wait_to_open() {
    const unsigned place = index_ - std::min(index_, opened_at_once);
    const std::chrono::duration<double> turn(place / plan_.chosen.connect_rate);
    if (turn > std::chrono::milliseconds(1)) {
        co_await shop_.gate.pause(place_, std::chrono::duration_cast<nanoseconds>(turn));
    }
    co_return !shop_.own.stopping();
}

asio::awaitable<bool> session::may_connect() {
    if (shop_.own.stopping()) co_return false;
    if (ticket_.what == load::pass::go) co_return true;
    ticket_ = shop_.gate.try_pass(steady_clock::now());
    if (ticket_.what == load::pass::wait) ticket_ = co_await shop_.gate.wait(place_);
    if (ticket_.what == load::pass::go) shop_.gate.hold();
    co_return ticket_.what == load::pass::go;
}

asio::awaitable<void> session::back_off() {
    const unsigned doublings = std::min(failures_, 6U);
    ++failures_;
    co_await shop_.gate.pause(
        place_, std::min<nanoseconds>(first_pause * (1U << doublings), longest_pause));
}

// True when nothing is wrong with the server.
asio::awaitable<bool> session::call_on(std::size_t account_number) {
    const bool imap = random_.below(100) < plan_.chosen.imap_percent;
    const auto& servers = imap ? plan_.imap : plan_.pop3;
    const std::size_t server_number = index_ % servers.size();
    const client::target& server = servers[server_number];
    const bool connected = co_await connect(server);
    if (!connected) {
        return_ticket();
        co_return false;
    }
    ticket_ = {};
    shop_.gate.use();
    const load::steady_time begun = line_.now();
    const guest who{shop_,       line_,
                    examiner_,   plan_.users->at(account_number),
                    random_,     {account_number, server_number},
                    server.where};
    bool fine = !line_.tls().at_once();
    if (!fine) fine = co_await line_.secure();
    if (!fine) {
        // counted already
    } else if (imap) {
        ++shop_.own.tally().imap_connections;
        imap_visit dialogue(who);
        fine = co_await dialogue.run();
    } else {
        pop3_visit dialogue(who);
        fine = co_await dialogue.run();
    }
    line_.took(phase::session, line_.now() - begun);
    examiner_.close();
    line_.end();
    --shop_.own.open_connections();
    if (fine) failures_ = 0;
    co_return fine;
}

asio::awaitable<bool> session::connect(const client::target& server) {
    const load::steady_time begun = steady_clock::now();
    line_.begin(server);
    connecting_ = true;
    net::fault why =
        co_await dialer_.open(server, shop_.next_local_address(), plan_.chosen.timeout);
    connecting_ = false;
    if (why == net::fault::none && plan_.origin.proxy) {
        const net::ip_endpoint from = client::draw_origin(plan_.origin, random_);
        why = co_await client::send_proxy_header(line_.connection(), *plan_.origin.proxy, from);
    }
    if (why != net::fault::none) {
        line_.lost(stage::connect, why);
        line_.end();
        co_return false;
    }
    line_.begin(server);
    line_.tls().choose(random_);
    ++shop_.own.tally().connections;
    ++shop_.own.open_connections();
    line_.took(phase::connect, line_.now() - begun);
    co_return true;
}

// Gently: a dialogue comes to its end by itself; one that waits for nothing in particular is woken
// by the gate.
void session::on_stop(load::stop_kind how) {
    if (how == load::stop_kind::now || connecting_) {
        line_.connection().cancel(net::cancelled_by::stop);
    }
}

}  // namespace postal::rabid
