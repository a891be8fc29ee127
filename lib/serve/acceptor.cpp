// SPDX-License-Identifier: GPL-3.0-or-later
#include "serve/acceptor.hpp"

#include <chrono>
#include <list>
#include <new>
#include <string_view>
#include <utility>

#include <sys/socket.h>

#include <boost/asio/post.hpp>

namespace postal::serve {
namespace {

namespace asio = boost::asio;

constexpr auto rest_time = std::chrono::milliseconds(100);
constexpr std::string_view too_many_sessions = "421 4.3.2 Too many sessions, try again later\r\n";
constexpr std::string_view too_many_sessions_text = "more sessions at once than --sessions allows";

// In the worker's thread.
void begin(load::worker& where, const client_handler& serve, std::size_t turn,
           accepted_client who) {
    try {
        where.spawn(serve(turn, std::move(who)));
    } catch (const std::bad_alloc&) {
        count_no_memory(where.tally());
    }
}

}  // namespace

base::expected<std::vector<net::listener>> open_listeners(
    const std::vector<listening_endpoint>& endpoints, asio::io_context& context) {
    std::vector<net::listener> all;
    for (const listening_endpoint& one : endpoints) {
        auto opened = net::listen(context, one.where, one.rights);
        if (!opened && !one.required) continue;
        if (!opened) return opened.error();
        for (net::listener& listener : *opened) {
            listener.tls = one.tls;
            all.push_back(std::move(listener));
        }
    }
    return all;
}

base::expected<void> serve_all(load::worker_pool& workers, std::vector<net::listener>& listeners,
                               session_slots& slots, const client_handler& serve,
                               load::run_watcher& watcher) {
    std::vector<load::worker*> each;
    for (std::size_t i = 0; i < workers.size(); ++i)
        each.push_back(&workers.at(i));
    std::list<acceptor> acceptors;
    const auto start_acceptors = [&](load::worker& own) {
        if (own.index() != 0) return;
        for (net::listener& one : listeners)
            acceptors.emplace_back(one, each, slots, serve).wait();
    };
    auto ran = workers.run(start_acceptors, watcher);
    for (net::listener& one : listeners)
        net::close(one);
    return ran;
}

acceptor::acceptor(net::listener& listener, std::span<load::worker* const> workers,
                   session_slots& slots, const client_handler& serve)
    : listener_(listener), workers_(workers), first_(*workers[0]), slots_(slots), serve_(serve) {
    first_.watch(*this);
}

void acceptor::wait() {
    count();
    try {
        net::wait_for_connection(listener_, [this](net::fault why) { ready(why); });
    } catch (const std::bad_alloc&) {
        rest(net::fault::resources);
    }
}

void acceptor::ready(net::fault why) {
    if (closed_ || why == net::fault::stopped) return;
    try {
        if (why == net::fault::none) why = accept_all();
    } catch (const std::bad_alloc&) {
        why = net::fault::resources;
    }
    why == net::fault::none ? wait() : rest(why);
}

// The worker's ticker ends it.
void acceptor::rest(net::fault why) {
    uncounted_ = why;
    count();
    set_deadline(std::chrono::steady_clock::now() + rest_time);
}

// Without memory to count it, the next time.
void acceptor::count() noexcept {
    if (uncounted_ == net::fault::none) return;
    try {
        first_.tally().errors.add("connect", 0, net::to_text(uncounted_),
                                  "cannot accept a connection");
        uncounted_ = net::fault::none;
    } catch (const std::bad_alloc&) {
    }
}

// Until nobody waits any more, or one could not be accepted.
net::fault acceptor::accept_all() {
    net::fault why = net::fault::none;
    for (;;) {
        net::accepted client = net::accept_now(listener_, why);
        if (!client.descriptor.is_open()) return why;
        auto slot = slots_.take();
        if (slot) {
            hand_over(std::move(client), std::move(*slot));
        } else {
            refuse(client);
        }
    }
}

void acceptor::hand_over(net::accepted client, session_slot place) {
    const std::uint64_t came = slots_.next_turn();
    const auto turn = static_cast<std::size_t>(came % workers_.size());
    accepted_client who{std::move(client), std::move(place), listener_.tls, came + 1,
                        &listener_.where};
    load::worker& where = *workers_[turn];
    if (&where == &first_) return begin(where, serve_, turn, std::move(who));
    asio::post(where.context(), [&where, &serve = serve_, turn, who = std::move(who)]() mutable {
        begin(where, serve, turn, std::move(who));
    });
}

void acceptor::refuse(const net::accepted& client) {
    first_.tally().errors.add("connect", 421, "4.3.2", too_many_sessions_text);
    first_.tally().limits.add("sessions");
    if (!listener_.tls) {  // otherwise it could not be read
        [[maybe_unused]] const auto said =
            ::send(client.descriptor.get(), too_many_sessions.data(), too_many_sessions.size(),
                   MSG_NOSIGNAL | MSG_DONTWAIT);
    }
}

void acceptor::on_stop(load::stop_kind) {
    if (closed_) return;
    closed_ = true;
    clear_deadline();
    net::close(listener_);
}

}  // namespace postal::serve
