// SPDX-License-Identifier: GPL-3.0-or-later
// One of postal's sessions: connection after connection, and the dialogue on each.
//
// A coroutine that reads like RFC 5321: connect, hear the greeting, say EHLO, authenticate where
// that is wanted (session_auth.cpp), exchange mail (session_mail.cpp), QUIT. It lives on one worker
// until the run stops or the stop rules let no more through.
//
// When connections are opened is opening's business, what is sent and read channel's, and the mail
// itself exchange's; here is the order of things.
#pragma once

#include <boost/asio/awaitable.hpp>

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/random.hpp"
#include "client/channel.hpp"
#include "client/login.hpp"
#include "client/opening.hpp"
#include "load/watched.hpp"
#include "postal/exchange.hpp"
#include "postal/worker_context.hpp"
#include "proto/smtp/capabilities.hpp"
#include "proto/smtp/reply_parser.hpp"

namespace postal::sender {

class session final : public load::watched, private net::connection::departures {
  public:
    // `index` counts over the whole run, and says which server is this session's.
    session(worker_context& of, unsigned index);
    ~session() override { channel_.connection().tell(nullptr); }

    asio::awaitable<void> run();

    void on_deadline() override {
        if (!still_takes_output()) channel_.connection().cancel(net::cancelled_by::deadline);
    }
    void on_stop(load::stop_kind how) override { channel_.on_stop(how); }
    std::optional<std::size_t> session_state() const noexcept override {
        return channel_.session_state();
    }

  private:
    // How a step of the dialogue went. What failed has been counted already.
    enum class step : std::uint8_t { done, refused, failed };

    void octets_left(load::steady_time when) noexcept override;
    bool still_takes_output();
    bool stopping() const noexcept { return shared_.own.stopping(); }
    void abandon() noexcept;
    asio::awaitable<void> go_on();
    bool connects_without_ticket() const noexcept;
    asio::awaitable<bool> may_connect();
    asio::awaitable<bool> converse();
    asio::awaitable<bool> talk();
    asio::awaitable<step> introduce();
    asio::awaitable<step> hear_greeting();
    asio::awaitable<step> start_tls();
    asio::awaitable<step> say_xclient();
    asio::awaitable<step> say_ehlo();
    asio::awaitable<step> say_hello(std::string_view verb);
    asio::awaitable<step> authenticate();
    asio::awaitable<step> converse(client::login& mine);
    void miss_dsn_once();
    void miss(std::string_view what);
    std::uint64_t messages_for_connection();

    asio::awaitable<step> exchange_mail();
    void compose();
    bool write_at_once(net::gather& output);
    asio::awaitable<net::fault> write_rest(net::gather& output);
    asio::awaitable<step> wait_for_next();
    step hear_replies(std::string_view octets);
    step give_up(net::fault why);

    asio::awaitable<step> say_quit();
    asio::awaitable<void> part();
    asio::awaitable<step> ask(stage where, std::string_view command) {
        return ask(where, command, command);
    }
    // The same with a secret in it: `shown` is for the transcript.
    asio::awaitable<step> ask(stage where, std::string_view command, std::string_view shown);
    asio::awaitable<step> read_reply(stage where);
    step judge(stage where);
    reply said() const { return {parser_.code(), parser_.text()}; }

    worker_context& context_;
    client::worker_context& shared_;
    const plan& plan_;
    const client::target& target_;
    client::opening opening_;
    client::channel channel_;
    exchange exchange_;
    proto::reply_parser parser_;
    proto::capabilities offered_;
    sasl::mechanism_set mechanisms_;       // that the server offers
    std::optional<std::uint32_t> sender_;  // who has logged in, where mail is to be from him
    base::random_source random_;
    // At the last missed deadline: octets_out, and those that the server's system had not taken.
    std::uint64_t looked_at_ = 0;
    std::size_t on_the_way_ = 0;
};

}  // namespace postal::sender
