// SPDX-License-Identifier: GPL-3.0-or-later
// What the kernel is to a program's event loop, without a kernel: sockets, readiness, timers and
// clocks of one thread, which only move on when the loop waits.
//
// Flow:
//   system below(listening);   it is the thread's from here on: calls.cpp asks it, not the kernel
//   below.at(when, what);      for whoever acts beside the program
//   ... the program's own code runs, and comes to its end ...
// A wait performs what is due next, at its time; every look at a clock takes 20 ns. A wait behind
// which nothing would ever happen, and one beyond the limit, throws stuck.
//
// It does what Linux does as far as net::connection, net::poller and Asio's reactor can tell:
// edges (epoll(7)), a socket that has no room and tells when it has, a connection that is being
// made, RST where octets come to who has closed.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <netinet/in.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include "children.hpp"
#include "line.hpp"
#include "listeners.hpp"
#include "memory.hpp"

namespace clients {

using std::chrono::nanoseconds;

struct stuck : std::runtime_error {
    using std::runtime_error::runtime_error;
};

// What a system call that fails gives, with errno.
int failed(int number) noexcept;

class simulated_system {
  public:
    struct listening {
        // Of the connection with that number.
        std::function<line_traits(std::size_t number)> traits;
        // Who answers it; lives until the line is gone.
        std::function<std::unique_ptr<peer>(line&)> server;
        // What the child with that number does.
        std::function<child_traits(std::size_t number)> child{};
        // How the call of accept with that number ends.
        std::function<acceptance(std::size_t number)> accepts{};
    };
    simulated_system(listening who, nanoseconds limit);
    ~simulated_system();
    simulated_system(const simulated_system&) = delete;
    simulated_system& operator=(const simulated_system&) = delete;

    static constexpr int first_descriptor = 1 << 20;
    // The thread's, if there is one.
    static simulated_system* current() noexcept { return current_; }
    [[nodiscard]] bool has(int descriptor) const noexcept { return descriptor >= first_descriptor; }

    [[nodiscard]] nanoseconds now() const noexcept { return now_; }
    nanoseconds look_at_clock() noexcept { return now_ += nanoseconds(20); }
    void at(nanoseconds when, std::function<void()> what);
    // Somebody connects to the program, if it listens.
    void dial(const sockaddr_in& from);

    [[nodiscard]] const std::deque<std::unique_ptr<line>>& lines() const noexcept { return lines_; }
    [[nodiscard]] std::size_t open_descriptors() const noexcept { return open_now_; }
    [[nodiscard]] const std::deque<std::unique_ptr<child_process>>& children() const noexcept {
        return children_;
    }
    [[nodiscard]] const acceptances& accepted() const noexcept { return accepted_; }
    // Of all that has happened, in its order.
    [[nodiscard]] std::uint64_t digest() const noexcept { return digest_; }
    [[nodiscard]] std::uint64_t steps() const noexcept { return steps_; }

    // Before each call: what was to fail until then has, or never does.
    void forget_scarcity() noexcept {
        if (scarce.left >= 0 || scarce.failed) end_scarcity();
    }

    // The calls: as the kernel's, with -1 and errno.
    int make(bool is_epoll);
    int make_timer();
    int make_event(unsigned count);
    int set_timer(int timer, nanoseconds when, bool armed);
    int epoll_control(int epoll, int operation, int which, epoll_event* event);
    int wait(int epoll, epoll_event* events, int most, int milliseconds);
    long read_event(int which, void* into, std::size_t size);
    long write_event(int which, const void* from, std::size_t size);
    int make_socket();
    int listen(int which);
    int accept(int which);
    int connect(int which, const sockaddr* remote, socklen_t size);
    long receive(int which, void* into, std::size_t size, int flags);
    long send(int which, std::span<const iovec> parts);
    int close(int which);
    int shut(int which);
    int pending_error(int which);
    int unread(int which);
    int unsent(int which);
    short polled(int which);
    int remote_of(int which, sockaddr* into, socklen_t* size);
    int make_pipe(int* ends);
    int open_again(int which);
    // Prints to that descriptor; null, and errno, where there is none.
    child_process* start_child(int output, std::string input, std::string recipient);
    child_process* child_of(pid_t pid) noexcept;
    child_process* child_at(int handle) noexcept;
    int signal_child(child_process* who, int signal);
    pid_t reap_child(pid_t pid, int* status);

  private:
    friend class line;

    enum class kind : std::uint8_t { epoll, timer, event, socket, listener, pipe, child };
    struct registration {
        int epoll = 0;
        int which = 0;
        epoll_event event{};
        bool armed = false;  // something has happened since it was told of last
    };
    struct object {
        kind what = kind::event;
        line* of = nullptr;
        std::unique_ptr<listening_socket> listens{};
        bool expired = false;
        std::uint64_t turn = 0;  // of a timer: how often it was set
        std::uint64_t count = 0;
        std::shared_ptr<pipe_between> through{};
        bool writes = false;  // into it
        child_process* process = nullptr;
        std::vector<registration*> watched_by{};
        std::vector<std::unique_ptr<registration>> watches{};  // of an epoll
    };
    struct happening {
        nanoseconds when{0};
        std::uint64_t order = 0;
        std::function<void()> what{};
        // The first to come is the greatest, as heaps have it.
        bool operator<(const happening& other) const noexcept {
            return when != other.when ? when > other.when : order > other.order;
        }
    };

    int add_object(kind what);
    object* find(int which) noexcept;
    // It is there.
    object& object_at(int which) const {
        return *objects_.at(static_cast<std::size_t>(which - first_descriptor));
    }
    line* socket_of(int which) noexcept;
    std::uint32_t ready(const object& one) const noexcept;
    // Something has happened to it.
    void edge(int which);
    int collect(object& epoll, epoll_event* events, int most);
    void forget(registration& one);
    line& new_line(int descriptor, const sockaddr* remote, socklen_t size);
    void establish(line& one);
    int take_first(listening_socket& from);
    void end_scarcity() noexcept;
    void stop_listening(int which);
    void leave_pipe(pipe_between& which);
    long read_pipe(object& from, void* into, std::size_t size);
    void go_on(child_process& who);
    void end_child(child_process& who, int wait_status);
    void note(std::uint64_t what) noexcept;

    static inline thread_local constinit simulated_system* current_ = nullptr;

    listening who_;
    nanoseconds limit_;
    nanoseconds now_{0};
    std::uint64_t order_ = 0;
    std::uint64_t digest_ = 0xcbf29ce484222325U;
    std::uint64_t steps_ = 0;
    std::vector<happening> to_come_;                // a heap
    std::vector<std::unique_ptr<object>> objects_;  // by descriptor; null once closed
    std::size_t open_now_ = 0;
    std::deque<std::unique_ptr<line>> lines_;
    std::deque<std::unique_ptr<child_process>> children_;
    std::vector<int> listeners_;
    std::size_t accept_calls_ = 0;
    acceptances accepted_;
    listening_socket* accepts_now_ = nullptr;
    bool took_somebody_ = false;
};

}  // namespace clients
