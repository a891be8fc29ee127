// SPDX-License-Identifier: GPL-3.0-or-later
// What a run has cost the machine: samples over the run, and their differences over a part of it.
//
// Flow: make a cost_log when the run begins, add() each sample, between() for the measured part;
// to_json() is its file, schema "postal-costs/1", which from_json() reads back.
//
// The log keeps columns of numbers: counters since their first sample, memory as it was. A run of
// 20 minutes with 5 devices and 20 programs is about 200 columns of 1,200 numbers. A counter that
// goes back by less than 1 stays where it is (iowait does, by a tick); by more, it has begun anew,
// and is not known from there on. What is not known is empty here and null in the file, never 0.
#pragma once

#include "base/result.hpp"
#include "testbed/system_sample.hpp"

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace postal::experiment {

struct device_costs {
    std::string name;
    std::optional<double> reads;
    std::optional<double> read_kib;
    std::optional<double> writes;
    std::optional<double> written_kib;
    std::optional<double> discards;
    std::optional<double> flushes;        // of a partition not known
    std::optional<double> mean_flush_ms;  // empty too when there was none
    std::optional<double> busy;           // 0 to 1: the share of time with a request under way
    std::optional<double> mean_queue;     // requests under way, on average
};

struct program_costs {
    std::string name;
    std::optional<double> user_s;
    std::optional<double> system_s;
    std::optional<double> children_s;  // of its children that ended: short-lived ones are in here
    // All of it, in nanoseconds where they are known; of older files the sum of the three.
    std::optional<double> cpu_s;
    std::optional<double> read_kib;  // from storage, with the children's
    std::optional<double> written_kib;
    std::optional<double> wakeups;          // voluntary context switches
    std::optional<double> max_descriptors;  // of the samples in the window that have them
    std::optional<double> max_memory_bytes;
};

// Of all programs together; empty where one of them is not known.
struct server_costs {
    std::optional<double> cpu_s;
    std::optional<double> wakeups;
    std::optional<double> max_descriptors;  // at one moment
    std::optional<double> max_memory_bytes;
};

struct costs {
    double window_s = 0;
    double longest_gap_s = 0;  // between two samples of the window, those around its ends included
    std::optional<double> user_s;
    std::optional<double> system_s;
    std::optional<double> iowait_s;
    std::optional<double> steal_s;
    std::optional<double> idle_s;
    std::optional<double> context_switches;
    std::optional<double> forks;
    std::optional<double> max_dirty_bytes;  // of the samples in the window
    std::optional<double> max_writeback_bytes;
    std::vector<device_costs> devices;
    std::vector<program_costs> programs;  // in the order in which they came up
    server_costs server;
};

// One value for each sample, NaN where it is not known.
struct cost_column {
    std::vector<double> values;
    std::optional<double> first{};  // of a counter: is taken off the others
    std::optional<double> last{};
    bool anew = false;
};

struct cost_columns {
    std::string name;  // of the device or program
    std::vector<cost_column> columns;
};

class cost_log {
  public:
    cost_log() = default;

    // `begun` and `started` are the same moment on both clocks. The samples' devices have these
    // names, in this order.
    cost_log(const std::vector<std::string>& devices, std::chrono::steady_clock::time_point begun,
             std::chrono::system_clock::time_point started);

    // One that is not a millisecond later than the last is left out. Not for a log that was read
    // back.
    void add(const testbed::system_sample& sample);

    [[nodiscard]] std::size_t size() const noexcept { return seconds_.size(); }
    [[nodiscard]] const std::string& started() const noexcept { return started_; }  // ISO 8601

    // What was used between two moments after the beginning of the log. Between two samples a
    // counter is taken to have grown evenly. Empty when there is no sample at or before the start,
    // or none at or after the end, or the end is not after the start: take one at both.
    [[nodiscard]] std::optional<costs> between(std::chrono::nanoseconds start,
                                               std::chrono::nanoseconds end) const;

    // On one line.
    friend std::string to_json(const cost_log& log);

    // The text may be anything: what is wrong is said in one line that names the key.
    friend base::expected<cost_log> from_json(std::string_view text);

  private:
    void add_programs(const testbed::system_sample& sample);

    std::string started_;
    std::chrono::steady_clock::time_point begun_;
    std::vector<double> seconds_;
    cost_columns machine_;
    std::vector<cost_columns> devices_;
    std::vector<cost_columns> programs_;
    std::optional<std::size_t> watched_from_;  // the first sample with programs
};

[[nodiscard]] std::string to_json(const cost_log& log);
[[nodiscard]] base::expected<cost_log> from_json(std::string_view text);

}  // namespace postal::experiment
