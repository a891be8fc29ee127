// A run record (schema postal-record/1) as it is read back: what record_writer.hpp wrote, or what
// somebody else did.
//
// parse_record() refuses text that is no JSON, another schema, a value of the wrong type or a
// negative count with one line that names the key and what would be right. Keys that are not known
// are ignored; keys that are absent or null leave their default, apart from `schema`, `program` and
// `totals`, without which there is nothing to report. Texts are kept as they came: each printer
// makes them harmless for its output.
#pragma once

#include "base/host.hpp"
#include "base/result.hpp"
#include "stats/command_counts.hpp"
#include "stats/counters.hpp"
#include "stats/error_table.hpp"
#include "stats/histogram.hpp"
#include "stats/rank_share.hpp"
#include "stats/second_counts.hpp"
#include "stats/threshold.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace postal::stats {

// Messages a minute, by whole intervals, or messages a second, by seconds.
struct recorded_rate {
    std::optional<double> mean;
    std::optional<double> stddev;
    std::optional<double> min;
    std::optional<double> max;
    std::optional<std::pair<double, double>> ci95;
    std::optional<double> trend;  // from the first value to the last, as a share of the mean
    std::uint64_t count = 0;      // of the values
};

struct recorded_phase {
    std::string name;
    std::uint64_t count = 0;
    std::uint64_t not_accepted = 0;  // of these: above all that were accepted
    std::optional<double> mean_us;
    std::optional<double> p50_us;
    std::optional<double> p90_us;
    std::optional<double> p99_us;
    std::optional<double> p999_us;
    std::optional<double> max_us;
    std::optional<histogram> distribution;
};

struct recorded_interval : counts {
    double start_s = 0;
    double end_s = 0;  // `t_s` of the record
    std::optional<double> p50_us;
    std::optional<double> p90_us;
    std::optional<double> p99_us;
    std::optional<double> asked;  // messages that a rate asked for
    std::optional<double> worker_busy;
    std::optional<double> run_delay;
    std::optional<double> agents_running;    // at its end
    std::optional<double> open_connections;  // on the average, of all workers
    std::optional<double> worker_cpu_s;      // processor time of all workers
    bool warmup = false;
    bool partial = false;
    bool draining = false;
    unsigned ranks = 1;  // that had a part in it

    // That many in the interval, by the minute; nothing of an interval without length.
    [[nodiscard]] std::optional<double> a_minute(std::optional<double> number) const noexcept {
        return number && end_s > start_s ? std::optional{*number * 60 / (end_s - start_s)}
                                         : std::nullopt;
    }
    // How many the workers kept busy; nothing of an interval without length.
    [[nodiscard]] std::optional<double> processors() const noexcept {
        return worker_cpu_s && end_s > start_s ? std::optional{*worker_cpu_s / (end_s - start_s)}
                                               : std::nullopt;
    }
};

struct recorded_generator {
    bool limited = false;
    std::string reason;
    std::optional<double> worker_busy;  // 0 to 1, of the busiest worker
    std::optional<double> slip_p99_us;
    std::string verdict{};  // as stats::generator_verdict has it; of older records as `limited` is
    std::string cause{};    // as stats::generator_cause has it; empty in older records
    bool traffic = true;
    std::optional<double> run_delay{};  // what follows is the worst of all intervals
    std::optional<double> loop_late_p99_us{};
    std::optional<double> loop_late_max_us{};
    std::optional<double> machine_idle{};
    std::optional<double> machine_steal{};
    std::optional<double> cpu_pressure{};
    std::optional<double> main_busy{};
    std::optional<double> ledger_busy{};
    std::optional<double> throttled{};
    std::optional<double> stopped_s{};
};

// Of a server, between the first second with mail and the last one.
struct recorded_load {
    double start_s = 0;
    double end_s = 0;
    std::uint64_t messages = 0;
    std::optional<double> per_second;
};

struct recorded_cap {
    std::optional<double> asked_per_s;  // empty: the run had no rate, or was an open loop
    double reached_per_s = 0;
    double all_busy = 0;
    std::uint64_t behind = 0;
};

struct recorded_totals : counts {
    std::vector<std::string_view> known;  // the names of the counters that the record has

    [[nodiscard]] bool has(const counter& one) const noexcept;
};

using named_numbers = std::vector<std::pair<std::string, std::uint64_t>>;

