// SPDX-License-Identifier: GPL-3.0-or-later
// What there is to know of a run when it is over: what a record says, and what every report reads.
//
// run_report::record() makes one at the end of a run, parse_record() (record_reader.hpp) from what
// somebody wrote. Each struct has one list of its fields, in record_fields.hpp, which all forms of
// a record are made from: a new figure is a member here, its line there, and a line where it is
// shown.
//
// Plain data. What is not known is empty; a record that lacks a member leaves its default. Texts
// are kept as they came: each printer makes them harmless for its output.
#pragma once

#include "base/host.hpp"
#include "stats/capacity/record.hpp"
#include "stats/command_counts.hpp"
#include "stats/counters.hpp"
#include "stats/error_table.hpp"
#include "stats/generator.hpp"
#include "stats/histogram.hpp"
#include "stats/named_counts.hpp"
#include "stats/rank_share.hpp"
#include "stats/ranking.hpp"
#include "stats/rate.hpp"
#include "stats/run_description.hpp"
#include "stats/run_ending.hpp"
#include "stats/run_labels.hpp"
#include "stats/samples.hpp"
#include "stats/second_counts.hpp"
#include "stats/server_greeting.hpp"
#include "stats/threshold.hpp"

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace postal::stats {

// One line of the log, with what was counted in the interval. Percentiles are of the message phase,
// empty when it has no value.
struct interval_row : counts, generator_load {
    bool warmup = false;
    bool partial = false;
    bool draining = false;
    std::optional<std::chrono::nanoseconds> message_p50;
    std::optional<std::chrono::nanoseconds> message_p90;
    std::optional<std::chrono::nanoseconds> message_p99;
    std::optional<std::chrono::nanoseconds> message_max;
    std::optional<double> asked;             // messages, of a run with a rate
    std::optional<unsigned> ranks;           // that had a part in it, of a run of several
    std::optional<double> open_connections;  // on the average, of all workers
    std::optional<double> worker_cpu_s;      // processor time of all workers
    // At the interval's end; empty for programs that run none.
    std::optional<std::uint64_t> agents_running;
    std::optional<std::chrono::nanoseconds> agent_p50;
    std::optional<std::chrono::nanoseconds> agent_p99;
    error_classes classes;  // of the log alone

    // That many in the interval, by the minute; nothing of an interval without length.
    [[nodiscard]] std::optional<double> a_minute(std::optional<double> number) const noexcept {
        return number && length_s() > 0 ? std::optional{*number * 60 / length_s()} : std::nullopt;
    }
    // How many the workers kept busy; nothing of an interval without length.
    [[nodiscard]] std::optional<double> processors() const noexcept {
        return worker_cpu_s && length_s() > 0 ? std::optional{*worker_cpu_s / length_s()}
                                              : std::nullopt;
    }
};

// Of a closed loop with a rate, which is a cap there, after the warm-up and until the stop.
struct cap_summary {
    double asked_per_s = 0;
    double reached_per_s = 0;  // messages begun
    double all_busy = 0;  // share of the time in which messages were due and no session was free
    std::uint64_t behind = 0;  // messages that were asked for since the run began, and not begun
};

// How clients used their connections to a server. Of the whole run, the warm-up too, since
// connections outlast it; empty where there is nothing to divide by.
struct connection_summary {
    std::optional<double> messages;    // accepted, a connection
    std::optional<double> recipients;  // who were accepted, a transaction
    std::optional<double> tls;         // share of the connections
    std::optional<double> pipelined;   // share of the transactions
    std::uint64_t most_open = 0;       // at once
};

// A run that a signal ended.
struct interruption {
    std::string signal;      // "SIGINT"; empty: another rank's
    double at_s = 0;         // since the start
    bool early = false;      // it had an end of its own, which it did not reach
    bool cut_short = false;  // what was in flight at the end of the grace, or at a second one
};

struct time_figures {
    std::optional<std::chrono::nanoseconds> mean;
    std::optional<std::chrono::nanoseconds> p50;
    std::optional<std::chrono::nanoseconds> p90;
    std::optional<std::chrono::nanoseconds> p99;
    std::optional<std::chrono::nanoseconds> p999;
    std::optional<std::chrono::nanoseconds> min;
    std::optional<std::chrono::nanoseconds> max;
};

// A phase's or a verb's times. Empty: too few values for that figure, or it is not reached.
struct latency_figures : time_figures {
    std::uint64_t count = 0;
    std::uint64_t not_accepted = 0;         // of these: above all that were accepted
    std::optional<time_figures> at_least;   // the lower bounds of those that are not reached
    std::optional<histogram> distribution;  // of the accepted ones
};
[[nodiscard]] latency_figures figures_of(const ranking& values);

struct phase_figures : latency_figures {
    std::string name;
};

// A stretch's count each; a list that is not there says nothing of any stretch.
struct second_columns {
    double width_s = 1;
    std::uint64_t warmup = 0;  // so many of the first
    std::vector<double> t_s;   // where each ends
    std::vector<std::uint64_t> messages;
    std::vector<std::uint64_t> errors;
    std::vector<double> worker_cpu_s;
    std::vector<std::optional<double>> open_connections;
    std::optional<std::vector<double>> asked;
    std::optional<std::vector<std::optional<std::chrono::nanoseconds>>> message_p50;
    std::optional<std::vector<std::optional<std::chrono::nanoseconds>>> message_p90;
    std::optional<std::vector<std::optional<std::chrono::nanoseconds>>> message_p99;
};

struct known_counts : counts {
    std::vector<std::string_view> known;  // the names of those that mean something in the run

    [[nodiscard]] bool has(const counter& one) const noexcept;
};

// The most frequent first.
using named_numbers = std::vector<named_count>;

// What a server's agents did and cost.
struct agent_summary {
    std::uint64_t started = 0;
    double cpu_user_s = 0;
    double cpu_system_s = 0;
    std::uint64_t max_rss_bytes = 0;  // of the largest
    named_numbers exits;              // by status, signal or a word
};

struct tls_summary {
    std::string library;
    std::uint64_t full = 0;
    std::uint64_t resumed = 0;
    named_numbers versions;
    named_numbers ciphers;
    named_numbers groups;
    named_numbers verification;
};

struct command_figures : command_count {
    std::string name;
};

// A client's commands, and those of each kind.
struct command_summary : command_count {
    std::vector<command_figures> by_kind;
};

// What a profile wanted of a verb, and what was done.
struct verb_figures : wanted_action, action_count {
    latency_figures latency;             // of those that ended well
    std::vector<phase_figures> by_size;  // the same; named by the least that lay in the mailbox
};

struct profile_summary : action_count {
    std::string name;
    std::uint64_t least_actions = 0;
    std::uint64_t most_actions = 0;
    std::vector<verb_figures> verbs;
};

struct run_record {
    std::string program;
    std::string version;
    std::vector<std::string> argv;
    run_labels labels;
    std::vector<std::pair<std::string, option_value>> options;  // the effective ones
    std::optional<std::uint64_t> seed;
    std::uint64_t workers = 0;  // of all ranks; 0: not known
    bool transcript = false;
    std::string started;
    run_ending ended{};  // why
    std::optional<interruption> interrupted;
    double duration_s = 0;
    double warmup_s = 0;
    double measured_s = 0;  // without the warm-up
    double interval_s = 0;
    bool align_minutes = false;
    std::optional<double> first_accepted_s;  // this and the like: figures.hpp
    base::host_info host{"", "", 0};         // 0 processors: not known
    std::vector<server_greeting> greetings;  // of a client
    counter_rows counters = all_counters();
    known_counts totals;
    known_counts totals_with_warmup;
    double cpu_user_s = 0;
    double cpu_system_s = 0;
    std::uint64_t max_rss_bytes = 0;
    std::optional<named_numbers> authentications;  // logins by mechanism
    std::optional<named_numbers> limits;           // of servers: those struck, by their option
    std::optional<agent_summary> agents;
    std::optional<tls_summary> tls;
    std::optional<command_summary> commands;
    std::optional<profile_summary> profile;
    std::optional<connection_summary> connection_use;
    rate_summary rate;                      // messages a minute, by whole intervals
    rate_summary rate_by_second;            // messages a second, by seconds
    std::optional<loaded_time> under_load;  // of servers that had some
    std::vector<phase_figures> phases;
    std::vector<interval_row> intervals;
    second_columns seconds;
    std::optional<cap_summary> cap;
    std::vector<rank_share> ranks;  // of a run of several processes; the first is rank 0
    std::optional<capacity::search_record> search;  // of the highest rate that keeps its promise
    std::vector<sampled_source> samples;
    generator_summary generator;
    named_numbers not_in_effect;      // what was asked for in vain, with the number of connections
    std::vector<error_entry> errors;  // most frequent first
    std::vector<error_entry> errors_with_warmup;
    std::vector<threshold_result> thresholds;

    [[nodiscard]] const phase_figures* find_phase(std::string_view name) const noexcept;

    // What a user waits for: `message`, or for a reader of mail `retrieve`; null when there is
    // none.
    [[nodiscard]] const phase_figures* main_phase() const noexcept;
};

}  // namespace postal::stats
