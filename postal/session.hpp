// One of postal's sessions: connection after connection, and the dialogue on each.
//
// A coroutine that reads like RFC 5321: connect, hear the greeting, say EHLO, authenticate where
// that is wanted (session_auth.cpp), exchange mail, QUIT.
// It lives on one worker until the run stops or the stop rules let no more through. A connection
// that fails is counted under the stage it failed at and tried again after a pause that doubles
// from 100 ms; the ticket it held goes back, because no message was started.
//
// The mail itself is exchange's business; here are the socket, the deadlines and the order of
// things.
#pragma once

#include <boost/asio/awaitable.hpp>

#include <array>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "client/dialer.hpp"
#include "client/handshaker.hpp"
#include "load/turnstile.hpp"
#include "load/watched.hpp"
#include "net/connection.hpp"
#include "net/transcript.hpp"
#include "postal/books.hpp"
#include "postal/exchange.hpp"
#include "postal/workshop.hpp"
#include "proto/capabilities.hpp"
#include "proto/reply_parser.hpp"
#include "sasl/conversation.hpp"

namespace postal {

class session final : public load::watched {
  public:
    // `index` counts over the whole run, and says which server is this session's.
    session(workshop& shop, unsigned index);

    boost::asio::awaitable<void> run();

    void on_deadline() override { line_.cancel(net::cancelled_by::deadline); }
    void on_stop(load::stop_kind how) override;

  private:
    // How a step of the dialogue went. What failed has been counted already.
    enum class step : std::uint8_t { done, refused, failed };
    // What a stop finds: a connection in the making ends at once, one without mail in flight has a
    // moment to say QUIT, mail in flight is finished.
    enum class state : std::uint8_t { connecting, greeting, exchanging, waiting, quitting };

    boost::asio::awaitable<bool> wait_to_open();
    boost::asio::awaitable<bool> may_connect();
    bool keeps_connections() const noexcept;
    void return_ticket();
    boost::asio::awaitable<void> back_off();

    boost::asio::awaitable<bool> converse();
    boost::asio::awaitable<bool> connect();
    boost::asio::awaitable<bool> talk();
    boost::asio::awaitable<step> shake_hands();
    boost::asio::awaitable<step> hear_greeting();
    boost::asio::awaitable<step> start_tls();
    boost::asio::awaitable<step> say_xclient();
    boost::asio::awaitable<step> say_ehlo();
    boost::asio::awaitable<step> say_hello(std::string_view verb);
    boost::asio::awaitable<step> authenticate();
    boost::asio::awaitable<step> converse(sasl::conversation& talk);
    step refused(const sasl::conversation& talk);
    step agreed(sasl::conversation& talk);
    boost::asio::awaitable<step> exchange_mail();
    boost::asio::awaitable<step> wait_for_next();
    boost::asio::awaitable<step> say_quit();

    boost::asio::awaitable<step> send_text(stage where, std::string_view text) {
        return send_text(where, text, text);
    }
    // The same with a secret in it: `shown` is for the transcript.
    boost::asio::awaitable<step> send_text(stage where, std::string_view text,
                                           std::string_view shown);
    boost::asio::awaitable<step> read_reply(stage where);
    step hear_replies();
    step judge(stage where);
    step give_up(net::fault why);
    bool offers_what_is_needed();
    void set_deadline_for(stage what);
    void count_fault(stage where, net::fault why);
    std::uint64_t messages_for_connection();

    workshop& shop_;
    const plan& plan_;
    const client::target& target_;
    books books_;
    net::connection line_;
    exchange exchange_;
    load::turnstile::waiter place_;
    client::dialer dialer_;
    client::handshaker tls_;
    net::ip_endpoint origin_;  // where the connection in hand says it comes from
    proto::reply_parser parser_;
    proto::capabilities offered_;
    sasl::mechanism_set mechanisms_;       // that the server offers
    std::optional<std::uint32_t> sender_;  // who has logged in, where mail is to be from him
    std::string_view heard_;               // of inbox_, not parsed yet
    std::array<char, 1024> inbox_{};
    load::ticket ticket_;
    load::steady_time now_{};
    base::random_source random_;
    unsigned index_;
    unsigned failures_ = 0;  // connections in a row that brought nothing
    state state_ = state::connecting;
    std::unique_ptr<net::transcript> transcript_;
};

}  // namespace postal
