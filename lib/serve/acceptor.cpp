#include "serve/acceptor.hpp"

#include <chrono>
#include <string_view>
#include <utility>

#include <sys/socket.h>
#include <unistd.h>

#include <boost/asio/post.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>

namespace postal::serve {
namespace {

namespace asio = boost::asio;

constexpr auto rest_time = std::chrono::milliseconds(100);
constexpr std::string_view too_many_sessions = "421 4.3.2 Too many sessions, try again later\r\n";
constexpr std::string_view too_many_sessions_text = "more sessions at once than --sessions allows";

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
    const auto accept_on = [&](net::listener& listener) -> asio::awaitable<void> {
        acceptor own(listener, workers, slots, serve);
        co_await own.run();
    };
    const auto start_acceptors = [&](load::worker& own) {
        if (own.index() != 0) return;
        for (net::listener& one : listeners)
            own.spawn(accept_on(one));
    };
    auto ran = workers.run(start_acceptors, watcher);
    for (net::listener& one : listeners)
        net::close(one);
    return ran;
}

acceptor::acceptor(net::listener& listener, load::worker_pool& workers, session_slots& slots,
                   const client_handler& serve)
    : listener_(listener), workers_(workers), first_(workers.at(0)), slots_(slots), serve_(serve) {
    first_.watch(*this);
}

asio::awaitable<void> acceptor::run() {
    // A stop may have come before this coroutine first ran, when nobody could tell it.
    if (first_.stopping()) on_stop(load::stop_kind::gently);
    while (!closed_) {
        const net::fault waited = co_await net::wait_for_connection(listener_);
        if (closed_ || waited == net::fault::stopped) co_return;
        net::fault why = net::fault::none;
        for (;;) {
            const net::accepted client = net::accept_now(listener_, why);
            if (client.descriptor < 0) break;
            if (!hand_over(client)) refuse(client);
        }
        if (why == net::fault::none) continue;
        first_.tally().errors.add("connect", 0, net::to_text(why), "cannot accept a connection");
        co_await rest();
    }
}

bool acceptor::hand_over(const net::accepted& client) {
    const auto session_slot = slots_.take();
    if (!session_slot) return false;
    const accepted_client who{client, *session_slot, listener_.tls};
    const std::size_t turn = slots_.next_turn() % workers_.size();
    load::worker& where = workers_.at(turn);
    if (&where == &first_) {
        where.spawn(serve_(turn, who));
    } else {
        asio::post(where.context(),
                   [&where, turn, who, &serve = serve_] { where.spawn(serve(turn, who)); });
    }
    return true;
}

void acceptor::refuse(const net::accepted& client) {
    first_.tally().errors.add("connect", 421, "4.3.2", too_many_sessions_text);
    if (!listener_.tls) {  // otherwise it could not be read
        [[maybe_unused]] const auto said =
            ::send(client.descriptor, too_many_sessions.data(), too_many_sessions.size(),
                   MSG_NOSIGNAL | MSG_DONTWAIT);
    }
    ::close(client.descriptor);
}

asio::awaitable<void> acceptor::rest() {
    asio::steady_timer timer(first_.context(), rest_time);
    boost::system::error_code ignored;
    co_await timer.async_wait(asio::redirect_error(asio::use_awaitable, ignored));
}

void acceptor::on_stop(load::stop_kind) {
    if (closed_) return;
    closed_ = true;
    net::close(listener_);
}

}  // namespace postal::serve
