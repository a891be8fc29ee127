// SPDX-License-Identifier: GPL-3.0-or-later
// One session of postal's: connection after connection over the simulated network, and on each what
// postal::sender::session says, with the exchange, the message maker and the books of the real one.
//
// The order of things is that of postal/session.cpp and session_mail.cpp, which speak to sockets
// and sleep in coroutines; here a session acts whenever something may have changed for it.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/random.hpp"
#include "client_house.hpp"
#include "opening.hpp"
#include "postal/exchange.hpp"
#include "proto/smtp/capabilities.hpp"
#include "wire.hpp"

namespace simulation {

class client final : public actor {
  public:
    client(client_house& house, std::uint32_t session);

    void act() override;
    [[nodiscard]] bool over() const noexcept { return state_ == state::over; }
    // What it still has in hand, which is nothing at the end of a run.
    [[nodiscard]] bool leaves_something() const noexcept { return exchange_.anything_open(); }

  private:
    enum class state : std::uint8_t {
        resting,
        awaiting_ticket,  // without a connection
        banner,
        hello,
        mail,
        awaiting_next,  // a ticket, with a connection
        quit,
        over
    };
    using fault = wire::fault;
    using answer = wire::answer;

    // Each gives false when there is nothing more to do now.
    bool step();
    bool begin();
    bool await_ticket();
    bool connect();
    bool hear_banner();
    bool hear_hello();
    bool exchange_mail();
    bool await_next();
    bool hear_goodbye();

    bool say(std::string_view command, state then);
    bool say_hello(std::string_view verb);
    bool say_quit(bool fine);
    void begin_mail();
    void compose();
    void compose_once();
    bool write();
    bool hear_replies();
    bool end_mail();
    bool break_off(postal::sender::hearing what);
    bool give_up(fault why);
    bool part();
    bool leave();

    std::uint64_t messages_for_connection();
    void take(postal::load::ticket&& got);
    [[nodiscard]] postal::sender::moment now() const noexcept {
        return {house_.time.now(), since_epoch(house_.time.now())};
    }

    client_house& house_;
    wire wire_;
    postal::sender::exchange exchange_;
    postal::proto::capabilities offered_;
    opening opening_;
    postal::base::random_source random_;
    line_number next_;
    postal::net::gather* output_ = nullptr;  // what is being written
    state state_ = state::resting;
    std::uint64_t begun_ = 0;
    bool says_helo_ = false;
    bool fine_ = false;
};

}  // namespace simulation
