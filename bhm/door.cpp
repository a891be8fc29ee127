#include "bhm/door.hpp"

#include <chrono>
#include <utility>

#include <sys/socket.h>
#include <unistd.h>

#include <boost/asio/post.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "bhm/session.hpp"

namespace postal::bhm {
namespace {

namespace asio = boost::asio;

constexpr auto rest_time = std::chrono::milliseconds(100);
constexpr std::string_view house_full = "421 4.3.2 Too many sessions, try again later\r\n";
constexpr std::string_view house_full_text = "more sessions at once than --sessions allows";

}  // namespace

base::expected<std::vector<net::listener>> open_listeners(const plan& plan,
                                                          asio::io_context& context) {
    std::vector<net::listener> all;
    for (const listening_place& one : plan.places) {
        auto opened = net::listen(context, one.where);
        if (!opened && !one.required) continue;
        if (!opened) return opened.error();
        for (net::listener& listener : *opened)
            all.push_back(std::move(listener));
    }
    return all;
}

asio::awaitable<void> attend(net::listener& entrance, std::vector<std::unique_ptr<room>>& rooms,
                             reception& front) {
    door own(entrance, rooms, front);
    co_await own.run();
}

door::door(net::listener& entrance, std::vector<std::unique_ptr<room>>& rooms, reception& front)
    : entrance_(entrance), rooms_(rooms), front_(front) {
    rooms_.front()->own.watch(*this);
}

asio::awaitable<void> door::run() {
    // A stop may have come before this coroutine first ran, when nobody could tell it.
    if (rooms_.front()->own.stopping()) on_stop(load::stop_kind::gently);
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
        rooms_.front()->own.tally().errors.add("connect", 0, net::to_text(why),
                                               "cannot accept a connection");
        co_await rest();
    }
}

bool door::let_in(const net::accepted& guest) {
    const auto place = front_.take();
    if (!place) return false;
    room& where = *rooms_[front_.next_turn() % rooms_.size()];
    const visitor who{guest, *place};
    if (&where == rooms_.front().get()) {
        where.own.spawn(serve(where, who));
    } else {
        asio::post(where.own.context(), [&where, who] { where.own.spawn(serve(where, who)); });
    }
    return true;
}

void door::turn_away(const net::accepted& guest) {
    rooms_.front()->own.tally().errors.add("connect", 421, "4.3.2", house_full_text);
    [[maybe_unused]] const auto said =
        ::send(guest.descriptor, house_full.data(), house_full.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    ::close(guest.descriptor);
}

asio::awaitable<void> door::rest() {
    asio::steady_timer timer(rooms_.front()->own.context(), rest_time);
    boost::system::error_code ignored;
    co_await timer.async_wait(asio::redirect_error(asio::use_awaitable, ignored));
}

void door::on_stop(load::stop_kind) {
    if (closed_) return;
    closed_ = true;
    net::close(entrance_);
}

}  // namespace postal::bhm
