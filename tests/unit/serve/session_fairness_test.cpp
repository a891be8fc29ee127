// SPDX-License-Identifier: GPL-3.0-or-later
// Sessions of one worker take turns: a client that sends without end delays others by so many
// commands.
#include "session_play.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

using namespace postal;
using namespace postal::serve::test;

namespace {

constexpr unsigned floods = 4;
constexpr unsigned commands = 3000;
constexpr unsigned commands_a_turn = 256;

// Writes down whose command is run.
class logged_session final : public serve::session {
  public:
    logged_session(serve::worker_context& context, serve::accepted_client&& who, char name,
                   std::string& log)
        : serve::session(context, std::move(who), "mail.example.com"), name_(name), log_(log) {}

  private:
    std::optional<proto::server_reply> judge(const proto::server_step& asked) override {
        if (asked.stage == proto::server_stage::rset) log_ += name_;
        return std::nullopt;
    }
    void end_message() override {}

    const char name_;
    std::string& log_;
};

boost::asio::awaitable<void> serve_one(serve::worker_context& context, serve::accepted_client who,
                                       char name, std::string& log) {
    logged_session session(context, std::move(who), name, log);
    co_await session.run();
}

// The server's end of a connection whose client has said so many RSET already, and then no more.
net::accepted client_with(unsigned said, std::vector<base::file_descriptor>& ends) {
    std::array<int, 2> both{-1, -1};
    REQUIRE(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, both.data()) == 0);
    ends.emplace_back(both[1]);
    std::string text;
    for (unsigned i = 0; i < said; ++i)
        text += "RSET\r\n";
    REQUIRE(::write(both[1], text.data(), text.size()) == static_cast<ssize_t>(text.size()));
    ::shutdown(both[1], SHUT_WR);
    return {base::file_descriptor(both[0]), AF_INET};
}

}  // namespace

TEST_CASE("serve session: four floods of commands cost another client two turns of each at most") {
    serve::session_rules rules = plain_rules();
    rules.server.judges_stages = true;
    rules.server.max_idle_commands = 0;
    std::string log;
    std::vector<base::file_descriptor> clients;
    serve::session_slots slots(floods + 1, {});
    std::optional<serve::worker_context> context;
    load::worker own({.phases = phases},
                     [](load::worker&, std::chrono::nanoseconds, const stats::tally&, bool) {});
    context.emplace(rules, own);
    load::timetable times;
    times.start = std::chrono::steady_clock::now();
    times.first_interval = times.interval = std::chrono::hours(1);
    own.run(times, [&](load::worker&) {
        for (unsigned i = 0; i <= floods; ++i) {
            const bool good = i == floods;
            net::accepted socket = client_with(good ? 1 : commands, clients);
            own.spawn(serve_one(*context, {std::move(socket), *slots.take(), false},
                                good ? 'g' : 'f', log));
        }
    });
    REQUIRE(log.size() == floods * commands + 1);
    CHECK(log.find('g') <= 2 * floods * commands_a_turn);
}
