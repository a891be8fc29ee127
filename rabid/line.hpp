// A session's connection as its dialogues use it: send a text, hear what comes, count what fails.
//
// send() and hear() give true while the connection is fine; what broke is counted once, by stage,
// and everything after it gives false at once. heard() is what was read and not yet taken; it lies
// in the worker's buffer, or, across a suspension, in here.
#pragma once

#include <boost/asio/awaitable.hpp>

#include <chrono>
#include <memory>
#include <string>
#include <string_view>

#include "client/handshaker.hpp"
#include "client/target.hpp"
#include "load/watched.hpp"
#include "net/connection.hpp"
#include "net/deflate.hpp"
#include "net/transcript.hpp"
#include "rabid/phases.hpp"
#include "rabid/workshop.hpp"

namespace postal::rabid {

class line {
  public:
    struct owner {
        load::watched& watched;          // whose deadline is moved forward with every step
        load::turnstile::waiter& place;  // where it waits in pauses
    };
    line(workshop& shop, owner whose, unsigned session);

    void begin(const client::target& server);
    void end();

    boost::asio::awaitable<bool> send(stage where, std::string_view text) {
        return send(where, text, text);
    }
    // The same with a secret in it: `shown` is for the transcript.
    boost::asio::awaitable<bool> send(stage where, std::string_view text, std::string_view shown);
    // Waits until something was heard; to be called when heard() is empty.
    boost::asio::awaitable<bool> hear(stage where);
    // Lets time pass; false when the run stops.
    boost::asio::awaitable<bool> pause(std::chrono::nanoseconds how_long);

    // The same, but ends early when the server says something, or goes.
    boost::asio::awaitable<bool> wait(std::chrono::nanoseconds how_long);

    // The TLS handshake, when the dialogue has come to it; nothing may have been heard beyond.
    boost::asio::awaitable<bool> secure();
    client::handshaker& tls() noexcept { return tls_; }

    // From now on both directions are compressed (RFC 4978).
    void compress();

    std::string_view& heard() noexcept { return heard_; }
    net::connection& connection() noexcept { return connection_; }
    bool something_to_hear() const noexcept {
        return more_packed_ || connection_.something_to_read();
    }
    load::steady_time now() const noexcept { return now_; }
    bool broken() const noexcept { return broken_; }

    // Something else than the connection is wrong: counted, and the connection is of no more use.
    void give_up(stage where, std::string_view reason, std::string_view sample);
    // The server said no.
    void refused(stage where, std::string_view reason, std::string_view said);
    void took(phase what, std::chrono::nanoseconds time) noexcept;
    void lost(stage where, net::fault why);

  private:
    void keep();
    boost::asio::awaitable<net::read_result> read();
    net::read_result expand();

    workshop& shop_;
    load::watched& watched_;
    load::turnstile::waiter& place_;
    net::connection connection_;
    client::handshaker tls_;
    std::unique_ptr<net::transcript> transcript_;
    std::string_view heard_;
    std::string kept_;
    const client::target* server_ = nullptr;
    std::unique_ptr<net::deflate> compression_;
    std::string packed_;        // read, and not expanded yet
    bool more_packed_ = false;  // the last expansion filled its buffer
    load::steady_time now_{};
    unsigned reads_in_a_row_ = 0;
    bool broken_ = false;
};

}  // namespace postal::rabid
