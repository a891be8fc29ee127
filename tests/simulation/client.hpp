// One session of postal's: connection after connection over the simulated network, and on each what
// postal::sender::session says, with the exchange, the message maker and the books of the real one.
//
// The order of things is that of postal/session.cpp and session_mail.cpp, which speak to sockets
// and sleep in coroutines; here a session acts whenever something may have changed for it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "base/random.hpp"
#include "gate.hpp"
#include "network.hpp"
#include "postal/exchange.hpp"
#include "proto/smtp/capabilities.hpp"
#include "proto/smtp/reply_parser.hpp"
#include "record.hpp"
#include "scenario.hpp"
#include "timeline.hpp"

namespace simulation {

// A new connection, as its client gets it; without one where nobody listens.
struct dialled {
    connection* line = nullptr;
    connection_record* truth = nullptr;
};

// What all of them have in common.
struct client_house {
    const scenario& of;
    timeline& time;
    const postal::sender::plan& plan;
    postal::sender::message_maker& maker;
    postal::sender::message_outcomes& outcomes;
    simulation::gate& gate;
    const postal::stats::tally& counts;
    const transcript& shown;
    std::function<dialled(line_number)> dial;
    bool stopping = false;
    bool stopped_now = false;
};

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
    enum class fault : std::uint8_t { none, closed, reset, timeout, stopped };
    enum class answer : std::uint8_t { nothing_yet, positive, negative, failed };

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
    answer read_reply();
    std::string_view read();
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

    [[nodiscard]] fault trouble() const;
    void be_patient() { deadline_ = house_.time.now() + house_.of.client_timeout; }
    std::uint64_t messages_for_connection();
    void take(postal::load::ticket&& got);
    [[nodiscard]] bool in_hand() const noexcept { return ticket_.what == postal::load::pass::go; }
    [[nodiscard]] std::size_t octets_out() const { return line_->from(side::client).said().size(); }
    [[nodiscard]] postal::sender::moment now() const noexcept {
        return {house_.time.now(), since_epoch(house_.time.now())};
    }

    client_house& house_;
    postal::sender::exchange exchange_;
    postal::proto::reply_parser parser_;
    postal::proto::capabilities offered_;
    gate::waiter place_;
    postal::base::random_source random_;
    line_number next_;
    connection* line_ = nullptr;
    connection_record* truth_ = nullptr;
    postal::net::gather* output_ = nullptr;
    postal::load::ticket ticket_;
    state state_ = state::resting;
    std::string unsaid_;  // of a command
    steady_time deadline_ = steady_time::max();
    steady_time since_{};  // it rests until then, or waits since then
    std::uint64_t begun_ = 0;
    unsigned failures_ = 0;
    bool says_helo_ = false;
    bool first_line_ = true;
    bool writing_ = false;
    bool fine_ = false;
};

}  // namespace simulation
