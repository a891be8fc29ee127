// SPDX-License-Identifier: GPL-3.0-or-later
#include "experiment/run_values.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <variant>

#include "base/units.hpp"
#include "experiment/capacity.hpp"

namespace postal::experiment {
namespace {

double share_of_errors(const stats::run_record& one) {
    const auto& all = one.totals;
    const double bad = static_cast<double>(
        std::max(all.rejected + all.deferred + all.failed + all.in_doubt + all.not_started,
                 all.error_events));
    const double sum = bad + static_cast<double>(all.messages);
    return sum > 0 ? bad / sum : 0;
}

std::optional<double> option_number(const stats::run_record& of, std::string_view name) {
    const stats::option_value* const value = option_of(of, name);
    if (value == nullptr) return std::nullopt;
    if (const auto* whole = std::get_if<std::uint64_t>(value)) return static_cast<double>(*whole);
    const auto* text = std::get_if<std::string>(value);
    if (text == nullptr) return std::nullopt;
    const auto number =
        base::parse_number(text->ends_with('%') ? text->substr(0, text->size() - 1) : *text);
    return number ? std::optional(*number) : std::nullopt;
}

// Of the measured part. What a reader does that lingers, when the load is over, is none of it.
bool counts(const stats::interval_row& each, const stats::run_record& of, double load_s) {
    constexpr double late_s = 0.5;  // that an interval's end may come
    if (each.warmup || each.draining) return false;
    return !watches(of) || !(load_s > 0) || each.end_s <= load_s + late_s;
}

// On the average of the measured part, as the program itself counted them.
double open_sessions(const stats::run_record& of, double load_s) {
    double sum = 0;
    double seconds = 0;
    for (const stats::interval_row& each : of.intervals) {
        if (!counts(each, of, load_s) || !each.open_connections) continue;
        sum += *each.open_connections * each.length_s();
        seconds += each.length_s();
    }
    return seconds > 0 ? sum / seconds : 0;
}

void note_sessions(load_values& to, const stats::run_record& of, double load_s) {
    if (!watches(of)) return;
    to.sessions_open = open_sessions(of, load_s);
    to.sessions_asked = option_number(of, "sessions").value_or(0);
    // POP3 has no session that waits.
    to.all_wait = option_number(of, "imap-percent") == 100;
}

// Of the run, and so the same for each of its programs.
void set_all(std::vector<load_values>& loads, metric which, std::optional<double> value) {
    for (load_values& one : loads)
        one.values[static_cast<std::size_t>(which)] = value;
}

std::optional<double> share_of(const std::optional<double>& all, double of, double factor = 1) {
    return all && of > 0 ? std::optional(*all * factor / of) : std::nullopt;
}

// Of the whole machine, so it is shared out among the messages of all programs, and the same for
// each.
void share_costs(const costs& spent, const std::vector<std::string>& devices,
                 std::vector<load_values>& loads) {
    double messages = 0;
    for (const load_values& one : loads)
        messages += one.messages;
    if (!(messages > 0)) return;
    const auto set = [&](metric which, const std::optional<double>& all) {
        set_all(loads, which, share_of(all, messages));
    };
    if (spent.user_s && spent.system_s) set(metric::cpu, (*spent.user_s + *spent.system_s) * 1e3);
    set(metric::written, sum_of(spent, devices, &device_costs::written_kib));
    set(metric::flushes, sum_of(spent, devices, &device_costs::flushes));
}

// For each message that was accepted; of readers alone, that was read.
void share_server(const costs& spent, const std::vector<stats::run_record>& records,
                  std::vector<load_values>& loads) {
    double sent = 0;
    double read = 0;
    for (std::size_t i = 0; i < loads.size(); ++i)
        (records[i].program == "postal" ? sent : read) += loads[i].messages;
    const double messages = sent > 0 ? sent : read;
    set_all(loads, metric::server_cpu, share_of(spent.server.cpu_s, messages, 1e3));
    set_all(loads, metric::server_wakeups, share_of(spent.server.wakeups, messages));
}

// Of fewer sessions most of what there is would be no session's.
constexpr double least_share_that_waits = 0.5;

// What it costs that sessions wait, where that is all that they do.
void share_waiting(const costs& spent, std::vector<load_values>& loads) {
    double thousands = 0;
    for (const load_values& one : loads) {
        if (!one.sessions_open || !one.all_wait) return;
        if (*one.sessions_open < one.sessions_asked * least_share_that_waits) return;
        thousands += *one.sessions_open / 1000;
    }
    const server_costs& server = spent.server;
    set_all(loads, metric::idle_cpu, share_of(server.cpu_s, thousands * spent.window_s, 1e3));
    set_all(loads, metric::idle_memory, share_of(server.max_memory_bytes, thousands));
    set_all(loads, metric::idle_descriptors, share_of(server.max_descriptors, thousands));
}

// See measured_run.
std::optional<double> load_from(const std::optional<cost_log>& log, const stats::run_record& of) {
    const auto begun = stats::seconds_of_timestamp(of.started);
    const auto logged = log ? stats::seconds_of_timestamp(log->started()) : std::nullopt;
    return begun && logged ? std::optional(*begun - *logged) : std::nullopt;
}

// That all sessions leave at the end is no cost of waiting, and falls between two samples.
constexpr double before_leaving_s = 2;

bool only_waits(const std::vector<stats::run_record>& records) {
    return std::ranges::all_of(records, watches);
}

// Whose measured part is the run's: readers that watch linger.
const stats::run_record& leading(const std::vector<stats::run_record>& records) {
    const auto found = std::ranges::find_if_not(records, watches);
    return found == records.end() ? records.front() : *found;
}

// Over the intervals that count, as the messages are: one that is only in part the warm-up's does
// not. Of these the last seconds may be left out.
std::optional<costs> costs_of(const cost_log& log, double load_from_s, const stats::run_record& of,
                              double without_last_s) {
    const auto at = [&](double seconds) {
        return std::chrono::nanoseconds(std::llround((load_from_s + seconds) * 1e9));
    };
    std::optional<double> start;
    double end = 0;
    for (const stats::interval_row& each : of.intervals) {
        if (each.warmup || each.draining) continue;
        start = start.value_or(each.start_s);
        end = each.end_s;
    }
    if (start && end - without_last_s > *start) end -= without_last_s;
    return start ? log.between(at(*start), at(end)) : std::nullopt;
}

}  // namespace

bool watches(const stats::run_record& one) {
    return std::ranges::any_of(one.options,
                               [](const auto& option) { return option.first == "watch"; });
}

std::optional<double> latency_us(
    const stats::latency_figures& of,
    std::optional<std::chrono::nanoseconds> stats::time_figures::*figure) {
    if (of.*figure) return std::chrono::duration<double, std::micro>(*(of.*figure)).count();
    const bool is_not_reached = of.at_least && (*of.at_least).*figure;
    return is_not_reached ? std::optional(never) : std::nullopt;
}

double latency_step(double value_us) {
    constexpr double longest_us = 1e15;
    return stats::histogram::step_of(
        std::chrono::nanoseconds(std::llround(std::clamp(value_us, 0.0, longest_us) * 1e3)));
}

const stats::option_value* option_of(const stats::run_record& of, std::string_view name) {
    for (const auto& [each, value] : of.options)
        if (each == name) return &value;
    return nullptr;
}

load_values values_of(const stats::run_record& one, const experiment_record& of) {
    const metric verdict = of.verdict.about;
    load_values to;
    for (const stats::interval_row& each : one.intervals) {
        if (!counts(each, one, of.duration_s)) continue;
        to.messages += static_cast<double>(each.messages);
        to.measured_s += each.end_s - each.start_s;
    }
    to.errors = share_of_errors(one);
    note_sessions(to, one, of.duration_s);
    const auto set = [&](metric about, std::optional<double> value) {
        to.values[static_cast<std::size_t>(about)] = value;
    };
    // Of a search these would be of all its trials, beyond what was found, too. A program beside
    // the one that searches has no value: its load was a share of that one's.
    if (one.search || verdict == metric::capacity) {
        set(metric::capacity, found_rate(one));
        return to;
    }
    if (to.measured_s > 0) set(metric::messages, to.messages / to.measured_s);
    if (const auto* phase = one.main_phase()) {
        set(metric::p50, latency_us(*phase, &stats::time_figures::p50));
        set(metric::p99, latency_us(*phase, &stats::time_figures::p99));
    }
    return to;
}

// Of a search costs would be of all its trials.
void share_run(measured_run& to, const kept_beside& beside) {
    const stats::run_record& leads = leading(to.records);
    to.load_from_s = load_from(beside.log, leads);
    if (to.load_from_s)
        to.spent = costs_of(*beside.log, *to.load_from_s, leads,
                            only_waits(to.records) ? before_leaving_s : 0);
    const bool searches = std::ranges::any_of(
        to.records, [](const stats::run_record& one) { return one.search.has_value(); });
    if (to.spent) share_costs(*to.spent, to.run.devices, to.loads);
    if (to.spent && !searches) share_server(*to.spent, to.records, to.loads);
    if (to.spent && !searches) share_waiting(*to.spent, to.loads);
    if (!beside.announced) return;
    set_all(to.loads, metric::announced_p50, beside.announced->within_us(0.5));
    set_all(to.loads, metric::announced_p99, beside.announced->within_us(0.99));
}

std::optional<double> sum_of(const costs& spent, const std::vector<std::string>& devices,
                             std::optional<double> device_costs::*amount) {
    std::optional<double> sum;
    for (const device_costs& one : spent.devices) {
        if (std::find(devices.begin(), devices.end(), one.name) == devices.end()) continue;
        if (!(one.*amount)) return std::nullopt;
        sum = sum.value_or(0) + *(one.*amount);
    }
    return sum;
}

}  // namespace postal::experiment
