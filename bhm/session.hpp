// One client's session: bytes from the socket through the state machine, and back.
//
// serve() is the coroutine; it reads, lets session::process() run the commands that have come,
// sends all their replies at once, and waits. process() stops early only to hold a reply back
// (--delay), to send a full buffer, or to close. While replies cannot be sent nothing is read, so
// that a client which never reads cannot make memory grow.
//
// What it counts: started messages (LMTP: recipients) end as accepted, rejected, deferred, failed
// (lost before their end) or in doubt (lost while their reply was held back). Every refusal is an
// error by stage and code, and so is every end without QUIT.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/steady_timer.hpp>

#include "bhm/room.hpp"
#include "load/watched.hpp"
#include "mail/message_checker.hpp"
#include "net/connection.hpp"
#include "proto/smtp_server.hpp"

namespace postal::bhm {

struct visitor {
    net::accepted socket;
    place where;
};

class session final : public load::watched {
  public:
    session(room& here, const visitor& who);
    ~session() override;

    // Both end what the session waits for.
    void on_deadline() override;
    void on_stop(load::stop_kind how) override;

    boost::asio::awaitable<void> run();

  private:
    enum class next : std::uint8_t { read, flush, hold, close, stop };
    // Whether the connection is closed behind what is sent: it must not be put off then.
    enum class closing_after : std::uint8_t { no, yes };

    // A message between its end and the moment when its reply is due.
    struct verdict_due {
        std::uint64_t octets = 0;
        std::uint32_t recipients = 0;
        std::uint32_t units = 0;  // the message, or in LMTP each of its recipients
        mail::verdict found = mail::verdict::foreign;
    };

    boost::asio::awaitable<void> let_others_run();
    boost::asio::awaitable<void> greet();
    boost::asio::awaitable<void> hold_back();
    boost::asio::awaitable<void> pause(std::chrono::nanoseconds how_long);
    boost::asio::awaitable<void> send_slowly();

    bool read_input();
    void keep_input();
    next process();
    next act_on(const proto::server_step& step, std::size_t before);
    bool at_rest() const;
    bool send_now(closing_after close = closing_after::no);
    void hang_up();

    void begin_message();
    void end_message();
    void answer_message();
    void message_refused(const proto::server_step& step);
    void count_refusal(const proto::server_step& step);
    void count_answered();
    void lost(net::fault why);
    void drop_message();
    void close_politely(const proto::server_reply& last_words);

    stats::tally& tally() noexcept { return here_.own.tally(); }
    std::chrono::nanoseconds delay_at(proto::server_stage stage) const noexcept {
        return here_.of_run.server.actions[static_cast<std::size_t>(stage)].delay;
    }

    room& here_;
    place place_;
    net::connection line_;
    proto::smtp_server machine_;
    std::string_view input_;  // what is left of the last read: in here_.input or kept_
    std::string kept_;        // input and output across a suspension
    std::string unsent_;
    std::string held_;  // a reply whose time has not come
    std::chrono::nanoseconds hold_for_{0};
    std::optional<verdict_due> due_;
    std::unique_ptr<mail::message_checker> checker_;
    boost::asio::steady_timer* pausing_ = nullptr;
    load::steady_time now_{};
    load::steady_time mail_at_{};
    load::steady_time data_at_{};
    std::uint32_t begun_ = 0;  // units of the message that is coming in
    unsigned reads_in_a_row_ = 0;
    bool reading_ = false;  // suspended, waiting for the client
    bool writing_ = false;
    bool closing_ = false;
    bool stopped_now_ = false;
};

boost::asio::awaitable<void> serve(room& here, visitor who);

}  // namespace postal::bhm
