// SPDX-License-Identifier: GPL-3.0-or-later
// What the ranks of a run, and the programs of a search, say to each other, and its form on the
// way.
//
// Rank 0 leads: it welcomes the others, hears who they are, measures their clocks, says when to
// start, merges what all count, and says when it is over. Times are nanoseconds: of a steady clock,
// or since the start of the run, as the field says.
//
// A word is its kind (one octet) and its fields: numbers in LEB128, texts behind their length, of
// histograms the buckets that are not empty, with their exact sum, least and most. decode() takes
// any octets: it fails with one line and never reads or allocates more than the octets can hold.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.hpp"
#include "load/trial.hpp"
#include "stats/capacity/goal.hpp"
#include "stats/first_errors.hpp"
#include "stats/live_line.hpp"
#include "stats/run_report.hpp"

namespace postal::cluster {

using nanoseconds = std::chrono::nanoseconds;

// Of a rank; more is a mistake.
inline constexpr std::size_t most_workers = 65'536;

// 0 to all, first: what is one for the whole run.
struct welcome {
    std::string version;     // of the program; all must have the same
    std::uint64_t seed = 0;  // where no --seed is given
    std::uint64_t run = 0;   // the run's number, in messages and ledgers
};

// To 0: ready, or why not.
struct hello {
    std::string host;
    std::uint64_t workers = 0;
    std::uint64_t sessions = 0;
    std::uint64_t processors = 0;          // that the rank may run on
    std::uint64_t machine_processors = 0;  // that are online
    std::string
        load;  // the options that must be the same for all; two ranks' are compared as texts
    std::string refusal;       // one line; empty: ready
    std::uint64_t status = 0;  // with a refusal
};

// 0 asks for the clocks; an answer comes at once. Of a burst all but the last have `more`.
struct ping {
    std::uint64_t number = 0;
    bool more = false;
};
struct pong {
    std::uint64_t number = 0;
    nanoseconds steady{};
    nanoseconds wall{};  // since the epoch
    // With a burst's last: what its clocks may gain or lose in a second, where its kernel says
    // that.
    std::optional<double> most_drift{};
};

// 0 to each: begin then, by your own steady clock.
struct start {
    nanoseconds at{};
    nanoseconds first_interval{};
};
// 0 to all: nobody begins; end with that status, and say nothing.
struct refused {
    std::uint64_t status = 0;
};

// To 0: it began so much later than it was told.
struct began {
    nanoseconds late{};
};

// To 0: a time slice, in order.
struct counted {
    explicit counted(std::size_t phases) : slice(phases) {}
    stats::time_slice slice;
};

// To 0, twice a second: that it lives.
struct beat {
    stats::live_state live;
    std::uint64_t started = 0;  // messages, since the start; not less than its time slices say
};

// Any to 0, 0 to all: the run stops, as with a signal.
struct stop {
    bool now = false;    // and what is in flight with it
    bool hasty = false;  // whoever asked for it will not wait: little time for what is in flight
    nanoseconds when{};  // since the start
    stats::run_ending why{};
};

// To 0, when a rank's last time slice was sent and its own record is written.
struct ended {
    nanoseconds lasted{};
    stats::run_ending why{};
    double cpu_user_s = 0;
    double cpu_system_s = 0;
    std::uint64_t max_rss_bytes = 0;
    std::uint64_t status = 0;  // what it would end with alone
    stats::counts totals{};
    stats::counts totals_with_warmup{};
    std::optional<nanoseconds> p50{};  // of the message phase, after the warm-up
    std::optional<nanoseconds> p99{};
    // Of its own generator, as a run's record has them.
    stats::generator_verdict verdict{};
    std::string reason;
    std::optional<double> worker_busy{};
};

// 0 to all: that was all.
struct over {
    bool any_lost = false;  // who waits for all ranks now waits for ever
};

// 0 to all, of a search: the trial that begins then.
struct next_trial {
    load::trial what;
};

// To 0: an error that is the first of its kind at this rank.
struct trouble {
    stats::first_error what;
};

// To a search, from another program than the one that searches: what is its part of each trial, and
// what it promises. What it hears then are a start, trials and the stop, and what it says time
// slices.
struct joins {
    std::string version;  // of the program; both must have the same
    std::string program;
    std::string unit;          // what falls due, "visits"
    double share = 0;          // so many for each message of the search's load
    bool at_random = false;    // arrivals
    std::uint64_t seed = 0;    // of these
    std::uint64_t phases = 0;  // of its time slices
    std::uint64_t due_phase = 0;
    std::uint64_t sessions = 0;
    std::uint64_t at_once = 0;  // messages that a session may have under way
    std::vector<capacity::goal> goals{};
    std::vector<stats::trial_promise> promises{};  // of each
};

using word = std::variant<welcome, hello, ping, pong, start, refused, began, counted, beat, stop,
                          ended, over, trouble, next_trial, joins>;

inline constexpr std::size_t most_phases = 64;  // of a program

std::string encode(const word& what);
// `phases`: that time slices must have.
base::expected<word> decode(std::string_view octets, std::size_t phases);

}  // namespace postal::cluster
