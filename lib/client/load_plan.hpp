// SPDX-License-Identifier: GPL-3.0-or-later
// What the sessions of a client do alike, whatever they say to their servers: how many there are,
// at which pace they come, where from, how secured, and how patient they are.
//
// Made before the run (program/client_options.hpp); shared by all threads and only read, but for
// the tickets.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "client/auth.hpp"
#include "client/heard_greeting.hpp"
#include "client/stage.hpp"
#include "load/admission.hpp"
#include "load/pace.hpp"
#include "load/run_share.hpp"
#include "load/run_tickets.hpp"
#include "net/allowed_targets.hpp"
#include "net/endpoint.hpp"
#include "net/ip_address.hpp"
#include "net/proxy_header.hpp"
#include "net/tls.hpp"
#include "net/transcript.hpp"
#include "stats/server_greeting.hpp"

namespace postal::client {

// A server, as the command line names it.
struct target {
    net::endpoint where;
    std::vector<net::address> addresses;  // empty when the name is looked up for each connection
    net::allowed_targets allowed{};       // for addresses that come later
    std::shared_ptr<heard_greeting> greeting = std::make_shared<heard_greeting>();
};

// What each of them said first; nothing of one that has said nothing.
std::vector<stats::server_greeting> greetings_of(const std::vector<target>& servers);

// Where a client says that it comes from, so that one machine looks like many: PROXY headers (and,
// in postal, XCLIENT), with addresses drawn from a range.
struct origin {
    bool wanted = false;                      // addresses are drawn at all
    std::optional<net::proxy_version> proxy;  // nothing: no header
    net::address_range addresses;
};

enum class tls_mode : std::uint8_t {
    starttls,  // STARTTLS, STLS: agreed on in the dialogue
    implicit   // from the first octet
};

// Which connections have TLS, and how; handshaker.hpp is what one session does with it.
struct security {
    std::shared_ptr<const net::tls_context> context;  // null: no connection has TLS
    tls_mode mode = tls_mode::starttls;
    unsigned percent = 0;         // of connections have it
    unsigned resume_percent = 0;  // of those try to resume a session
    std::string server_name;      // --tls-sni; empty: the endpoint's host
};

// How long a client waits for each kind of step of a dialogue.
struct timeouts {
    using time = std::chrono::nanoseconds;

    time connect = std::chrono::seconds(60);
    time tls = std::chrono::seconds(60);  // the handshake
    time greeting = std::chrono::seconds(60);
    time command = std::chrono::seconds(60);
    time data = std::chrono::seconds(60);         // to take the message
    time final_reply = std::chrono::seconds(60);  // after it

    static timeouts all(time one) { return {one, one, one, one, one, one}; }

    time longest() const noexcept {
        return std::max({connect, tls, greeting, command, data, final_reply});
    }
    time of(stage where) const noexcept {
        return where == stage::connect  ? connect
               : where == stage::tls    ? tls
               : where == stage::banner ? greeting
               : where == stage::data   ? data
               : where == stage::end    ? final_reply
                                        : command;
    }
};

struct load_plan {
    // `limit`: of the whole run; nullopt: as many tickets as are asked for.
    explicit load_plan(std::optional<std::uint64_t> limit, load::run_share part = {})
        : share(part), tickets(limit ? std::optional(part.part_of(*limit)) : limit) {}

    const load::run_share share;  // of the run; rates, stages and the seed are of the whole
    unsigned sessions = 1;        // of this share, over all servers
    unsigned workers = 1;
    std::optional<load::steady_time> start_at;  // nothing: at once
    double connect_rate = 2000;  // connections opened at the start, or again, a second
    std::atomic<std::int64_t> next_retry_ns{0};  // of the steady clock: when another may try again
    std::optional<load::rate_curve> rate;        // nothing: as fast as servers answer
    load::arrival arrival = load::arrival::constant;
    bool open_loop = false;
    load::run_tickets tickets;
    std::uint64_t seed = 0;
    std::uint64_t run = 0;  // its number, in messages and ledgers
    std::vector<net::address> local_addresses;
    security tls;
    client::origin origin;
    auth_plan auth;
    timeouts patience;
    std::chrono::nanoseconds give_up{0};  // end when for so long there was no progress; 0: never
    net::transcript_options transcripts;

    load::pacing pacing() const {
        if (!rate) return {};
        return {load::schedule(*rate, arrival, seed), open_loop, share};
    }
};

}  // namespace postal::client
