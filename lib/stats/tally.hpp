// SPDX-License-Identifier: GPL-3.0-or-later
// What one worker counted in one time slice.
//
// A plain struct that only its own thread writes; at a time slice's end the worker hands it over to
// be merged, and clears it.
//
// latency has one histogram a phase; the index is the program's own enum, the names stand in
// run_description. A tally with n phases is about (n + 3) * 20.5 KiB. Nothing here fails.
#pragma once

#include "base/host.hpp"
#include "stats/agent_counts.hpp"
#include "stats/command_counts.hpp"
#include "stats/counters.hpp"
#include "stats/error_table.hpp"
#include "stats/histogram.hpp"
#include "stats/named_counts.hpp"
#include "stats/tls_counts.hpp"
#include "stats/trial_counts.hpp"

#include <chrono>
#include <cstddef>
#include <optional>
#include <tuple>
#include <vector>

namespace postal::stats {

// What a worker thread did with its time.
struct worker_time : base::thread_time {
    double connected_s = 0;  // how long each of its connections was open, added up

    void add_time(const worker_time& other) noexcept;
};

struct tally : counts, worker_time {
    explicit tally(std::size_t phases) : latency(phases) {}

    std::vector<histogram> latency;
    // Of an open loop: how long each message that was due and not accepted (of a reader each visit
    // that was due and not successful) had waited when it ended, or when the run stopped.
    histogram unserved;
    histogram slip;       // how late sessions were let through that waited for the schedule
    histogram loop_late;  // how late the worker's ticks came, those that it missed too
    error_table errors;
    named_counts authentications;  // that succeeded, by SASL mechanism
    agent_counts agents;           // of servers that run programs to deliver
    tls_counts tls;                // of runs with TLS
    command_counts commands;       // of readers over IMAP, by kind
    action_counts actions;         // of their profile, by verb
    // Of a closed loop with a rate: how long messages were due and no session was free for them.
    std::chrono::nanoseconds all_busy{};
    // When the first message was accepted: of the steady clock, until the worker hands it over as
    // the time since the start.
    std::optional<std::chrono::nanoseconds> first_accepted;
    // Of servers: limits that clients have struck, by the option that sets them.
    named_counts limits;
    // What was asked for and the peer does not offer, for each connection; the text names the
    // option.
    named_counts not_offered;
    trial_counts trial;  // of a search of the highest rate
    // A part of a new kind stands in tally_parts, too.

    void accepted(std::uint64_t number, std::chrono::steady_clock::time_point when) noexcept;
    // With error_events.
    [[nodiscard]] counts counted() const noexcept;
    // Adds the other's counts; its phases must be as many as ours.
    void merge(const tally& other);
    // Nothing was counted: no message, no connection, no error.
    [[nodiscard]] bool empty() const noexcept;
    // Back to zero, keeping the memory.
    void clear() noexcept;
};

// What is merged, cleared and told to the rank that leads, beside the counts, the phases and the
// time: a time is added up, one that may be unknown is the earliest.
inline constexpr std::tuple tally_parts{&tally::unserved,
                                        &tally::slip,
                                        &tally::loop_late,
                                        &tally::errors,
                                        &tally::authentications,
                                        &tally::agents,
                                        &tally::tls,
                                        &tally::commands,
                                        &tally::actions,
                                        &tally::all_busy,
                                        &tally::first_accepted,
                                        &tally::limits,
                                        &tally::not_offered,
                                        &tally::trial};

}  // namespace postal::stats