// What a server's agents did and cost.
struct recorded_agents {
    std::uint64_t started = 0;
    double cpu_user_s = 0;
    double cpu_system_s = 0;
    std::uint64_t max_rss_bytes = 0;  // of the largest
    named_numbers exits;              // by status, signal or a word, most frequent first
};

// A client's commands by kind, in the order of the record.
struct recorded_commands {
    command_count total;
    std::vector<std::pair<std::string, command_count>> by_kind;
};

struct recorded_actions {
    std::uint64_t begun = 0;
    std::uint64_t ok = 0;
    std::uint64_t refused = 0;
    std::uint64_t failed = 0;
    std::uint64_t nothing = 0;  // there was nothing to do
};

// What a profile wanted of a verb, and what was done.
struct recorded_verb : recorded_actions {
    std::string name;
    double weight = 0;
    std::uint64_t first = 0;
    std::uint64_t last = 0;
    std::optional<double> p50_us;  // of those that ended well
    std::optional<double> p99_us;
    std::optional<double> max_us;
};

struct recorded_profile : recorded_actions {
    std::string name;
    std::uint64_t least_actions = 0;
    std::uint64_t most_actions = 0;
    std::vector<recorded_verb> verbs;
};

// How clients used their connections to a server, over the whole run.
struct recorded_connections {
    std::optional<double> messages;
    std::optional<double> recipients;
    std::optional<double> tls_share;
    std::optional<double> pipelined_share;
    std::uint64_t most_open = 0;
};

struct recorded_tls {
    std::string library;
    std::uint64_t full = 0;
    std::uint64_t resumed = 0;
    std::string versions;  // "TLSv1.3 x 90, TLSv1.2 x 10", as the others
    std::string ciphers;
    std::string groups;
    std::string verification;
};

// Of a run that a signal ended.
struct recorded_interruption {
    std::string signal;  // empty: not known
    double at_s = 0;
    bool early = false;
    bool cut_short = false;
};

struct run_record {
    std::string program;
    std::string version;
    std::vector<std::string> argv;
    std::optional<std::uint64_t> seed;
    std::string started;
    std::string ended;  // why; empty: not known
    std::optional<recorded_interruption> interrupted;
    double duration_s = 0;
    double warmup_s = 0;
    double measured_s = 0;  // without the warm-up
    double interval_s = 0;
    bool transcript = false;
    base::host_info host;  // 0 processors: not known
    counter_rows counters = all_counters();
    recorded_totals totals;
    recorded_totals totals_with_warmup;
    double cpu_user_s = 0;
    double cpu_system_s = 0;
    std::uint64_t max_rss_bytes = 0;
    recorded_rate rate;
    recorded_rate rate_by_second;             // has no value in records that lack it
    std::optional<recorded_load> under_load;  // of servers that had some
    std::vector<recorded_interval> seconds;   // as wide as second_width_s
    double second_width_s = 1;
    std::vector<recorded_phase> phases;  // in the order of the protocol
    std::vector<recorded_interval> intervals;
    std::vector<rank_share> ranks;  // of a run of several processes; the first is rank 0
    recorded_cap cap;
    std::optional<recorded_agents> agents;
    std::optional<recorded_commands> commands;
    std::optional<recorded_profile> profile;
    std::optional<recorded_connections> connection_use;
    std::optional<recorded_tls> tls;
    recorded_generator generator;
    std::vector<error_entry> errors;  // most frequent first
    std::vector<threshold_result> thresholds;
    std::vector<std::pair<std::string, std::string>> options;   // effective options
    std::vector<std::pair<std::string, std::string>> security;  // TLS and logins, to be shown
    std::vector<std::string> not_in_effect;                     // what was asked for in vain

    [[nodiscard]] const recorded_phase* find_phase(std::string_view name) const noexcept;

    // What a user waits for: `message`, or for a reader of mail `retrieve`; null when there is
    // none.
    [[nodiscard]] const recorded_phase* main_phase() const noexcept;
};

// The text may be anything. What a failure's message quotes stands as it came. The rows stay with
// the record.
[[nodiscard]] base::expected<run_record> parse_record(std::string_view text,
                                                      counter_rows rows = all_counters());

// When a run was started, as records and ledgers write it ("2026-01-01T00:00:00.000Z"), in seconds
// since the epoch; nothing for a text of another form.
[[nodiscard]] std::optional<double> seconds_of_timestamp(const std::string& time);

}  // namespace postal::stats
