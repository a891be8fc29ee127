// SPDX-License-Identifier: GPL-3.0-or-later
// What a message cost, by variant.
#include "experiment/figures.hpp"
#include "experiment/findings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

namespace postal::experiment {
namespace {

// What a message cost, of a variant: the mean over its runs that count.
struct mean {
    double sum = 0;
    std::size_t count = 0;
    void add(const std::optional<double>& value) {
        if (!value) return;
        sum += *value;
        ++count;
    }
    [[nodiscard]] double value() const { return count == 0 ? 0 : sum / static_cast<double>(count); }
    [[nodiscard]] std::string text(std::string_view unit) const {
        return count == 0 ? unknown : fmt::format("{:.3g}{}", value(), unit);
    }
};

// A row of the table of costs: its name, and what one run says, which knows what it spent.
struct cost_figure {
    std::string name;
    std::string unit;
    // Where there were no messages, as of readers that wait, what is for each of them is not known.
    std::function<std::optional<double>(const measured_run& run, double messages)> value;
    double least = 0;  // left out where no variant has more
};

// The storage's device may have another number in each run.
constexpr const char* storage_name = "storage";

std::string device_name(const device_costs& one, const recorded_run& run) {
    const auto& own = run.devices;
    return std::find(own.begin(), own.end(), one.name) == own.end() ? one.name : storage_name;
}

const device_costs* device_of(const measured_run& run, const std::string& name) {
    const auto& all = run.spent->devices;
    const auto found = std::find_if(all.begin(), all.end(), [&](const device_costs& one) {
        return device_name(one, run.run) == name;
    });
    return found == all.end() ? nullptr : &*found;
}

cost_figure machine_figure(std::string name, std::optional<double> costs::*amount, double factor,
                           std::string unit) {
    return {std::move(name), std::move(unit),
            [amount, factor](const measured_run& run, double messages) -> std::optional<double> {
                const std::optional<double>& all = *run.spent.*amount;
                return all && messages > 0 ? std::optional(*all * factor / messages) : std::nullopt;
            }};
}

cost_figure device_figure(const std::string& device, std::string name,
                          std::optional<double> device_costs::*amount, bool a_message,
                          double factor, std::string unit) {
    return {device + ": " + name, std::move(unit),
            [=](const measured_run& run, double messages) -> std::optional<double> {
                const device_costs* one = device_of(run, device);
                if (one == nullptr || !(one->*amount)) return std::nullopt;
                if (a_message && !(messages > 0)) return std::nullopt;
                return *(one->*amount) * factor / (a_message ? messages : 1);
            }};
}

// As the metric of the run has it, for each message accepted.
cost_figure server_figure(std::string name, metric which, std::string unit) {
    return {"server: " + name, std::move(unit), [which](const measured_run& run, double) {
                return run.loads.front().values[static_cast<std::size_t>(which)];
            }};
}

cost_figure server_figure(std::string name, std::optional<double> server_costs::*amount,
                          double factor, std::string unit) {
    return {"server: " + name, std::move(unit),
            [=](const measured_run& run, double) -> std::optional<double> {
                const std::optional<double>& all = run.spent->server.*amount;
                return all ? std::optional(*all * factor) : std::nullopt;
            }};
}

constexpr double least_program_ms = 0.01;

cost_figure program_figure(const std::string& program) {
    return {program + ": processor time", " ms",
            [program](const measured_run& run, double messages) -> std::optional<double> {
                for (const program_costs& one : run.spent->programs)
                    if (messages > 0 && one.name == program && one.cpu_s)
                        return *one.cpu_s * 1e3 / messages;
                return std::nullopt;
            },
            least_program_ms};
}

// Devices and programs that any run has, in the order in which they come up.
std::vector<cost_figure> cost_figures(const results& of) {
    std::vector<cost_figure> all{
        machine_figure("processors, user", &costs::user_s, 1e3, " ms"),
        machine_figure("processors, system", &costs::system_s, 1e3, " ms"),
        machine_figure("waiting for disks", &costs::iowait_s, 1e3, " ms"),
        machine_figure("stolen by the hypervisor", &costs::steal_s, 1e3, " ms"),
        machine_figure("context switches", &costs::context_switches, 1, ""),
        machine_figure("forks", &costs::forks, 1, "")};
    std::vector<std::string> devices;
    std::vector<std::string> programs;
    const auto note = [](std::vector<std::string>& names, const std::string& one) {
        if (std::find(names.begin(), names.end(), one) == names.end()) names.push_back(one);
    };
    for (const measured_run& run : of.runs) {
        if (!run.spent) continue;
        for (const device_costs& one : run.spent->devices)
            note(devices, device_name(one, run.run));
        for (const program_costs& one : run.spent->programs)
            note(programs, one.name);
    }
    for (const std::string& one : devices) {
        all.push_back(device_figure(one, "writes", &device_costs::writes, true, 1, ""));
        all.push_back(device_figure(one, "written", &device_costs::written_kib, true, 1, " KiB"));
        all.push_back(device_figure(one, "flushes", &device_costs::flushes, true, 1, ""));
        all.push_back(
            device_figure(one, "mean flush", &device_costs::mean_flush_ms, false, 1, " ms"));
        all.push_back(device_figure(one, "reads", &device_costs::reads, true, 1, ""));
        all.push_back(device_figure(one, "busy", &device_costs::busy, false, 100, " %"));
        all.push_back(
            device_figure(one, "requests under way", &device_costs::mean_queue, false, 1, ""));
    }
    constexpr double mib = 1.0 / (1 << 20);
    all.push_back(server_figure("processor time, a message accepted", metric::server_cpu, " ms"));
    all.push_back(server_figure("wake-ups, a message accepted", metric::server_wakeups, ""));
    all.push_back(server_figure("memory at most", &server_costs::max_memory_bytes, mib, " MiB"));
    all.push_back(server_figure("descriptors at most", &server_costs::max_descriptors, 1, ""));
    for (const std::string& one : programs)
        all.push_back(program_figure(one));
    return all;
}

}  // namespace

report::table cost_table(const results& of, const analysis& found) {
    report::table made{"costs", "What a message cost", {{""}}, {}};
    for (const recorded_variant& one : of.record.variants)
        made.columns.push_back({one.name, report::align::right});
    for (const cost_figure& figure : cost_figures(of)) {
        std::vector<mean> means(of.record.variants.size());
        for (const measured_run& run : of.runs) {
            if (!run.spent || !is_counted(run, found)) continue;
            double messages = 0;
            for (const load_values& one : run.loads)
                messages += one.messages;
            means[run.run.at.variant].add(figure.value(run, messages));
        }
        std::vector<std::string> row{figure.name};
        bool known = false;
        for (const mean& one : means) {
            row.push_back(one.text(figure.unit));
            known = known || one.value() > figure.least;
        }
        if (known) made.rows.push_back(std::move(row));
    }
    made.note = fmt::format(
        "means over the blocks that count, of the whole machine with its load generator, for each "
        "message of the measured part{}; busy and requests under way are of the time; the server "
        "is "
        "its processes that were seen, its memory PSS, its wake-ups voluntary context switches",
        of.record.programs.size() > 1 ? ", of all load programs together" : "");
    return made;
}

}  // namespace postal::experiment
