// SPDX-License-Identifier: GPL-3.0-or-later
// What one run is: the options of postal, rabid or bhm, what lies in mailboxes or is sent, what the
// network and the others do wrong. All of it follows from a seed; what happens to a connection, from the seed and its number.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "peers.hpp"
#include "system.hpp"

namespace clients {

// postal, rabid, bhm, lmtp-deliver
enum class client_kind : std::uint8_t { sender, reader, receiver, deliverer };

struct scenario {
    std::uint64_t seed = 0;
    client_kind which = client_kind::reader;
    bool lmtp = false;
    std::vector<std::string> words;  // of the command line, without servers and user list
    unsigned accounts = 1;
    unsigned most_messages = 0;  // in a mailbox when the run begins
    bool exclusive = true;
    bool any_may_go = false;
    bool changes = false;  // some of the mail was changed, which takes long to explain
    bool watches = false;
    bool pauses = false;                 // sessions may be quiet on purpose
    nanoseconds timeout{0};              // of a step
    std::uint64_t tickets = UINT64_MAX;  // messages of postal, connections of rabid
    server_traits traits;
    nanoseconds gently{0};  // when the run is told to end, and when to end at once
    nanoseconds at_once{0};
    bool first_what_is_due = false;  // of an open loop
    double even_rate = 0;            // a second, of one whose arrivals are even
    std::vector<nanoseconds> mail;   // when more comes, to anybody; of a receiver, when clients do
    bool exact = true;               // of a receiver: it refuses nothing
    unsigned broken_lines = 0;       // per cent of connections to which something happens
    unsigned bad_answers = 0;        // per cent of connections with a server that behaves badly
    bool garbage = false;            // and may say what is no answer
    nanoseconds most_latency{0};
    unsigned most_agents = 0;  // at once
    unsigned bad_agents = 0;   // per cent of them
    bool keeps_crlf = false;   // for agents
    nanoseconds agent_timeout{0};
    unsigned most_sessions = 1000;
    unsigned bad_accepts = 0;  // per cent of calls

    [[nodiscard]] bool serves() const noexcept {
        return which == client_kind::receiver || which == client_kind::deliverer;
    }
};

[[nodiscard]] scenario draw(std::uint64_t seed);
[[nodiscard]] child_traits traits_of_agent(const scenario& of, std::size_t number);
[[nodiscard]] acceptance acceptance_of(const scenario& of, std::size_t number);
[[nodiscard]] line_traits traits_of_line(const scenario& of, std::size_t number);
[[nodiscard]] std::vector<bad_answer> bad_answers_of_line(const scenario& of, std::size_t number);
[[nodiscard]] std::string text(const scenario& of);

}  // namespace clients
