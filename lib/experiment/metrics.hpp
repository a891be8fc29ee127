// SPDX-License-Identifier: GPL-3.0-or-later
// What runs are judged by: each metric is one positive number of a run, and is described once, in a
// row of `metrics`. Records, sentences, tables, gates and CSV follow from that.
//
// A value may be infinite: a percentile that lies among the messages of which nobody was ever told,
// or among those that were due and not accepted, is `never`, above every number, and is compared as
// such. What is not known is no value.
#pragma once

#include "stats/experiment/comparison.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

namespace postal::experiment {

enum class metric : std::uint8_t {
    messages,  // a second, accepted or retrieved after the warm-up
    p50,
    p99,
    cpu,       // milliseconds of all processors for each message
    written,   // KiB to the storage's device for each message
    flushes,   // of the storage's device for each message
    capacity,  // messages a second that were found to keep what is promised
    // Of all messages accepted: microseconds until a reader was told, see announced.hpp.
    announced_p50,
    announced_p99,
    server_cpu,      // milliseconds of the server's processes for each message accepted
    server_wakeups,  // for each message accepted
    // Where nobody sends, for each 1,000 sessions that wait:
    idle_cpu,          // milliseconds of the server's processes a second
    idle_memory,       // octets
    idle_descriptors,  // of the server's processes
};

enum class belongs_to : std::uint8_t {
    program,  // each load program has a value of its own
    run       // all together have one
};

// A time that somebody waits, in microseconds.
[[nodiscard]] constexpr bool is_latency(metric one) {
    return one == metric::p50 || one == metric::p99 || one == metric::announced_p50 ||
           one == metric::announced_p99;
}

struct metric_description {
    std::string_view name;  // in files
    const char* title;      // of a table
    const char* compared;   // what a sentence about it ends with
    bool higher_is_better;
    belongs_to whose;
    std::string (*show)(double);
    std::string_view column;   // of CSV
    double column_factor = 1;  // of the values there
    // A true 0 has no logarithm: in comparisons what is less counts as this. 0: it is left out.
    double floor = 0;
};

std::string show_rate(double a_second);
std::string show_capacity(double a_second);
std::string show_microseconds(double value);
std::string show_milliseconds(double value);
std::string show_kibibytes(double value);
std::string show_number(double value);
std::string show_octets(double value);
std::string show_count(double value);

// What the ledger's times and processor times of so little work can be told apart by.
inline constexpr double clock_us = 1;

// In the order of the enumeration.
inline constexpr std::array<metric_description, 14> metrics{{
    {"messages", "messages/min", "", true, belongs_to::program, show_rate, "messages_per_minute",
     60},
    {"p50", "median latency", " by its median latency", false, belongs_to::program,
     show_microseconds, "latency_p50_us"},
    {"p99", "99th percentile of latency", " by its 99th percentile of latency", false,
     belongs_to::program, show_microseconds, "latency_p99_us"},
    {"cpu", "processor time a message", " in processor time a message", false, belongs_to::run,
     show_milliseconds, "cpu_ms_a_message"},
    {"written", "written a message", " in what is written a message", false, belongs_to::run,
     show_kibibytes, "written_kib_a_message"},
    {"flushes", "flushes a message", " in flushes a message", false, belongs_to::run, show_number,
     "flushes_a_message"},
    {"capacity", "capacity", " by what they carry", true, belongs_to::program, show_capacity,
     "capacity_a_second"},
    {"announced_p50", "told of half of all messages within",
     " by the time within which half of all messages were announced", false, belongs_to::run,
     show_microseconds, "announced_p50_us", 1, clock_us},
    {"announced_p99", "told of 99 % of all messages within",
     " by the time within which 99 % of all messages were announced", false, belongs_to::run,
     show_microseconds, "announced_p99_us", 1, clock_us},
    {"server_cpu", "server: processor time a message", " in the server's processor time a message",
     false, belongs_to::run, show_milliseconds, "server_cpu_ms_a_message", 1, clock_us / 1e3},
    {"server_wakeups", "server: wake-ups a message", " in the server's wake-ups a message", false,
     belongs_to::run, show_number, "server_wakeups_a_message"},
    {"idle_cpu", "server: processor time a second, for 1,000 sessions that wait",
     " in the server's processor time for sessions that wait", false, belongs_to::run,
     show_milliseconds, "idle_cpu_ms_a_second_1000_sessions", 1, clock_us / 1e3},
    {"idle_memory", "server: memory for 1,000 sessions that wait",
     " in the server's memory for sessions that wait", false, belongs_to::run, show_octets,
     "idle_memory_bytes_1000_sessions"},
    {"idle_descriptors", "server: descriptors for 1,000 sessions that wait",
     " in the server's descriptors for sessions that wait", false, belongs_to::run, show_count,
     "idle_descriptors_1000_sessions"},
}};

inline constexpr auto metric_names = [] {
    std::array<std::string_view, metrics.size()> names;
    for (std::size_t i = 0; i < names.size(); ++i)
        names[i] = metrics[i].name;
    return names;
}();
constexpr auto words_of(metric) {
    return metric_names;
}

[[nodiscard]] constexpr const metric_description& described(metric one) {
    return metrics[static_cast<std::size_t>(one)];
}

// The same for all programs of a run.
[[nodiscard]] constexpr bool is_of_run(metric one) {
    return described(one).whose == belongs_to::run;
}

inline constexpr double never = std::numeric_limits<double>::infinity();
[[nodiscard]] constexpr bool is_never(const std::optional<double>& value) {
    return value && *value == never;
}

// "12,345/min", "never"; "–" where it is not known.
[[nodiscard]] std::string show_value(metric about, const std::optional<double>& value);

}  // namespace postal::experiment
