// SPDX-License-Identifier: GPL-3.0-or-later
// What is known of a run before it starts: who runs, with what, when and for how long.
//
// Plain data that the program fills once and every printer reads; a part of run_report. The phases'
// order is that of tally::latency; message_phase is the index of the one that the log and the
// intervals show. Nothing here fails.
#pragma once

#include "base/host.hpp"
#include "stats/counters.hpp"
#include "stats/run_labels.hpp"
#include "stats/sample_threshold.hpp"
#include "stats/server_greeting.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace postal::stats {

// What an option was set to: one text, several where it may be repeated, or what was counted.
using option_value = std::variant<std::string, std::vector<std::string>, std::uint64_t>;

// What a verb of a profile is wanted for: how often at the beginning and at the end of each
// session, and how often beside the others that are drawn.
struct wanted_action {
    std::string verb;
    double weight = 0;
    std::uint64_t first = 0;
    std::uint64_t last = 0;

    [[nodiscard]] bool wanted() const noexcept { return weight > 0 || first > 0 || last > 0; }
};

struct wanted_profile {
    std::string name;
    std::uint64_t least_actions = 0;  // that are drawn in a session
    std::uint64_t most_actions = 0;
    std::vector<wanted_action> actions;  // the order is that of tally::actions
};

struct run_description {
    std::string program;  // "postal"
    std::string version;
    std::vector<std::string> argv;
    run_labels labels;
    std::uint64_t seed = 0;
    std::chrono::system_clock::time_point started{};
    std::chrono::nanoseconds interval = std::chrono::seconds{60};
    std::chrono::nanoseconds warmup{};
    bool align_minutes = false;
    std::vector<std::string> phases;
    std::size_t message_phase = 0;
    // Of an open loop: the phase that counts from when something was due, and ranks all that was.
    std::optional<std::size_t> due_phase;
    // The phase that is this one over again unless the loop is open.
    std::optional<std::size_t> service_phase;
    unsigned workers = 1;
    unsigned ranks = 1;  // processes that are this run together; a rank's own record is of one
    // Of a run with a rate: the messages (of a reader visits) that it asks for until so many
    // seconds after the start.
    std::function<double(double)> asked;
    unsigned together = 1;    // messages that begin together at most: when the last is due
    bool transcript = false;  // -z, -Z or -a slowed the run down
    bool serves = false;      // a server: it may be that its replies are not heard
    // Of a server: the options that limit what clients do, whose strikes tally::limits counts; and
    // of --max-held how many octets are held now, and may be.
    std::vector<std::string> limits;
    std::function<std::uint64_t()> held;
    std::uint64_t most_held = 0;
    bool defers = false;            // a server that may refuse recipients for now on purpose
    bool reads_mail = false;        // a reader: POP3 and IMAP connections, deletions
    bool checks_integrity = false;  // verified, foreign, corrupt, duplicate mean something
    bool ends_mail = false;         // a sink: bounces and stored messages mean something
    bool runs_agents = false;       // tally::agents means something
    std::size_t agent_phase = 0;    // from an agent's start to its end; only with runs_agents
    std::string tls_library;        // "OpenSSL 3.0.15"; empty: a run without TLS
    std::map<std::string, option_value> options;  // the effective ones, by long name
    base::host_info host;
    // Of a client: what its servers said first, so far.
    std::function<std::vector<server_greeting>()> greetings;
    // What a session may be at, most_session_states at most; people and --metrics see how many are.
    // Those without a name are other programs'.
    std::vector<std::string> session_states;
    // The kinds of tally::commands; none where they mean nothing.
    std::vector<std::string> commands;
    // Of a reader that follows one over IMAP.
    std::optional<wanted_profile> profile;
    counter_rows counters = all_counters();
    std::vector<sampled_name> sampled;  // figures beside the run, as far as their names are known

    [[nodiscard]] bool open_loop() const noexcept { return due_phase.has_value(); }
    // What is due in an open loop: messages are sent, visits read them.
    [[nodiscard]] std::string_view what_is_due() const noexcept {
        return reads_mail ? "visits" : "messages";
    }
    // The rate is a cap, which sessions that are busy stay below.
    [[nodiscard]] bool capped() const noexcept { return asked && !open_loop(); }
    // What became of those of the due phase that have a time.
    [[nodiscard]] std::string_view what_counts() const noexcept {
        return reads_mail ? "successful" : "accepted";
    }
    // For people, behind the number: a reader's mail is read.
    [[nodiscard]] std::string_view title_of(const counter& one,
                                            std::uint64_t count) const noexcept {
        return reads_mail && one.value == &counts::messages ? "read" : one.title_of(count);
    }
    [[nodiscard]] bool shows_phase(std::size_t phase) const noexcept {
        return open_loop() || phase != service_phase;
    }
    // Whether the counter means something in this run.
    [[nodiscard]] bool has(const counter& one) const noexcept {
        switch (one.by) {
            case counted_by::open_loops:
                return open_loop();
            case counted_by::servers:
                return serves;
            case counted_by::deferrers:
                return defers;
            case counted_by::readers:
                return reads_mail;
            case counted_by::checkers:
                return checks_integrity;
            case counted_by::sinks:
                return ends_mail;
            case counted_by::all:
                break;
        }
        return true;
    }
};

}  // namespace postal::stats
