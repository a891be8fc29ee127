// SPDX-License-Identifier: GPL-3.0-or-later
// What is counted, and the one description of each counter.
//
// `counts` holds the numbers; all_counters() has a row for each of them, in the order of the log's
// columns, and everything that shows, stores or judges counters goes through the rows: merging, the
// interval log, the run record in both directions, thresholds, the summary, and postal-report's
// CSV, tables and remarks. A new counter is a member here and its row in counters.cpp; a member
// without a row does not compile. What uses rows takes them from the run description or as an
// argument.
//
// Every started message ends in exactly one outcome:
//     started == messages + rejected + deferred + failed + in_doubt   once nothing is in flight.
// error_events is the number of errors, also of those that hit no message, such as a refused
// connection, so it is not the sum of the outcomes. Nothing here fails.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace postal::stats {

struct counts {
    std::uint64_t started = 0;   // messages (over LMTP: recipients) begun
    std::uint64_t messages = 0;  // accepted: 2xx after the data (LMTP: each accepted recipient)
    std::uint64_t bytes = 0;     // octets of the messages accepted
    std::uint64_t recipients = 0;
    std::uint64_t error_events = 0;  // stays 0 in a tally, whose error_table knows it
    std::uint64_t connections = 0;
    std::uint64_t tls_connections = 0;
    std::uint64_t idle_closes = 0;  // by clients that had been answered, without QUIT
    std::uint64_t deleted = 0;      // for good: the server has confirmed it
    std::uint64_t imap_connections = 0;
    std::uint64_t delete_in_doubt = 0;  // asked for, and the connection was lost before that
    std::uint64_t appended = 0;         // messages that a reader put into mailboxes: OK to APPEND
    std::uint64_t append_in_doubt = 0;  // the connection was lost before the answer
    std::uint64_t wanted = 0;           // rabid --populate: messages that mailboxes are to hold
    std::uint64_t present = 0;          // of these: found there, without an OK to this run
    std::uint64_t confirmed = 0;        // of these: there at the end, each once
    std::uint64_t missing = 0;          // of these: acknowledged or found, and not there at the end
    std::uint64_t append_lost = 0;      // the same, noticed before, and appended again
    std::uint64_t changed = 0;          // of these: there at the end, and not as they were made
    std::uint64_t misplaced = 0;        // copies of these in folders for which they are not
    std::uint64_t others = 0;           // other messages that lay in their folders
    std::uint64_t imap_commands = 0;    // answered with OK
    std::uint64_t oversized = 0;        // messages that a reader did not read: too big
    std::uint64_t announced = 0;        // that an EXISTS was the first to count, with --watch
    std::uint64_t announced_early = 0;  // of these, behind IDLE and before its continuation
    std::uint64_t notify_overflows = 0;  // times that a server gave NOTIFY up
    std::uint64_t announced_shrunk = 0;  // times that an EXISTS counted less, without EXPUNGE
    std::uint64_t announced_absent = 0;  // that EXISTS counted, and nobody could fetch
    std::uint64_t rejected = 0;          // 5xx
    std::uint64_t deferred = 0;          // 4xx
    std::uint64_t failed = 0;            // before the data was complete
    std::uint64_t in_doubt = 0;      // connection lost between the end of the data and its reply
    std::uint64_t unheard = 0;       // accepted by a server whose client did not hear so
    std::uint64_t withdrawn = 0;     // deferred: they waited for an agent, and their client left
    std::uint64_t transactions = 0;  // whose message a server had whole, and did not refuse at once
    std::uint64_t pipelined = 0;     // of these, with commands that came before they were due
    // Recipients that a server deferred, and what became of them: the sum of the next four. Those
    // that wait become less when they are settled, so that a time slice alone may have them below
    // 0, modulo 2^64; sums are right.
    std::uint64_t deferred_recipients = 0;
    std::uint64_t taken_after_retry = 0;
    std::uint64_t rejected_after_retry = 0;
    std::uint64_t still_deferred = 0;     // came again, in vain so far
    std::uint64_t not_retried = 0;        // never came again
    std::uint64_t retries = 0;            // of deferred recipients
    std::uint64_t retries_forgotten = 0;  // deferred recipients that made room for others
    std::uint64_t grey_first = 0;         // what greylists found, as behaviour::grey_verdict has it
    std::uint64_t grey_early = 0;
    std::uint64_t grey_late = 0;
    std::uint64_t grey_passed = 0;
    std::uint64_t grey_in_time = 0;  // of these, retries that a greylist had asked for
    // Of an open loop, the messages that its schedule asked for: started + not_started. Of a reader
    // visits: those that were begun + not_started.
    std::uint64_t due = 0;
    // Of these, when the run ended, what was never begun; no part of started.
    std::uint64_t not_started = 0;
    std::uint64_t verified = 0;  // what a receiver found out about messages with our identity
    std::uint64_t foreign = 0;
    std::uint64_t corrupt = 0;
    std::uint64_t duplicate = 0;
    std::uint64_t original = 0;        // mail of the original postal
    std::uint64_t bounces_sent = 0;    // notifications that a relay took from us
    std::uint64_t bounces_failed = 0;  // that could not be sent
    std::uint64_t stored = 0;          // accepted messages, of LMTP too, that were kept
    std::uint64_t not_stored = 0;      // that were to be kept, and were not

    void add(const counts& other) noexcept;
    [[nodiscard]] bool none() const noexcept;
};

// Which line of the summary and which table of the report a counter stands in.
enum class counter_kind {
    schedule,  // what an open loop asked for: messages, of a reader visits
    begun,     // messages begun
    outcome,   // what ended a message that was begun
    traffic,
    error,
    mailbox,    // what a reader did
    retry,      // what became of recipients that a server deferred
    greylist,   // what its greylists found
    integrity,  // what a receiver or reader found out; a part of its own in the record
};

// The programs in which a counter means something.
enum class counted_by {
    all,
    open_loops,
    servers,
    deferrers,  // servers that may refuse recipients for now on purpose
    readers,
    checkers,  // where messages are verified
    sinks      // what accepted mail ends in, and may be kept or bounced
};

// Whether an interval has it, and from which log format on its line does.
enum class logged { never, extended, always };

enum class counter_unit { number, octets };

struct counter {
    std::string_view name;      // in records, thresholds, logs and CSV
    std::string_view title;     // for people, behind the number
    std::string_view one = {};  // the same behind a 1, where that is different
    std::uint64_t counts::*value = nullptr;
    counter_kind kind = counter_kind::outcome;
    counted_by by = counted_by::all;
    logged log = logged::never;
    counter_unit unit = counter_unit::number;
    bool failure = false;           // its thresholds may be a share of the messages started
    bool rare = false;              // people are told of it only where it is not 0
    bool part = false;              // of the row before it, as connections with TLS are
    std::string_view column = {};   // the log's word for it, where that is not the name
    std::string_view meaning = {};  // of an outcome, half a sentence
    std::string_view remark = {};   // behind the number where it is not 0: not to be overlooked

    [[nodiscard]] std::string_view title_of(std::uint64_t count) const noexcept {
        return count == 1 && !one.empty() ? one : title;
    }
};

using counter_rows = std::span<const counter>;

[[nodiscard]] counter_rows all_counters() noexcept;

// For people, behind "only": "with --open-loop".
[[nodiscard]] std::string_view where_counted(counted_by by) noexcept;

// Null if there is none of that name.
[[nodiscard]] const counter* find_counter(counter_rows rows, std::string_view name) noexcept;

}  // namespace postal::stats
