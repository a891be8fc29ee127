// SPDX-License-Identifier: GPL-3.0-or-later
#include "serve/suspension.hpp"

#include <catch2/catch.hpp>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/steady_timer.hpp>

#include <chrono>
#include <exception>

using namespace postal;
using what = serve::suspension::what;
namespace asio = boost::asio;

namespace {

const proto::server_config config{};

}  // namespace

TEST_CASE("suspension: who awaits answers is woken, and nobody else") {
    asio::io_context io;
    serve::suspension of(io);
    const proto::smtp_server machine(config, "mail.example.com");
    bool awake = false;
    of.wake();
    asio::co_spawn(io, of.sleep_until_woken(), [&](std::exception_ptr) { awake = true; });
    io.poll();
    CHECK(of.is(what::awaiting_answers));
    CHECK(serve::session_states().at(of.shown(machine)) == "delivery");
    of.cut_short();  // ends what is held back for a time
    io.poll();
    CHECK_FALSE(awake);
    of.wake();
    io.poll();
    CHECK(awake);
    CHECK(of.is(what::nothing));
    CHECK(serve::session_states().at(of.shown(machine)) == "idle");
}

TEST_CASE("suspension: what is held back is cut short, and not woken") {
    asio::io_context io;
    serve::suspension of(io);
    asio::steady_timer timer(io, std::chrono::hours(1));
    bool cut = false;
    timer.async_wait([&](const boost::system::error_code& error) { cut = !!error; });
    of.begin(what::held_back, &timer);
    of.wake();
    io.poll();
    CHECK_FALSE(cut);
    of.cut_short();
    io.poll();
    CHECK(cut);
    of.end();
    of.cut_short();  // nothing is held back any more
    CHECK(of.is(what::nothing));
}
