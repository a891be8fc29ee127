// SPDX-License-Identifier: GPL-3.0-or-later
// What the sessions of one worker share: buffers, the rules of all sessions, and the worker.
//
// One thread's own; nothing in it is locked. The buffers are used by the session that runs at the
// moment and hold nothing whenever one suspends, so that ten thousand idle sessions need no more of
// them than one. What stands in `input` is gone with the next read of anybody; the output is lent
// (shared_output.hpp). A program derives its own worker context from this for what its sessions
// share beside.
#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "load/worker.hpp"
#include "net/connection.hpp"
#include "net/ip_address.hpp"
#include "proto/smtp/server.hpp"
#include "serve/held_octets.hpp"
#include "serve/shared_output.hpp"

namespace postal::serve {

using stage_delays = std::array<std::chrono::nanoseconds, proto::server_stage_count>;

// The same for all sessions of a run.
struct session_rules {
    proto::server_config server;
    std::chrono::nanoseconds timeout = std::chrono::minutes(5);  // of silence
    // Of clients over a network; whoever comes over a Unix socket is trusted. 0: no limit.
    std::uint64_t min_data_rate = 500;                              // octets of content a second
    std::chrono::nanoseconds message_time = std::chrono::hours(1);  // from MAIL on
    unsigned sessions_per_address = 0;
    bool counts_loopback = false;         // among these
    std::shared_ptr<held_octets> held{};  // of unfinished mail; null: no limit
    std::size_t data_phase = 0;           // the phases of tally::latency in which sessions count
    std::size_t message_phase = 0;
    std::size_t tls_phase = 0;  // full handshakes
    std::size_t tls_resumed_phase = 0;
    // How long the reply of each stage is held back.
    stage_delays delays{};
    std::shared_ptr<const net::tls_context> tls{};  // for those who want it; null without
    // Whoever connects from here begins with a PROXY header.
    std::vector<net::address_range> proxies{};

    // Whether any reply may have to wait.
    bool may_hold_back() const noexcept {
        return server.judges_stages ||
               std::any_of(delays.begin(), delays.end(), [](auto one) { return one.count() > 0; });
    }
};

struct worker_context {
    static constexpr std::size_t input_size = 64 * 1024;

    worker_context(const session_rules& common, load::worker& worker)
        : rules(common), own(worker) {}
    worker_context(const worker_context&) = delete;
    worker_context& operator=(const worker_context&) = delete;

    const session_rules& rules;
    load::worker& own;
    std::array<char, input_size> input{};
    shared_output output;
};

}  // namespace postal::serve
