// SPDX-License-Identifier: GPL-3.0-or-later
// A client session's connection as its dialogue uses it: send a text, hear what comes, count what
// fails.
//
// Flow:
//   if (!co_await channel.open(server, random)) ...;      connected, PROXY header sent; or counted
//   co_await channel.secure();                            where TLS is wanted
//   while (co_await channel.send(stage, text) && co_await channel.hear(stage)) ... heard() ...
//   channel.end();
//
// send() and hear() give true while the connection is fine; what broke is counted once, by stage,
// and everything after it gives false at once. heard() is what was read and not yet taken; it lies
// in the worker's buffer, or, across a suspension, in here. Each step has the time that the plan
// gives its stage.
#pragma once

#include <boost/asio/awaitable.hpp>

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "base/error_names.hpp"
#include "base/random.hpp"
#include "client/dialer.hpp"
#include "client/handshaker.hpp"
#include "client/hearing_time.hpp"
#include "client/stage.hpp"
#include "client/worker_context.hpp"
#include "load/watched.hpp"
#include "net/connection.hpp"
#include "net/deflate.hpp"
#include "net/transcript.hpp"

namespace postal::client {

class channel {
  public:
    struct owner {
        load::watched& watched;          // whose deadline is moved forward with every step
        load::turnstile::waiter& place;  // where it waits in pauses
    };
    // The phases of tally::latency in which connecting and handshakes count.
    struct phases {
        std::size_t connect = 0;
        handshake_phases tls{};
    };
    channel(worker_context& shared, owner whose, unsigned session, phases counted);

    asio::awaitable<bool> open(const target& server, base::random_source& random);
    void end();
    void on_stop(load::stop_kind how);

    asio::awaitable<bool> send(stage where, std::string_view text) {
        return send(where, text, text);
    }
    // The same with a secret in it: `shown` is for the transcript.
    asio::awaitable<bool> send(stage where, std::string_view text, std::string_view shown);
    // Waits until something was heard; to be called when heard() is empty. What is heard has the
    // time that client::hearing_time gives it, counted from send(), so whoever knows where
    // responses and answers end says so.
    asio::awaitable<bool> hear(stage where);
    void response_ended() noexcept { hearing_.response_ended(); }
    void answered() noexcept { hearing_.answered(); }
    // Of the answer in hand.
    std::uint64_t octets_of_answer() const noexcept { return hearing_.octets_of_answer(); }
    // The same within the time that the step before has left.
    asio::awaitable<bool> hear_more(stage where);
    // Lets time pass; false when the run stops.
    asio::awaitable<bool> pause(std::chrono::nanoseconds how_long);
    // The same, but ends early when the server says something, or goes.
    asio::awaitable<bool> wait(std::chrono::nanoseconds how_long);

    // The TLS handshake, when the dialogue has come to it; nothing may have been heard beyond.
    asio::awaitable<bool> secure();
    handshaker& tls() noexcept { return tls_; }

    // From now on both directions are compressed (RFC 4978).
    void compress();

    // Whether a greeting or a goodbye is due: when the run stops these get a moment only (of an
    // open loop, where what was due is still begun, their usual time), and no fault of theirs
    // counts. That somebody greets is no progress.
    void set_hurried(bool whether) noexcept { hurried_ = whether; }
    // What is heard is no progress: the same was heard before, and nothing came of it.
    void set_fruitless(bool whether) noexcept { fruitless_ = whether; }
    // From now on the step has the time of its stage.
    void set_deadline_for(stage where);
    // One of session_states().
    std::size_t session_state() const noexcept;

    std::string_view& heard() noexcept { return heard_; }
    net::connection& connection() noexcept { return connection_; }
    net::transcript* transcript() noexcept { return transcript_.get(); }
    const net::endpoint& server() const noexcept { return server_->where; }
    // Where the connection says that it comes from.
    const net::ip_endpoint& origin() const noexcept { return origin_; }
    bool something_to_hear() const noexcept {
        return more_packed_ || connection_.something_to_read();
    }
    load::steady_time now() const noexcept { return now_; }
    // Somebody has just read the clock.
    void set_now(load::steady_time when) noexcept { now_ = when; }
    load::steady_time read_clock() noexcept { return now_ = std::chrono::steady_clock::now(); }
    bool broken() const noexcept { return broken_; }
    // We broke it ourselves, for the run has ended.
    bool stopped() const noexcept { return stopped_; }
    // What was counted first as wrong with this connection, for people; empty when nothing was.
    const std::string& first_problem() const noexcept { return first_problem_; }

    // Something else than the connection is wrong: counted, and the connection is of no more use.
    void give_up(stage where, base::error_name reason, std::string_view sample);
    // From here on there is only a goodbye left, and a server that does not wait for it is at no
    // fault.
    void part() noexcept { parting_ = true; }
    // The server said no.
    void refused(stage where, base::error_name reason, std::string_view said);
    template <class Phase>
    void took(Phase what, std::chrono::nanoseconds time) noexcept {
        shared_.counts().latency[static_cast<std::size_t>(what)].record(time);
    }
    // What the server said first.
    void greeted(std::string_view text) const { server_->greeting->note(text); }
    void lost(stage where, net::fault why);
    stats::tally& counts() noexcept { return shared_.counts(); }

  private:
    void begin(const target& server);
    void keep();
    bool begin_pause();
    bool end_pause() noexcept;
    void count_error(stage where, std::string_view reason, std::string_view sample);
    asio::awaitable<net::fault> connect(const target& server, base::random_source& random);
    asio::awaitable<net::read_result> read();
    net::read_result expand();
    std::chrono::nanoseconds patience_with(stage where) const noexcept;

    worker_context& shared_;
    owner whose_;
    net::connection connection_;
    dialer dialer_;
    handshaker tls_;
    std::size_t connect_phase_;
    std::unique_ptr<net::transcript> transcript_;
    std::string_view heard_;
    std::string kept_;
    std::string first_problem_;
    const target* server_ = nullptr;
    net::ip_endpoint origin_{};
    std::unique_ptr<net::deflate> compression_;
    std::string packed_;        // read, and not expanded yet
    bool more_packed_ = false;  // the last expansion filled its buffer
    load::steady_time now_{};
    hearing_time hearing_;
    stage step_ = stage::connect;  // that the deadline is for
    unsigned reads_in_a_row_ = 0;
    bool connecting_ = false;
    bool open_ = false;
    bool hurried_ = false;
    bool fruitless_ = false;
    bool broken_ = false;
    bool stopped_ = false;
    bool parting_ = false;
};

}  // namespace postal::client
