// SPDX-License-Identifier: GPL-3.0-or-later
// Everything that is chosen for one simulated run: what is sent and how, what the network and the
// servers are like, and what goes wrong where.
//
// draw.hpp makes it from a seed; besides that seed nothing else is random but what network and
// messages draw from sources of their own, by (seed, connection). So a scenario from which a fault
// is taken away is the same run in all else, as far as the fault had no part in it, which is what
// lets shrink.hpp find what matters. Plain data.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "postal/options.hpp"
#include "proto/smtp/server_stage.hpp"
#include "proto/smtp/stage_effect.hpp"

namespace simulation {

using std::chrono::nanoseconds;

enum class side : std::uint8_t { client, server };

// One connection of the run: the session that opens it, and its number in that session.
struct line_number {
    std::uint32_t session = 0;
    std::uint32_t connection = 0;

    bool operator==(const line_number&) const = default;
};

// What the network does to a connection when so many octets from one side have arrived.
enum class loss : std::uint8_t {
    closed,   // both sides find it closed
    reset,    // both find it reset, and what they have not read is gone
    silence,  // nothing from that side arrives any more, not even its end
    stall     // what is behind them comes so much later
};
struct network_fault {
    line_number where;
    side from = side::client;
    std::size_t at = 0;
    loss what = loss::closed;
    nanoseconds lasts{};
};

// What a server does at a stage of a connection when it comes to it for the nth time, or each time.
// At the end of a message over LMTP each recipient is one time.
struct server_fault {
    static constexpr std::uint32_t each_time = std::numeric_limits<std::uint32_t>::max();

    line_number where;
    postal::proto::server_stage stage = postal::proto::server_stage::mail;
    std::uint32_t nth = 0;
    std::uint16_t code = 0;  // 0: the usual reply
    nanoseconds delay{};
    postal::proto::cut close = postal::proto::cut::no;
    bool no_memory = false;  // for any of that: the session ends
};

// The agents behind a server that is lmtp-deliver.
struct agent_rules {
    std::uint32_t slots = 1;
    std::uint32_t longest_queue = 100;
    std::uint32_t a_recipient = 1;
    nanoseconds longest_wait = std::chrono::minutes(1);
    nanoseconds timeout = std::chrono::minutes(5);
    nanoseconds lasts = std::chrono::milliseconds(10);  // an agent that nothing is wrong with

    bool operator==(const agent_rules&) const = default;
};

// What becomes of the nth agent that is started.
enum class agent_way : std::uint8_t {
    ends,         // with a status
    is_killed,    // by a signal that is not ours
    hangs,        // until it is asked to end
    is_stubborn,  // until it is killed
    stays,        // whatever is done
    not_started
};
struct agent_fault {
    std::uint32_t nth = 0;
    agent_way how = agent_way::ends;
    std::uint8_t status = 0;
    bool delivers = true;  // whatever it says
    bool talks = false;
    nanoseconds lasts{};
};

// What is heard in the place of a connection's nth reply.
enum class lie : std::uint8_t {
    other_code,  // of a class that the command cannot have, or of another one
    swallowed,
    doubled,  // as if it answered the next command too, which may not have been said
    garbage,
    endless_line,
    endless_reply,
    mixed_codes
};
struct lying_reply {
    line_number where;
    std::uint32_t nth = 0;
    lie how = lie::other_code;
    std::uint16_t code = 0;
};

// What happens to an accepted message behind the reply that accepted it.
enum class harm : std::uint8_t {
    lost,
    twice,
    changed,
    elsewhere,
    vanishes  // from its mailbox, some time later
};
struct harmed_message {
    std::uint32_t session = 0;
    std::uint64_t sequence = 0;
    harm how = harm::lost;
};

// When a reader looks into a mailbox, and how far it comes.
struct reader_visit {
    static constexpr std::uint32_t never = std::numeric_limits<std::uint32_t>::max();

    nanoseconds when{};
    std::uint32_t mailbox = 0;  // of the user with that number
    bool imap = false;
    bool refused = false;
    std::uint32_t breaks_behind = never;  // so many messages
    unsigned download_percent = 100;
    unsigned delete_percent = 0;
};

struct scenario {
    std::uint64_t seed = 0;

    bool lmtp = false;
    postal::sender::pipelining pipelining = postal::sender::pipelining::automatic;
    bool chunking = false;
    std::uint32_t in_flight = 1;
    std::uint32_t least_recipients = 1;
    std::uint32_t most_recipients = 1;
    std::uint32_t kind_of_messages = 0;  // its place in apparatus.cpp
    std::uint32_t sessions = 1;
    std::uint64_t messages = 1;
    std::int64_t messages_a_connection = 1;
    double rate = 0;  // messages a second; 0: as fast as servers answer
    bool open_loop = false;
    bool poisson = false;

    bool offers_pipelining = true;
    bool offers_chunking = true;
    bool offers_8bit = true;
    nanoseconds client_timeout = std::chrono::seconds(60);
    nanoseconds server_timeout = std::chrono::seconds(300);
    nanoseconds message_time = std::chrono::hours(1);
    std::uint64_t min_data_rate = 500;
    std::uint32_t max_recipients = 1000;
    bool tight_limits = false;  // of a server, for what a client of ours does not do

    nanoseconds latency = std::chrono::milliseconds(1);
    nanoseconds jitter{};
    bool chops = false;        // octets arrive, are read and are taken in pieces of any length
    std::size_t room = 65536;  // octets of a direction that are under way or not read

    std::vector<network_fault> losses;
    std::vector<server_fault> refusals;
    std::vector<lying_reply> lies;
    std::vector<harmed_message> harms;
    std::optional<agent_rules> agents;  // over LMTP; else the servers are bhm
    std::vector<agent_fault> agent_faults;
    std::vector<reader_visit> visits;  // none: the servers are sinks that see what they take
    // Since the run's start.
    std::optional<nanoseconds> stop_gently;
    std::optional<nanoseconds> stop_now;
    std::optional<nanoseconds> servers_stop;
};

}  // namespace simulation
