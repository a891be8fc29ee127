// SPDX-License-Identifier: GPL-3.0-or-later
// The results of an experiment as they are read back: what each run came to, and whether it counts.
#include "base/read_file.hpp"
#include "base/text.hpp"
#include "base/units.hpp"
#include "experiment/analysis.hpp"
#include "experiment/capacity.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <functional>
#include <future>
#include <iterator>
#include <map>
#include <thread>
#include <variant>

namespace postal::experiment {
namespace {

using namespace std::chrono_literals;

constexpr std::string_view record_name = "experiment.json";

// A run that is shorter than asked for was cut short; a load's clock may begin a little late.
constexpr double least_share_of_duration = 0.98;

std::optional<double> us(std::optional<std::chrono::nanoseconds> time) {
    return time ? std::optional(static_cast<double>(time->count()) / 1e3) : std::nullopt;
}

double share_of_errors(const stats::run_record& one) {
    const auto& all = one.totals;
    const double bad = static_cast<double>(
        std::max(all.rejected + all.deferred + all.failed + all.in_doubt + all.not_started,
                 all.error_events));
    const double sum = bad + static_cast<double>(all.messages);
    return sum > 0 ? bad / sum : 0;
}

// rabid --watch, whose sessions wait for what comes in.
bool watches(const stats::run_record& one) {
    return std::ranges::any_of(one.options,
                               [](const auto& option) { return option.first == "watch"; });
}

const stats::option_value* option_of(const stats::run_record& of, std::string_view name) {
    for (const auto& [each, value] : of.options)
        if (each == name) return &value;
    return nullptr;
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

// What the program itself was asked for: readers that watch may linger.
double asked_duration_s(const stats::run_record& of, double otherwise) {
    const stats::option_value* const value = option_of(of, "duration");
    const auto* text = value != nullptr ? std::get_if<std::string>(value) : nullptr;
    const auto asked = text != nullptr ? base::parse_duration(*text)
                                       : base::expected<std::chrono::nanoseconds>(0ns);
    if (!asked || *asked <= 0ns) return otherwise;
    return std::max(otherwise, std::chrono::duration<double>(*asked).count());
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
        set(metric::p50, us(phase->p50));
        set(metric::p99, us(phase->p99));
    }
    return to;
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

// Of a search they would be of all its trials.
void share_run(measured_run& to, const kept_beside& beside) {
    const bool searches = std::ranges::any_of(
        to.records, [](const stats::run_record& one) { return one.search.has_value(); });
    if (to.spent) share_costs(*to.spent, to.run.devices, to.loads);
    if (to.spent && !searches) share_server(*to.spent, to.records, to.loads);
    if (to.spent && !searches) share_waiting(*to.spent, to.loads);
    if (!beside.announced) return;
    set_all(to.loads, metric::announced_p50, beside.announced->within_us(0.5));
    set_all(to.loads, metric::announced_p99, beside.announced->within_us(0.99));
}

bool is_about_telling(metric one) {
    return one == metric::announced_p50 || one == metric::announced_p99;
}

// Whether what is asked for is how soon readers are told: then those who were thrown out, or never
// let in, were told nothing, and their run must not be left out for it.
bool asks_who_was_told(const experiment_record& of) {
    return is_about_telling(of.verdict.about) ||
           std::ranges::any_of(of.gates, [&](const std::string& text) {
               const auto one = parse_gate(text);
               return one && is_about_telling(one->of(of.verdict));
           });
}

std::string errors_text(double share, double most) {
    return fmt::format("{:.1f} % errors, more than {:.1f} %", share * 100, most * 100);
}

// What readers of the run went through that counts as never; empty: nothing.
std::string why_untold(const measured_run& run, const experiment_record& of) {
    for (std::size_t i = 0; i < run.loads.size(); ++i) {
        const load_values& one = run.loads[i];
        if (!one.sessions_open) continue;
        if (!(*one.sessions_open > 0))
            return fmt::format("{}: no session was open", of.programs[i]);
        if (one.errors > of.verdict.max_errors)
            return fmt::format("{}: {}", of.programs[i],
                               errors_text(one.errors, of.verdict.max_errors));
    }
    return {};
}

std::string why_void(const recorded_run& run, const std::vector<stats::run_record>& records,
                     const std::vector<load_values>& loads, bool untold_counts,
                     const experiment_record& of) {
    if (run.end == run_end::failed) return run.reason;
    for (std::size_t i = 0; i < records.size(); ++i) {
        const stats::run_record& one = records[i];
        // Errors and a limit belong to a search: it says itself what it could not find because of
        // them.
        if (of.verdict.about == metric::capacity) {
            if (i != of.verdict.program) continue;
            const std::string why = why_not_found(one);
            if (!why.empty()) return fmt::format("{}: {}", of.programs[i], why);
            continue;
        }
        const bool is_excused = untold_counts && loads[i].sessions_open;
        if (loads[i].sessions_open) {
            if (!(*loads[i].sessions_open > 0) && !is_excused)
                return fmt::format("{}: no session was open", of.programs[i]);
        } else if (loads[i].messages <= 0) {
            return fmt::format("{}: no message came through", of.programs[i]);
        }
        if (one.generator.verdict == stats::generator_verdict::limit)
            return fmt::format("{}: the load generator was the limit", of.programs[i]);
        if (loads[i].errors > of.verdict.max_errors && !is_excused)
            return fmt::format("{}: {}", of.programs[i],
                               errors_text(loads[i].errors, of.verdict.max_errors));
        const double asked_s = watches(one) ? asked_duration_s(one, of.duration_s) : of.duration_s;
        if (one.duration_s < asked_s * least_share_of_duration)
            return fmt::format("{}: ended after {:.1f} s of {:.1f} s", of.programs[i],
                               one.duration_s, asked_s);
    }
    return {};
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

struct opened_folder {
    const std::string& name;
    const file_source& read;

    // Of files that somebody else has sent, each may want all the memory that a record may have.
    [[nodiscard]] std::size_t readers() const {
        constexpr std::size_t of_others = 2;
        const std::size_t processors = std::max(1U, std::thread::hardware_concurrency());
        return &read == &from_disk() ? processors : std::min(processors, of_others);
    }
};

// Where a file is what the record says it is, its text.
std::optional<std::string> checked_text(const opened_folder& folder, const kept_file& file,
                                        std::uint64_t largest, std::vector<std::string>& damaged) {
    const std::string path = folder.name + "/" + file.path;
    auto text = folder.read(path, largest);
    if (!text) {
        damaged.push_back(text.error().message);
        return std::nullopt;
    }
    if (sha256_of(*text) != file.sha256) damaged.push_back(path + ": is not what the run wrote");
    return std::move(*text);
}

struct read_files {
    measured_run run{};
    std::vector<std::string> damaged{};
};

read_files files_of(const recorded_run& run, const opened_folder& folder,
                    const experiment_record& of) {
    read_files to;
    std::vector<stats::run_record> records;
    kept_beside beside;
    // `file` as what `parse` makes of it.
    const auto read = [&](const kept_file& file, auto parse, auto keep,
                          std::uint64_t largest = largest_record) {
        const auto text = checked_text(folder, file, largest, to.damaged);
        if (!text) return;
        auto parsed = parse(*text);
        if (parsed)
            keep(std::move(*parsed));
        else
            to.damaged.push_back(folder.name + "/" + file.path + ": " + parsed.error().message);
    };
    // By program, whatever the order of the files.
    for (const std::string& program : of.programs) {
        const auto found = std::find_if(run.loads.begin(), run.loads.end(),
                                        [&](const kept_file& one) { return one.name == program; });
        if (found == run.loads.end()) continue;
        read(
            *found, [](const std::string& text) { return stats::parse_record(text); },
            [&](stats::run_record one) { records.push_back(std::move(one)); });
    }
    if (run.costs)
        read(
            *run.costs, [](const std::string& text) { return from_json(text); },
            [&](cost_log one) { beside.log = std::move(one); });
    if (run.announced)
        read(
            *run.announced, [](const std::string& text) { return announced_from_json(text); },
            [&](announced_account one) { beside.announced = std::move(one); },
            largest_announced_file);
    to.run = result_of(run, std::move(records), std::move(beside), of);
    return to;
}

// Reading is the longest part of a report by far, so every processor takes runs.
std::vector<read_files> read_runs(const std::vector<recorded_run>& runs,
                                  const opened_folder& folder, const experiment_record& of) {
    std::vector<read_files> all(runs.size());
    std::atomic<std::size_t> next = 0;
    const auto work = [&] {
        for (std::size_t at = next++; at < runs.size(); at = next++)
            all[at] = files_of(runs[at], folder, of);
    };
    std::vector<std::future<void>> others;
    while (others.size() + 1 < std::min(folder.readers(), runs.size()))
        others.push_back(std::async(std::launch::async, work));
    work();
    for (std::future<void>& one : others)
        one.get();
    return all;
}

// The runs that count: of those of one block and variant the last one that is complete or failed.
std::vector<recorded_run> counted_runs(const std::vector<recorded_run>& all) {
    std::map<std::pair<std::uint64_t, std::size_t>, std::size_t> last;
    for (std::size_t i = 0; i < all.size(); ++i)
        if (all[i].end != run_end::interrupted) last[{all[i].at.block, all[i].at.variant}] = i;
    std::vector<std::size_t> chosen;
    for (const auto& [where, index] : last)
        chosen.push_back(index);
    std::sort(chosen.begin(), chosen.end());
    std::vector<recorded_run> runs;
    for (const std::size_t index : chosen)
        runs.push_back(all[index]);
    return runs;
}

// A file that is named by thousands would be read thousands of times.
void leave_out_shared(std::vector<recorded_run>& runs, results& into) {
    std::map<std::string, std::size_t, std::less<>> named;
    std::size_t at = 0;
    const auto is_taken = [&](const kept_file& file) {
        if (named.try_emplace(file.path, at).first->second == at) return false;
        into.damaged.push_back(into.folder + "/" + file.path + ": is named by two runs");
        return true;
    };
    for (recorded_run& one : runs) {
        std::erase_if(one.loads, is_taken);
        if (one.costs && is_taken(*one.costs)) one.costs.reset();
        if (one.announced && is_taken(*one.announced)) one.announced.reset();
        ++at;
    }
}

}  // namespace

const file_source& from_disk() {
    static const file_source read = [](const std::string& path, std::uint64_t most) {
        return base::read_file(path, most);
    };
    return read;
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

bool is_results_folder(const std::string& path) {
    std::error_code ignored;
    return std::filesystem::exists(std::filesystem::path(path) / record_name, ignored);
}

measured_run result_of(const recorded_run& run, std::vector<stats::run_record> records,
                       kept_beside beside, const experiment_record& of) {
    measured_run to{.run = run};
    if (run.end == run_end::complete && records.size() == of.programs.size()) {
        to.records = std::move(records);
        const stats::run_record& leads = leading(to.records);
        to.load_from_s = load_from(beside.log, leads);
        if (to.load_from_s)
            to.spent = costs_of(*beside.log, *to.load_from_s, leads,
                                only_waits(to.records) ? before_leaving_s : 0);
        for (const stats::run_record& one : to.records)
            to.loads.push_back(values_of(one, of));
        share_run(to, beside);
    }
    to.announced = std::move(beside.announced);
    to.log = std::move(beside.log);
    const bool untold_counts = to.announced && asks_who_was_told(of);
    to.voids = why_void(run, to.records, to.loads, untold_counts, of);
    if (untold_counts) to.untold = why_untold(to, of);
    if (to.voids.empty() && to.records.empty())
        to.voids = "its records are missing or cannot be read";
    return to;
}

measured_run read_run(const recorded_run& run, results& into) {
    read_files read = files_of(run, {into.folder, from_disk()}, into.record);
    std::move(read.damaged.begin(), read.damaged.end(), std::back_inserter(into.damaged));
    return std::move(read.run);
}

base::expected<results> read_results(const std::string& folder) {
    return read_results(folder, from_disk());
}

base::expected<results> read_results(const std::string& folder, const file_source& from) {
    results to{.folder = folder};
    const std::string path = folder + "/" + std::string(record_name);
    const auto text = from(path, largest_record);
    if (!text) return text.error();
    auto record = parse_experiment_record(*text);
    if (!record) return base::at(base::printable(path, 300), record.error());
    to.record = std::move(*record);
    auto runs = counted_runs(to.record.runs);
    leave_out_shared(runs, to);
    for (read_files& one : read_runs(runs, {folder, from}, to.record)) {
        to.runs.push_back(std::move(one.run));
        std::move(one.damaged.begin(), one.damaged.end(), std::back_inserter(to.damaged));
    }
    return {boost::system::in_place_value, std::move(to)};
}

}  // namespace postal::experiment
