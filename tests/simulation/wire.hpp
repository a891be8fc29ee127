// SPDX-License-Identifier: GPL-3.0-or-later
// A connection as a session of postal uses it: what it hears and says under a deadline, and single
// commands with their replies, as client::channel has them over sockets.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "client_house.hpp"
#include "proto/smtp/capabilities.hpp"
#include "proto/smtp/reply_parser.hpp"

namespace simulation {

class wire {
  public:
    enum class fault : std::uint8_t { none, closed, reset, timeout, stopped };
    enum class answer : std::uint8_t { nothing_yet, positive, negative, failed };

    explicit wire(client_house& house) : house_(house) {}

    // False where nobody listens.
    bool open(const line_number& number, actor& who);
    void close();
    [[nodiscard]] const connection& line() const noexcept { return *line_; }
    [[nodiscard]] connection_record& truth() noexcept { return *truth_; }

    void be_patient();
    void wait_for_ever() noexcept { deadline_ = steady_time::max(); }
    [[nodiscard]] steady_time deadline() const noexcept { return deadline_; }
    // Why nothing more comes; `none`: it may.
    [[nodiscard]] fault trouble() const;

    void say(std::string_view command);
    // The rest of the command, and then one reply to the end of its last line. `greeting`: its
    // lines but the first are what the server offers.
    answer read_reply(postal::proto::capabilities* greeting = nullptr);
    [[nodiscard]] int code() const noexcept { return parser_.code(); }

    std::string_view read();
    std::size_t write(std::string_view octets);
    [[nodiscard]] std::size_t octets_out() const { return line_->from(side::client).said().size(); }
    // It goes on as if nothing had happened.
    [[nodiscard]] bool quiet() const {
        return !line_->may_have_gone(side::client) && line_->from(side::server).unread() == 0;
    }

  private:
    client_house& house_;
    connection* line_ = nullptr;
    connection_record* truth_ = nullptr;
    postal::proto::reply_parser parser_;
    std::string unsaid_;  // of a command
    steady_time deadline_ = steady_time::max();
    bool first_line_ = true;
};

}  // namespace simulation
