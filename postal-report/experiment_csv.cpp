// SPDX-License-Identifier: GPL-3.0-or-later
#include <array>
#include <string_view>

#include "base/text.hpp"
#include "experiment/run_values.hpp"
#include "postal-report/csv.hpp"
#include "postal-report/experiment.hpp"

namespace postal::report {

namespace {

using experiment::costs;
using experiment::device_costs;
using experiment::load_values;
using experiment::measured_run;

constexpr int places = 6;

// Beside the metrics, which name their columns themselves.
struct load_column {
    std::string_view name;
    double load_values::*amount;
};

constexpr std::array<load_column, 3> load_columns{{
    {"messages", &load_values::messages},
    {"measured_s", &load_values::measured_s},
    {"error_share", &load_values::errors},
}};

std::string metric_cell(std::optional<double> one, double factor) {
    if (experiment::is_never(one)) return "never";
    return csv_decimal(one ? std::optional(*one * factor) : std::nullopt, places);
}

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
        for (const experiment::metric_description& each : experiment::metrics)
            made.columns.push_back(csv_cell(prefix + std::string(each.column)));
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
            const load_values* const of_load =
                program < one.loads.size() ? &one.loads[program] : nullptr;
            for (const load_column& each : load_columns)
                cells.push_back(of_load != nullptr ? csv_decimal(of_load->*each.amount, places)
                                                   : "");
            for (std::size_t i = 0; i < experiment::metrics.size(); ++i)
                cells.push_back(
                    of_load != nullptr
                        ? metric_cell(of_load->values[i], experiment::metrics[i].column_factor)
                        : "");
        }
        for (const run_column& each : run_columns)
            cells.push_back(csv_decimal(each.value(one), places));
    }
    return made;
}

}  // namespace postal::report
