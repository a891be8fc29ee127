// SPDX-License-Identifier: GPL-3.0-or-later
// Readiness of many sockets, for the coroutines of one thread: an edge-triggered epoll set inside
// Asio's.
//
// Asio's own reactor reads speculatively before it waits, a system call in vain for each reply of a
// dialogue, and dispatches each completion through its queue: together a quarter of what a plain
// SMTP transaction costs. Here a coroutine reads once for each event and is resumed straight from
// the batch. Timers, signals, posts and the resolver stay Asio's, whose loop sees the whole set as
// one descriptor (docs/adr/0005).
//
// Flow, in the thread that runs the io_context:
//   descriptor d; d.open(context, fd)                takes the descriptor, non-blocking
//   if (!d.readable()) co_await d.wait_readable();   then recv(); after a short read not_readable()
//   d.cancel()                                       resumes whoever waits, through Asio's queue
//   d.close()
//
// Output may be put off to the end of a batch (put_off()): the peer then wakes once for the answers
// to several events instead of once for each, and waking is the dearest part of a short send
// (docs/adr/0013).
//
// A peer that hangs up makes the socket readable for good: the next system call tells why. One
// waiter a direction. Fails only when epoll cannot be had (open() says so).
#pragma once

#include <boost/asio/async_result.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/execution_context.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include <sys/epoll.h>
#include <sys/uio.h>

namespace postal::net {

// What resumes a coroutine that waits: a completion handler of Asio's, whatever its type, without
// an allocation.
class resumption {
  public:
    resumption() = default;
    resumption(const resumption&) = delete;
    resumption& operator=(const resumption&) = delete;
    ~resumption() { drop(); }

    template <class Handler>
    void hold(Handler handler) {
        static_assert(sizeof(Handler) <= room && alignof(Handler) <= alignof(std::max_align_t));
        ::new (static_cast<void*>(storage_.data())) Handler(std::move(handler));
        act_ = [](void* held, bool resume) {
            auto* kept = std::launder(static_cast<Handler*>(held));
            Handler taken(std::move(*kept));
            kept->~Handler();
            if (resume) std::move(taken)();
        };
    }
    bool waiting() const noexcept { return act_ != nullptr; }
    // Does nothing when nobody waits.
    void resume() { act(true); }
    void drop() { act(false); }

  private:
    // For a coroutine's, and for lambdas that hold as much as a few pointers.
    using of_coroutine = boost::asio::async_result<boost::asio::use_awaitable_t<>, void()>;
    static constexpr std::size_t room =
        std::max(sizeof(of_coroutine::handler_type), 3 * sizeof(void*));

    void act(bool resume) {
        if (act_ != nullptr) std::exchange(act_, nullptr)(storage_.data(), resume);
    }

    alignas(std::max_align_t) std::array<std::byte, room> storage_;
    void (*act_)(void*, bool) = nullptr;
};

class descriptor;

// One for each io_context, found by asio::use_service.
class poller final : public boost::asio::execution_context::service {
  public:
    static boost::asio::execution_context::id id;

    explicit poller(boost::asio::execution_context& context);
    ~poller() override;

    // What is to be sent for a descriptor when the batch, or its next few events, are through.
    class sender {
      public:
        virtual ~sender() = default;
        virtual void send_put_off(std::string_view octets) = 0;
    };
    // Copies the parts; false when no batch is being served or they are too many: send now.
    bool put_off(sender& whose, std::span<const iovec> parts, std::size_t octets);
    // Sends all that was put off.
    void send_all();

  private:
    friend class descriptor;

    void shutdown() override;
    int add(descriptor& one);  // 0 or an errno value; unchanged where it throws
    void remove(descriptor& one) noexcept;
    void arm();
    void serve();
    // Resumes whoever waits for it from Asio's queue, unless it is closed before.
    void wake(descriptor& one);
    void resume_woken();

    static constexpr std::size_t batch_size = 128;
    static constexpr std::size_t room_put_off = 256 * 1024;

    struct letter {
        sender* whose;
        std::size_t begin;
        std::size_t size;
    };

    boost::asio::io_context& context_;
    int epoll_;
    boost::asio::posix::stream_descriptor watch_;
    std::size_t registered_ = 0;
    bool armed_ = false;
    std::size_t batch_next_ = 0;  // of the batch that is being served
    std::size_t batch_end_ = 0;
    std::array<epoll_event, batch_size> batch_{};
    bool serving_ = false;
    std::vector<descriptor*> woken_;
    std::vector<letter> letters_;
    std::unique_ptr<char[]> letter_text_;  // made when the first is put off
    std::size_t letter_end_ = 0;
};

class descriptor {
  public:
    descriptor() = default;
    descriptor(const descriptor&) = delete;
    descriptor& operator=(const descriptor&) = delete;
    ~descriptor() { close(); }

    // Takes `fd`, also when it fails; 0 or an errno value.
    int open(boost::asio::io_context& context, int fd) noexcept;
    void close() noexcept;
    bool is_open() const noexcept { return fd_ >= 0; }
    poller& of() noexcept { return *of_; }
    int native() const noexcept { return fd_; }

    bool readable() const noexcept { return readable_; }
    // The peer will send no more: an end or an error is there to be read, maybe behind other
    // octets.
    bool ended() const noexcept { return ended_; }
    void not_readable() noexcept { readable_ = ended_; }
    void not_writable() noexcept { writable_ = false; }

    boost::asio::awaitable<void> wait_readable() {
        return boost::asio::async_initiate<const boost::asio::use_awaitable_t<>, void()>(
            [this](auto handler) { reader_.hold(std::move(handler)); }, boost::asio::use_awaitable);
    }
    boost::asio::awaitable<void> wait_writable() {
        return boost::asio::async_initiate<const boost::asio::use_awaitable_t<>, void()>(
            [this](auto handler) { writer_.hold(std::move(handler)); }, boost::asio::use_awaitable);
    }
    // The same for an owner that is no coroutine: `act` is called once, from the batch, unless the
    // descriptor is readable already, which the caller must look at first.
    template <class Action>
    void when_readable(Action act) {
        reader_.hold(std::move(act));
    }
    // Takes that back.
    void forget_reader() { reader_.drop(); }
    bool writable() const noexcept { return writable_; }
    // Resumes both waiters, not from within this call.
    void cancel();
    // Resumes the reader if one waits, not from within this call: there is something to be told.
    void alert();
    // Resumes the reader, who stopped before everything was read, not from within this call.
    void look_again() { of_->wake(*this); }
    // Whoever has octets left that did not fit the socket; called when there is room.
    void set_leftover(poller::sender* whose) noexcept { leftover_ = whose; }

  private:
    friend class poller;

    void on_events(std::uint32_t events);

    poller* of_ = nullptr;
    int fd_ = -1;
    bool readable_ = false;
    bool writable_ = false;
    bool ended_ = false;
    poller::sender* leftover_ = nullptr;
    resumption reader_;
    resumption writer_;
};

}  // namespace postal::net
