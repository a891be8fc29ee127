// SPDX-License-Identifier: GPL-3.0-or-later
#include <array>
#include <string_view>

#include "base/text.hpp"
#include "postal-report/csv.hpp"
#include "postal-report/experiment.hpp"

namespace postal::report {

namespace {

using experiment::costs;
using experiment::device_costs;
using experiment::load_values;
using experiment::measured_run;
using experiment::metric;

constexpr int places = 6;

template <metric About>
std::optional<double> value_of(const load_values& one) {
    return one.values[static_cast<std::size_t>(About)];
}

struct load_column {
    std::string_view name;
    std::optional<double> (*value)(const load_values&);
};

constexpr std::array<load_column, 10> load_columns{{
    {"messages", [](const load_values& one) { return std::optional(one.messages); }},
    {"measured_s", [](const load_values& one) { return std::optional(one.measured_s); }},
    {"error_share", [](const load_values& one) { return std::optional(one.errors); }},
    {"messages_per_minute",
     [](const load_values& one) {
         const auto per_second = value_of<metric::messages>(one);
         return per_second ? std::optional(*per_second * 60) : std::nullopt;
     }},
    {"latency_p50_us", value_of<metric::p50>},
    {"latency_p99_us", value_of<metric::p99>},
    {"cpu_ms_a_message", value_of<metric::cpu>},
    {"written_kib_a_message", value_of<metric::written>},
    {"flushes_a_message", value_of<metric::flushes>},
    {"capacity_a_second", value_of<metric::capacity>},
}};

template <std::optional<double> costs::*Amount>
std::optional<double> spent(const measured_run& one) {
    return one.spent ? (*one.spent).*Amount : std::nullopt;
}

template <std::optional<double> device_costs::*Amount>
std::optional<double> on_storage(const measured_run& one) {
    return one.spent ? experiment::sum_of(*one.spent, one.run.devices, Amount) : std::nullopt;
}

struct run_column {
    std::string_view name;
    std::optional<double> (*value)(const measured_run&);
};

constexpr std::array<run_column, 14> run_columns{{
    {"flush_median_s", [](const measured_run& one) { return one.run.flush_median_s; }},
    {"cpu_user_s", spent<&costs::user_s>},
    {"cpu_system_s", spent<&costs::system_s>},
    {"iowait_s", spent<&costs::iowait_s>},
    {"steal_s", spent<&costs::steal_s>},
    {"idle_s", spent<&costs::idle_s>},
    {"context_switches", spent<&costs::context_switches>},
    {"forks", spent<&costs::forks>},
    {"storage_reads", on_storage<&device_costs::reads>},
    {"storage_read_kib", on_storage<&device_costs::read_kib>},
    {"storage_writes", on_storage<&device_costs::writes>},
    {"storage_written_kib", on_storage<&device_costs::written_kib>},
    {"storage_flushes", on_storage<&device_costs::flushes>},
    {"storage_busy", on_storage<&device_costs::busy>},
}};

}  // namespace

sheet sheet_of(const experiment::results& of) {
    sheet made{{"block", "position", "variant", "state", "started", "seconds", "voids"}};
    for (const std::string& program : of.record.programs) {
        const std::string prefix = of.record.programs.size() > 1 ? program + "." : "";
        for (const load_column& each : load_columns)
            made.columns.push_back(csv_cell(prefix + std::string(each.name)));
    }
    for (const run_column& each : run_columns)
        made.columns.emplace_back(each.name);
    for (const measured_run& one : of.runs) {
        const experiment::recorded_run& run = one.run;
        auto& cells = made.rows.emplace_back(std::vector<std::string>{
            std::to_string(run.at.block), std::to_string(run.at.position),
            csv_cell(of.record.variants[run.at.variant].name), std::string(name_of(run.end)),
            csv_cell(run.started), csv_decimal(run.seconds), csv_cell(one.voids)});
        for (std::size_t program = 0; program < of.record.programs.size(); ++program) {
            for (const load_column& each : load_columns)
                cells.push_back(program < one.loads.size()
                                    ? csv_decimal(each.value(one.loads[program]), places)
                                    : "");
        }
        for (const run_column& each : run_columns)
            cells.push_back(csv_decimal(each.value(one), places));
    }
    return made;
}

}  // namespace postal::report
