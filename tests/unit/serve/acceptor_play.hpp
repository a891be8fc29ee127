// SPDX-License-Identifier: GPL-3.0-or-later
// Servers whose sessions only hold their clients, and clients with blocking calls.
#pragma once

#include "serve/acceptor.hpp"

#include <catch2/catch.hpp>

#include <array>
#include <cerrno>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <sys/socket.h>
#include <sys/time.h>

#include "../temporary_folder.hpp"
#include "base/file_descriptor.hpp"

namespace acceptor_play {

using namespace postal;
namespace asio = boost::asio;

struct last_counts final : load::run_watcher {
    void on_time_slice(const stats::time_slice& time_slice) override {
        for (const stats::error_entry& one : time_slice.counts.errors.entries()) {
            errors.push_back(std::to_string(one.count) + "x " + one.stage + " " +
                             std::to_string(one.code) + " " + one.detail);
        }
    }
    void on_live(const stats::live_state&) override {}
    std::vector<std::string> errors;
};

class folder {
  public:
    std::string socket() const { return path_ / "socket"; }
    serve::listening_endpoint endpoint() const {
        return {*net::parse_endpoint("unix:" + socket(), 0)};
    }

  private:
    test::temporary_folder path_;
};

// A client with blocking calls, which give up in the end.
class client {
  public:
    explicit client(const net::address& where)
        : socket_(::socket(where.protocol().family(), SOCK_STREAM | SOCK_CLOEXEC, 0)) {
        const timeval long_enough{30, 0};
        setsockopt(socket_.get(), SOL_SOCKET, SO_RCVTIMEO, &long_enough, sizeof long_enough);
        const auto size = static_cast<socklen_t>(where.size());
        problem_ = ::connect(socket_.get(), where.data(), size) == 0 ? 0 : errno;
    }
    int problem() const noexcept { return problem_; }
    void say(char what) const { ::send(socket_.get(), &what, 1, MSG_NOSIGNAL); }
    // The next so many octets, or fewer when the server closes.
    std::string hear(std::size_t octets) const {
        std::string heard(octets, '\0');
        std::size_t size = 0;
        while (size < octets) {
            const ssize_t got = ::recv(socket_.get(), heard.data() + size, octets - size, 0);
            if (got <= 0) break;
            size += static_cast<std::size_t>(got);
        }
        heard.resize(size);
        return heard;
    }
    std::string hear_all() const { return hear(1000); }
    void say_no_more() const { ::shutdown(socket_.get(), SHUT_WR); }

  private:
    base::file_descriptor socket_;
    int problem_ = 0;
};

// Says "hello" to its client, keeps it and its slot until the client says no more, says "stop" when
// the run is to end.
class holder final : public load::watched {
  public:
    holder(load::worker& own, serve::accepted_client who)
        : slot_(std::move(who.where)), line_(own.context()) {
        own.watch(*this);
        line_.adopt(std::move(who.socket));
    }
    asio::awaitable<void> run() {
        say("hello");
        std::array<char, 16> buffer{};
        net::read_result got{};
        while (got.why == net::fault::none) {
            got = co_await line_.read_some(buffer);
        }
    }
    void on_deadline() override {}
    void on_stop(load::stop_kind) override { say("stop"); }

  private:
    void say(std::string_view text) {
        net::gather parts;
        parts.add(text);
        line_.write_now(parts);
    }

    const serve::session_slot slot_;
    net::connection line_;
};

inline asio::awaitable<void> hold(load::worker& own, serve::accepted_client who) {
    holder one(own, std::move(who));
    co_await one.run();
}

// A server with as many workers and slots.
struct server {
    server(unsigned worker_count, unsigned slot_count, const serve::listening_endpoint& where)
        : slots(slot_count, {}), workers({.workers = worker_count, .serves = true}) {
        auto opened = serve::open_listeners({where}, workers.at(0).context());
        REQUIRE(opened.has_value());
        listeners = std::move(*opened);
        for (unsigned i = 0; i < worker_count; ++i)
            each_worker.push_back(&workers.at(i));
    }
    const net::address& where() const { return listeners.front().where; }
    void stop() { workers.stop(load::stop_kind::gently); }

    serve::session_slots slots;
    load::worker_pool workers;
    std::vector<load::worker*> each_worker;
    std::vector<net::listener> listeners;
    serve::client_handler holding = [this](std::size_t worker, serve::accepted_client who) {
        return hold(workers.at(worker), std::move(who));
    };
    last_counts counted;
};

}  // namespace acceptor_play
