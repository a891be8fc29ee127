// SPDX-License-Identifier: GPL-3.0-or-later
// The programs that have a part of a search's trials, as the program that searches deals with them:
// each joins it at a Unix socket (joined_search.hpp is its side) and says what its part is. They
// are on one host and under one clock, so that times are the same for all.
//
// Flow, in the main thread:
//   auto beside = search_partners::open(sockets);    listens; only the same user can join
//   beside->assemble(patience)                       blocks until all have; fails with one line
//   beside->start(when)
//   while the run goes on: poll() every few milliseconds; begin_trial()
//   beside->end(why)                                 the run is over: so is theirs
// Partners are not trusted: what cannot be read, a connection that ends, and silence lose the
// partner, and with it the search, which on_lost says in one line, once.
#pragma once

#include "base/result.hpp"
#include "cluster/words.hpp"
#include "load/trial.hpp"
#include "net/parcels.hpp"
#include "program/search_flow.hpp"
#include "stats/capacity/goal.hpp"
#include "stats/run_report.hpp"

#include <chrono>
#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace postal::program {

class search_partners {
  public:
    static constexpr auto longest_wait = std::chrono::seconds(60);
    static constexpr auto lost_after = std::chrono::seconds(10);
    static constexpr std::size_t most = 8;

    // Of as many as there are sockets, in their order.
    static base::expected<search_partners> open(const std::vector<std::string>& sockets);
    base::expected<void> assemble(std::chrono::nanoseconds patience);

    // What their parts are, and what they promise, as of flows from 1 on.
    [[nodiscard]] std::vector<search_flow::plan> flows() const;
    [[nodiscard]] std::vector<capacity::goal> goals() const;

    // Of the steady clock.
    void start(std::chrono::steady_clock::time_point when);
    struct events {
        std::function<void(const stats::time_slice&, std::size_t flow)> on_time_slice;
        std::function<void(const std::string&)> on_lost;
    };
    void attach(events what) { events_ = std::move(what); }
    void begin_trial(std::size_t flow, const load::trial& next);
    void poll();
    [[nodiscard]] bool any_lost() const noexcept { return lost_; }
    // Only once.
    void end(const cluster::stop& why);

  private:
    struct member {
        std::string socket{};
        std::optional<net::parcel_door> door{};  // until it has joined
        std::optional<net::parcel_line> line{};
        cluster::joins said{};
        bool joined = false;
        std::chrono::steady_clock::time_point heard{};
    };

    search_partners() = default;
    base::expected<void> look_at_door(member& of);
    void hear(std::size_t which);
    void lose(const member& which, const std::string& why);

    std::vector<member> members_;
    events events_;
    bool lost_ = false;
    bool ended_ = false;
};

}  // namespace postal::program
