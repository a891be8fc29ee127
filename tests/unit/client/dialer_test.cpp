// SPDX-License-Identifier: GPL-3.0-or-later
#include "client/dialer.hpp"

#include <catch2/catch.hpp>

#include <chrono>
#include <string>

#include "net/listener.hpp"

using namespace postal;
using namespace std::chrono_literals;

namespace {

class patient final : public load::watched {
  public:
    void on_deadline() override {}
    void on_stop(load::stop_kind) override {}
};

asio::awaitable<void> dial(client::dialer& with, const client::target& server, net::fault& result) {
    result = co_await with.open(server, std::nullopt, 10s);
}

// What a session's attempt to connect ends with.
net::fault dialled(const client::target& server) {
    net::fault result = net::fault::other;
    load::worker one({.phases = 1},
                     [](load::worker&, std::chrono::nanoseconds, const stats::tally&, bool) {});
    load::run_tickets stock(std::nullopt);
    load::turnstile gate(one, stock, {});
    load::turnstile::waiter place(one);
    patient deadline;
    net::connection line(one.context());
    client::dialer with({one, gate, place, deadline}, line);
    const load::timetable times{
        .start = std::chrono::steady_clock::now(), .first_interval = 1h, .interval = 1h};
    one.run(times, [&](load::worker& own) { own.spawn(dial(with, server, result)); });
    CHECK_FALSE(one.looks_up());  // so nobody waits for anything at its end
    return result;
}

// As if the name had another address now than at the start.
client::target looked_up_anew(const std::string& host, std::uint16_t port) {
    client::target server;
    server.where.text = server.where.host = host;
    server.where.port = port;
    server.where.fresh_lookup = true;
    return server;
}

}  // namespace

TEST_CASE("dialer: a name that is looked up anew must have allowed addresses only") {
    asio::io_context context;
    const auto place = net::parse_endpoint("127.0.0.1:0", 0);
    auto listening = net::listen(context, *place);
    REQUIRE(listening.has_value());
    const auto bound = net::to_text(listening->front().where);
    const auto port = net::parse_endpoint(bound, 0)->port;

    CHECK(dialled(looked_up_anew("127.0.0.1", port)) == net::fault::none);
    CHECK(dialled(looked_up_anew("192.0.2.1", port)) == net::fault::not_allowed);
    CHECK(dialled(looked_up_anew("::ffff:192.0.2.1", port)) == net::fault::not_allowed);
    CHECK(net::to_text(net::fault::not_allowed) == "not_allowed");
}
