// A run record (schema postal-record/1) as the printers of this program need it.
//
// read_record() takes a file that somebody else may have written: text that is no JSON, another
// schema, a value of the wrong type or a negative count is refused with one line that names the
// file, the key and what would be right. Keys that are not known are ignored; keys that are absent
// or null leave their default, apart from `schema`, `program` and `totals`, without which there is
// nothing to report. Texts are kept as they came: each printer makes them harmless for its output.
//
// Limits: a record of more than 256 MiB is refused.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.hpp"
#include "stats/histogram.hpp"

namespace postal::report {

struct host {
    std::string name;
    std::string kernel;
    std::uint64_t cpus = 0;
    std::uint64_t memory_bytes = 0;
};

struct totals {
    std::optional<std::uint64_t> started;
    std::uint64_t messages = 0;
    std::uint64_t recipients = 0;
    std::uint64_t bytes = 0;
    std::uint64_t connections = 0;
    std::uint64_t tls_connections = 0;
    std::uint64_t errors = 0;
    std::uint64_t rejected = 0;
    std::uint64_t deferred = 0;
    std::uint64_t failed = 0;
    std::uint64_t in_doubt = 0;
    double cpu_user_s = 0;
    double cpu_system_s = 0;
    std::uint64_t max_rss_bytes = 0;
};

struct message_rate {  // messages a minute
    std::optional<double> mean;
    std::optional<double> stddev;
    std::optional<double> min;
    std::optional<double> max;
    std::optional<std::pair<double, double>> ci95;
    std::uint64_t intervals = 0;
};

struct phase {
    std::string name;
    std::uint64_t count = 0;
    std::optional<double> mean_us;
    std::optional<double> p50_us;
    std::optional<double> p90_us;
    std::optional<double> p99_us;
    std::optional<double> p999_us;
    std::optional<double> max_us;
    std::optional<stats::histogram> distribution;
};

struct interval {
    double start_s = 0;
    double end_s = 0;  // `t_s` of the record
    std::uint64_t messages = 0;
    std::uint64_t bytes = 0;
    std::uint64_t errors = 0;
    std::uint64_t connections = 0;
    std::optional<double> p50_us;
    std::optional<double> p99_us;
    std::optional<double> worker_busy;
    bool warmup = false;
    bool partial = false;
};

struct generator {
    bool limited = false;
    std::string reason;
    std::optional<double> worker_busy;  // 0 to 1, of the busiest worker
    std::optional<double> slip_p99_us;
};

struct error_kind {
    std::string stage;
    std::uint64_t code = 0;  // 0 when it was no server's reply: then there is a reason
    std::string enhanced;
    std::string reason;
    std::uint64_t count = 0;
    std::string sample;
};

struct threshold {
    std::string expression;
    std::optional<double> value;
    std::string unit;  // "us", "messages/min", "%", or empty for a count
    bool passed = false;
};

struct record {
    std::string label;  // short and unique among the records of one report
    std::string file;
    std::string program;
    std::string version;
    std::vector<std::string> argv;
    std::optional<std::uint64_t> seed;
    std::string started;
    double duration_s = 0;
    double warmup_s = 0;
    double measured_s = 0;  // without the warm-up
    double interval_s = 0;
    bool transcript = false;
    report::host host;
    report::totals totals;
    message_rate rate;
    std::vector<phase> phases;  // in the order of the protocol
    std::vector<interval> intervals;
    report::generator generator;
    std::vector<error_kind> errors;  // most frequent first
    std::vector<threshold> thresholds;
    std::vector<std::pair<std::string, std::string>> options;      // effective options
    std::vector<std::pair<std::string, std::string>> security;     // TLS and logins, to be shown
    std::vector<std::pair<std::string, std::uint64_t>> integrity;  // verified, foreign, corrupt, …

    const phase* find_phase(std::string_view name) const noexcept;

    // What a user waits for: `message`, or for a reader of mail `retrieve`; null when there is
    // none.
    const phase* main_phase() const noexcept;
};

// Reads one file; "-" is standard input. The message of a failure names the file and is safe to
// print.
base::expected<record> read_record(const std::string& file);

// The same from text, which may be anything. What a failure's message quotes stands as it came.
base::expected<record> parse_record(std::string_view text);

// Gives every record a label: the file's name without folder and .json, the path where two of them
// would be alike, and a number where even that is the same.
void label(std::vector<record>& records);

}  // namespace postal::report
