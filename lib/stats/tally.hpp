// What one worker counted in one piece of time.
//
// A plain struct that only its own thread writes; at a piece's end the collector swaps it for a
// cleared one and merges it. Every started message ends in exactly one outcome:
//     started == messages + rejected + deferred + failed + in_doubt   once nothing is in flight.
// errors.total() is the number of error events (also those that hit no message, such as a refused
// connection), so it is not the sum of the outcomes.
//
// phases has one histogram a phase; the index is the program's own enum, the names stand in
// run_description. A tally with n phases is about (n + 1) * 15.5 KiB. Nothing here fails.
#pragma once

#include "stats/agent_counts.hpp"
#include "stats/error_table.hpp"
#include "stats/histogram.hpp"
#include "stats/named_counts.hpp"
#include "stats/tls_counts.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace postal::stats {

struct tally {
    explicit tally(std::size_t phases) : latency(phases) {}

    std::uint64_t started = 0;     // messages (over LMTP: recipients) begun
    std::uint64_t messages = 0;    // accepted: 2xx after the data (LMTP: each accepted recipient)
    std::uint64_t recipients = 0;  // accepted recipients
    std::uint64_t bytes = 0;       // octets of the messages accepted
    std::uint64_t connections = 0;
    std::uint64_t tls_connections = 0;
    std::uint64_t rejected = 0;  // 5xx
    std::uint64_t deferred = 0;  // 4xx
    std::uint64_t failed = 0;    // before the data was complete
    std::uint64_t in_doubt = 0;  // connection lost between the end of the data and its reply
    // Due by an open-loop schedule when the run ended, and never begun; no part of started.
    std::uint64_t not_started = 0;
    std::uint64_t verified = 0;  // what a receiver found out about messages with our identity
    std::uint64_t foreign = 0;
    std::uint64_t corrupt = 0;
    std::uint64_t duplicate = 0;
    std::uint64_t original = 0;  // mail of the original postal
    std::uint64_t imap_connections = 0;
    std::uint64_t deleted = 0;          // for good: the server has confirmed it
    std::uint64_t delete_in_doubt = 0;  // asked for, and the connection was lost before that
    std::vector<histogram> latency;
    histogram slip;  // how late the generator's own timers and schedule were
    error_table errors;
    named_counts authentications;     // that succeeded, by SASL mechanism
    agent_counts agents;              // of servers that run programs to deliver
    tls_counts tls;                   // of runs with TLS
    std::chrono::nanoseconds busy{};  // CPU time of the worker thread in this piece
    std::chrono::nanoseconds wall{};  // and the piece's length as that thread saw it

    // Adds the other's counts; its phases must be as many as ours.
    void merge(const tally& other);
    // Nothing was counted: no message, no connection, no error.
    [[nodiscard]] bool empty() const noexcept;
    // Back to zero, keeping the memory.
    void clear() noexcept;
};

}  // namespace postal::stats
