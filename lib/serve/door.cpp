#include "serve/door.hpp"

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
constexpr std::string_view house_full = "421 4.3.2 Too many sessions, try again later\r\n";
constexpr std::string_view house_full_text = "more sessions at once than --sessions allows";

}  // namespace

base::expected<std::vector<net::listener>> open_listeners(
    const std::vector<listening_place>& places, asio::io_context& context) {
    std::vector<net::listener> all;
    for (const listening_place& one : places) {
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

base::expected<void> serve_all(load::fleet& workers, std::vector<net::listener>& entrances,
                               reception& front, const serve_guest& serve,
                               load::run_watcher& watcher) {
    const auto attend = [&](net::listener& entrance) -> asio::awaitable<void> {
        door own(entrance, workers, front, serve);
        co_await own.run();
    };
    const auto open_doors = [&](load::worker& own) {
        if (own.index() != 0) return;
        for (net::listener& one : entrances)
            own.spawn(attend(one));
    };
    auto ran = workers.run(open_doors, watcher);
    for (net::listener& one : entrances)
        net::close(one);
    return ran;
}

door::door(net::listener& entrance, load::fleet& workers, reception& front,
           const serve_guest& serve)
    : entrance_(entrance), workers_(workers), first_(workers.at(0)), front_(front), serve_(serve) {
    first_.watch(*this);
}

asio::awaitable<void> door::run() {
    // A stop may have come before this coroutine first ran, when nobody could tell it.
    if (first_.stopping()) on_stop(load::stop_kind::gently);
    while (!closed_) {
        const net::fault waited = co_await net::wait_for_connection(entrance_);
        if (closed_ || waited == net::fault::stopped) co_return;
        net::fault why = net::fault::none;
        for (;;) {
            const net::accepted guest = net::accept_now(entrance_, why);
            if (guest.descriptor < 0) break;
            if (!let_in(guest)) turn_away(guest);
        }
        if (why == net::fault::none) continue;
        first_.tally().errors.add("connect", 0, net::to_text(why), "cannot accept a connection");
        co_await rest();
    }
}

bool door::let_in(const net::accepted& guest) {
    const auto place = front_.take();
    if (!place) return false;
    const visitor who{guest, *place, entrance_.tls};
    const std::size_t turn = front_.next_turn() % workers_.size();
    load::worker& where = workers_.at(turn);
    if (&where == &first_) {
        where.spawn(serve_(turn, who));
    } else {
        asio::post(where.context(),
                   [&where, turn, who, &serve = serve_] { where.spawn(serve(turn, who)); });
    }
    return true;
}

void door::turn_away(const net::accepted& guest) {
    first_.tally().errors.add("connect", 421, "4.3.2", house_full_text);
    if (!entrance_.tls) {  // otherwise it could not be read
        [[maybe_unused]] const auto said = ::send(guest.descriptor, house_full.data(),
                                                  house_full.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    }
    ::close(guest.descriptor);
}

asio::awaitable<void> door::rest() {
    asio::steady_timer timer(first_.context(), rest_time);
    boost::system::error_code ignored;
    co_await timer.async_wait(asio::redirect_error(asio::use_awaitable, ignored));
}

void door::on_stop(load::stop_kind) {
    if (closed_) return;
    closed_ = true;
    net::close(entrance_);
}

}  // namespace postal::serve
