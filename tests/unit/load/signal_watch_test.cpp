// SPDX-License-Identifier: GPL-3.0-or-later
// Signals are heard whatever becomes of the loop's wake-up.
#include "load/signal_watch.hpp"

#include <catch2/catch.hpp>

#include <vector>

#include "load/loop_check.hpp"

using namespace postal;

namespace {

struct listener {
    boost::asio::io_context loop{1};
    std::vector<int> heard{};
    load::signal_watch signals{loop, [this](int signal) { heard.push_back(signal); }};
};

void (*handler_of(int signal))(int) {
    struct sigaction found {};
    ::sigaction(signal, nullptr, &found);
    return found.sa_handler;
}

}  // namespace

TEST_CASE("signals: one that comes wakes the loop", "[load]") {
    listener one;
    ::raise(SIGTERM);
    one.loop.run_one_for(std::chrono::seconds(10));
    CHECK(one.heard == std::vector{SIGTERM});
    one.signals.look();
    CHECK(one.heard.size() == 1);
}

TEST_CASE("signals: each of several is told, and others when they are asked for", "[load]") {
    listener one;
    one.signals.add(SIGUSR1);
    for (const int signal : {SIGTERM, SIGTERM, SIGUSR1})
        ::raise(signal);
    one.signals.look();
    CHECK(one.heard == std::vector{SIGTERM, SIGTERM, SIGUSR1});
}

TEST_CASE("signals: one whose wake-up went elsewhere is heard at the next look", "[load]") {
    listener outer;
    {
        listener inner;  // the latest is woken
        ::raise(SIGINT);
        CHECK(outer.loop.run_one_for(std::chrono::milliseconds(1)) == 0);
        outer.signals.look();
        CHECK(outer.heard == std::vector{SIGINT});
        CHECK(inner.heard.empty());
    }
    ::raise(SIGINT);
    outer.loop.run_one_for(std::chrono::seconds(10));
    CHECK(outer.heard == std::vector{SIGINT, SIGINT});
}

TEST_CASE("signals: what was there before comes back", "[load]") {
    const auto before = handler_of(SIGTERM);
    {
        const listener one;
        CHECK(handler_of(SIGTERM) != before);
    }
    CHECK(handler_of(SIGTERM) == before);
}

TEST_CASE("loop check: a loop that works is as it was", "[load]") {
    boost::asio::io_context loop(1);
    load::check_loop(loop);
    CHECK(!loop.stopped());
    CHECK(loop.poll() == 0);
}
