// SPDX-License-Identifier: GPL-3.0-or-later
// Sends the bounces of one worker through a relay (--bounce-via), one after the other, with the
// null reverse-path (RFC 5321 4.5.5).
//
// Flow: bouncer b(route, worker); b.add(bounce)... at any time in the worker's thread
//
// One connection, opened with the first bounce and kept while there are more; SMTP without
// PIPELINING and TLS. It is a session of the worker's while it has work, so that after a gentle
// stop what waits is sent within the grace; a stop at once ends it. What the relay defers, or loses
// the connection over, is tried three times, with pauses of one and five seconds; a bounce whose
// connection broke behind its data may arrive twice.
//
// Counts bounces_sent and bounces_failed, and of what failed why, as an error of the stage
// "bounce": what the relay said, how the connection failed, "full" (there was no room to wait),
// "stopped".
// Bounded: most_waiting bounces and most_octets of them wait. Replies have a minute each.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/steady_timer.hpp>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>

#include "bhm/bounce_route.hpp"
#include "load/watched.hpp"
#include "load/worker.hpp"
#include "net/connection.hpp"
#include "proto/smtp/capabilities.hpp"
#include "proto/smtp/reply_parser.hpp"

namespace postal::bhm {

struct bounce {
    std::string forward_path;  // whose message it was; without brackets
    std::string text;          // the whole message, with CRLF
};

class bouncer final : public load::watched {
  public:
    static constexpr std::size_t most_waiting = 1000;
    static constexpr std::size_t most_octets = std::size_t{16} * 1024 * 1024;

    // Both must outlive it.
    bouncer(const bounce_route& route, load::worker& own);

    void add(bounce one);
    const bounce_route& route() const noexcept { return route_; }
    // A number that no other bounce of the run has.
    std::uint64_t fresh_number() noexcept;

    void on_deadline() override;
    void on_stop(load::stop_kind how) override;

  private:
    // What became of one attempt.
    enum class attempt : std::uint8_t { sent, refused, not_now };
    // Of a reply its code, enhanced code and text, else a reason.
    struct failure {
        int code = 0;
        std::string detail{};
        std::string text{};
    };

    boost::asio::awaitable<void> run();
    boost::asio::awaitable<void> send_all();
    boost::asio::awaitable<void> send_first();
    boost::asio::awaitable<attempt> try_first();
    boost::asio::awaitable<bool> open();
    boost::asio::awaitable<bool> connect();
    boost::asio::awaitable<bool> greet();
    boost::asio::awaitable<attempt> say_mail();
    boost::asio::awaitable<void> quit();
    boost::asio::awaitable<void> pause(std::chrono::nanoseconds how_long);

    // One command and its reply; false when the connection is of no more use.
    boost::asio::awaitable<bool> ask(std::string_view command);
    boost::asio::awaitable<bool> hear();

    attempt refused_now();
    bool lost(net::fault why);
    void ended(attempt how);
    void count_failed();
    void fail_for_memory();

    const bounce_route& route_;
    load::worker& own_;
    net::connection line_;
    proto::reply_parser parser_;
    proto::capabilities offered_;
    std::deque<bounce> waiting_;  // the first is being sent
    std::size_t octets_ = 0;      // of those that wait
    std::uint64_t made_ = 0;
    std::array<char, 4096> inbox_{};
    std::string_view heard_;  // in inbox_, not yet taken
    boost::asio::steady_timer timer_;
    failure why_{};  // of the last attempt that failed
    bool hearing_ehlo_ = false;
    bool open_ = false;
    bool running_ = false;
    bool stopped_ = false;
};

}  // namespace postal::bhm
