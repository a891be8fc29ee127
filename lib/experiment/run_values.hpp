// SPDX-License-Identifier: GPL-3.0-or-later
// What a run came to in the metrics of its experiment: what its programs' records say, and its
// costs shared out among their messages and sessions.
//
// Only the measured part counts: neither warm-up nor what is drained behind the stop; of readers
// that linger nothing after the load's end. Nothing here fails: what is not known has no value.
#pragma once

#include "experiment/results.hpp"

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace postal::experiment {

// rabid --watch, whose sessions wait for what comes in.
[[nodiscard]] bool watches(const stats::run_record& one);
// Null: it is not among the record's options.
[[nodiscard]] const stats::option_value* option_of(const stats::run_record& of,
                                                   std::string_view name);

// In microseconds; never where it lies among what was due and not accepted; empty where there are
// too few values for it.
[[nodiscard]] std::optional<double> latency_us(
    const stats::latency_figures& of,
    std::optional<std::chrono::nanoseconds> stats::time_figures::*figure);

// How wide the bucket of that latency is, as a share of it; in microseconds, and finite.
[[nodiscard]] double latency_step(double value_us);

[[nodiscard]] load_values values_of(const stats::run_record& one, const experiment_record& of);

// Sets load_from_s, spent and the values that follow from them, of a run that has its records.
void share_run(measured_run& to, const kept_beside& beside);

// Of the devices of these names together; empty where it is not known of one of them.
[[nodiscard]] std::optional<double> sum_of(const costs& spent,
                                           const std::vector<std::string>& devices,
                                           std::optional<double> device_costs::*amount);

}  // namespace postal::experiment
