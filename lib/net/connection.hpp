// SPDX-License-Identifier: GPL-3.0-or-later
// One connected stream socket, TCP or Unix, for clients and servers.
//
// Flow:
//   connection line(context);
//   fault f = co_await line.open(remote, local);       client: connect, TCP_NODELAY
//   fault f = line.adopt(accepted);                    server: take what accept_now() gave
//   if (!line.write_now(parts)) f = co_await line.write_rest(parts);
//   read_result r = co_await line.read_some(buffer);   size 0 and a fault when it is over
//   std::size_t n = line.read_now(buffer);             what is there already, without waiting
//
// A write is first tried without waiting, because nearly every one fits the socket's buffer, and
// suspending costs more than the system call. A read takes what is there when the kernel has said
// that something is.
//
// With start_tls() the same calls carry TLS: what is written is sent as records, what is read has
// been decrypted, octets are counted as they are inside (those of the handshake are not). A
// connection without TLS pays one look at a null pointer for that.
//
// One operation a direction at a time. cancel() ends what waits, with the fault of the one who
// cancelled; after it the connection only closes. No deadline is kept here: the owner calls
// cancel() when its own has passed. Octets are counted in plain fields; when they leave is told to
// whom wants to know it.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "base/file_descriptor.hpp"
#include "net/endpoint.hpp"
#include "net/fault.hpp"
#include "net/gather.hpp"
#include "net/poller.hpp"
#include "net/tls.hpp"

namespace postal::net {

struct read_result {
    std::size_t size = 0;
    fault why = fault::none;
};

// A connection that a listener took from the kernel, for whoever adopts it, in whichever thread.
struct accepted {
    base::file_descriptor descriptor{};
    int family = 0;
};

class connection final : private poller::sender {
  public:
    using time = std::chrono::steady_clock::time_point;

    // Told of octets that have left, which octets_out counts by then. `when` was read just before
    // the system call that took them: read behind it, it would hide what the peer does meanwhile.
    class departures {
      public:
        virtual void octets_left(time when) noexcept = 0;

      protected:
        ~departures() = default;
    };

    explicit connection(asio::io_context& context);
    ~connection() override;

    asio::awaitable<fault> open(const address& remote, const std::optional<address>& local) {
        return wait_until_open(begin_to_open(remote, local));
    }
    fault adopt(accepted from);

    // The handshake, on an open connection on which nothing waits to be written and nothing was
    // read of what comes now. fault::tls: see tls_problem(). An engine that could not be had (null)
    // is fault::resources.
    asio::awaitable<fault> start_tls(std::unique_ptr<tls_engine> engine);
    bool secure() const noexcept { return secured_ != nullptr; }
    // Only when secure().
    tls_facts tls() const;
    std::string channel_binding();      // tls-exporter; empty without TLS 1.3
    std::string peer_identity() const;  // of its verified certificate; empty without
    std::unique_ptr<tls_ticket> tls_ticket_given();
    // What went wrong, after fault::tls, until the next open().
    const net::tls_problem& tls_problem() const noexcept { return tls_problem_; }

    // True when all of it is written or the connection has failed (see last_fault()).
    bool write_now(gather& parts);
    asio::awaitable<fault> write_rest(gather& parts);

    // Takes the parts to be sent together with other connections' output, at the latest when the
    // events that are here by now have been served; false when that cannot be: write_now(). A
    // failure to send is told by the next read. octets_out counts what has really left.
    bool write_soon(gather& parts);

    asio::awaitable<read_result> read_some(std::span<char> into);

    // The same in two steps, for the hot path: something_to_read(), or co_await wait_to_read();
    // then read_ready(), whose size is 0 without a fault when it was a false alarm.
    bool something_to_read() const noexcept { return socket_.readable() || more_inside_; }
    asio::awaitable<void> wait_to_read() { return socket_.wait_readable(); }
    read_result read_ready(std::span<char> into);

    // Octets read without waiting; 0 when there is nothing yet or the peer is gone (the next
    // read_some() tells which).
    std::size_t read_now(std::span<char> into);

    // Calls `act` once when something can be read (or the peer has gone), unless it is taken back
    // by forget(). Not while a read waits.
    template <class Action>
    void when_readable(Action act) {
        socket_.when_readable(std::move(act));
    }
    void forget() { socket_.forget_reader(); }

    void cancel(cancelled_by who) noexcept;
    void close() noexcept;
    // Ends it with RST, leaving no TIME_WAIT behind.
    void reset() noexcept;

    // Null, as at first: nobody, and no clock is read.
    void tell(departures* whom) noexcept { told_ = whom; }

    // Sends what was put off; octets_out is then all that has left.
    void settle();
    // Octets written by the owner, whether they have left or wait to.
    std::uint64_t octets_queued() const noexcept {
        return octets_out + put_off_octets_ + unsent_.size();
    }

    // Of octets_out (with TLS of its records), those that the peer's system has not taken yet.
    std::size_t octets_on_the_way() const noexcept;

    // Says that nothing more will be written; reading goes on.
    void shutdown_output() noexcept;

    // Makes the receive buffer, and so what the peer may send ahead, as small as the kernel allows,
    // at least so many octets.
    void shrink_window(std::uint64_t octets) noexcept;

    bool is_open() const noexcept { return socket_.is_open(); }
    // The peer has closed or reset it, which may not have been read yet.
    bool peer_has_ended() const noexcept { return socket_.ended(); }
    // And could not hear us: it has reset the connection, or closed a Unix socket. Of TCP a close
    // is no more than the end of what the peer says, until something was sent.
    bool peer_is_deaf() const noexcept;
    // What has come and was not read, as far as there is room, and stays to be read. Nothing with
    // TLS.
    std::size_t peek(std::span<char> into) noexcept;
    fault last_fault() const noexcept { return last_fault_; }
    int native() const noexcept { return socket_.native(); }

    std::uint64_t octets_in = 0;
    std::uint64_t octets_out = 0;

  private:
    struct secured;

    int begin_to_open(const address& remote, const std::optional<address>& local) noexcept;
    asio::awaitable<fault> wait_until_open(int asked);
    void send_put_off(std::string_view octets) override;
    fault failed(int error_number) noexcept;
    void broke(int error_number) noexcept;
    fault cancelled() noexcept;
    read_result receive(std::span<char> into) noexcept;

    time before_sending() const noexcept {
        return told_ == nullptr ? time{} : std::chrono::steady_clock::now();
    }
    void left(std::uint64_t octets, time when) noexcept {
        octets_out += octets;
        if (told_ != nullptr && octets > 0) told_->octets_left(when);
    }

    bool write_secured(gather& parts);
    std::size_t send_raw(std::string_view octets);
    void records_left(std::size_t octets, time when) noexcept;
    bool send_records();
    read_result read_secured(std::span<char> into);
    read_result decrypt(std::string_view& input, std::span<char> into);
    fault tls_failed();
    asio::awaitable<fault> shake_hands();
    void say_goodbye() noexcept;

    asio::io_context& context_;
    descriptor socket_;
    departures* told_ = nullptr;
    fault last_fault_ = fault::none;
    cancelled_by cancelled_ = cancelled_by::nobody;
    std::unique_ptr<secured> secured_;  // null without TLS
    net::tls_problem tls_problem_;
    bool more_inside_ = false;  // TLS may have more to be read than the socket shows
    bool put_off_ = false;      // something waits in the poller
    std::size_t put_off_octets_ = 0;
    std::string unsent_;  // of what was put off, what the socket had no room for
};

}  // namespace postal::net
