// SPDX-License-Identifier: GPL-3.0-or-later
// The tables of servers: what lmtp-deliver's agents did, how clients used their connections, and
// which limits they struck.
#include <fmt/format.h>

#include <algorithm>

#include "base/units.hpp"
#include "postal-report/compared_rows.hpp"
#include "postal-report/figures.hpp"
#include "postal-report/run.hpp"
#include "stats/shown.hpp"

namespace postal::report {

namespace {

using agents = stats::agent_summary;
using connections = stats::connection_summary;

std::uint64_t ended_agents(const agents& of) {
    std::uint64_t sum = 0;
    for (const auto& [name, count] : of.exits)
        sum += count;
    return sum;
}

// "ended with status 75", "ended by signal 9"; others are words that lmtp-deliver chose.
std::string exit_name(const std::string& name) {
    const bool status = !name.empty() && name.find_first_not_of("0123456789") == std::string::npos;
    if (status) return "ended with status " + name;
    if (name == "timeout") return "ended for taking too long";
    return name.starts_with("signal ") ? "ended by " + name : name;
}

compared_row exit_row(const std::string& name) {
    return {exit_name(name), [name](const record& one) {
                if (!one.agents) return std::string{unknown};
                for (const auto& [other, count] : one.agents->exits) {
                    if (other != name) continue;
                    return fmt::format("{} ({})", base::format_count(count),
                                       show_share(static_cast<double>(count),
                                                  static_cast<double>(ended_agents(*one.agents))));
                }
                return std::string{"0"};
            }};
}

// A row for each name that any of the records has counted.
template <class Counts, class Row>
std::vector<compared_row> rows_by_name(const std::vector<record>& records, Counts counts_of,
                                       Row row) {
    std::vector<std::string> names;
    for (const record& one : records) {
        const stats::named_numbers* const counts = counts_of(one);
        if (counts == nullptr) continue;
        for (const auto& [name, count] : *counts)
            if (count > 0 && std::find(names.begin(), names.end(), name) == names.end())
                names.push_back(name);
    }
    std::vector<compared_row> rows;
    for (const std::string& name : names)
        rows.push_back(row(name));
    return rows;
}

std::vector<compared_row> exit_rows(const std::vector<record>& records) {
    return rows_by_name(
        records, [](const record& one) { return one.agents ? &one.agents->exits : nullptr; },
        exit_row);
}

compared_row limit_row(const std::string& name) {
    return {"--" + name, [name](const record& one) {
                if (!one.limits) return std::string{unknown};
                std::uint64_t struck = 0;
                for (const auto& [other, count] : *one.limits)
                    if (other == name) struck += count;
                return base::format_count(struck);
            }};
}

bool any_limit(const std::vector<record>& records) {
    return std::any_of(records.begin(), records.end(), [](const record& one) {
        return one.limits && std::any_of(one.limits->begin(), one.limits->end(),
                                         [](const auto& each) { return each.count > 0; });
    });
}

// Processor time of one agent, in microseconds.
std::optional<double> cost_us(const record& one) {
    const auto each_s = one.agents ? stats::processor_s_of_each(*one.agents) : std::nullopt;
    return each_s ? std::optional(*each_s * 1e6) : std::nullopt;
}

std::string show_most_running(const record& one) {
    std::optional<std::uint64_t> most;
    for (const interval& each : one.intervals)
        most = std::max(most, each.agents_running);
    return show_number(most);
}

compared_row agent_time(std::string name, time_figure member) {
    return {std::move(name),
            [member](const record& one) { return show_latency(one.find_phase("agent"), member); },
            [member](const record& one) { return value_of(one.find_phase("agent"), member); }};
}

template <class Show>
compared_row of_agents(std::string name, Show show) {
    return {std::move(name), [show](const record& one) {
                return one.agents ? show(*one.agents) : std::string{unknown};
            }};
}

template <class Show>
compared_row of_connections(std::string name, Show show) {
    return {std::move(name), [show](const record& one) {
                return one.connection_use ? show(*one.connection_use) : std::string{unknown};
            }};
}

bool any_agent(const std::vector<record>& records) {
    return std::any_of(records.begin(), records.end(), [](const record& one) {
        return one.agents && (one.agents->started > 0 || !one.agents->exits.empty());
    });
}

}  // namespace

table agent_table(const std::vector<record>& records) {
    table made{"agents", "Delivery agents", record_columns(records), {}};
    if (!any_agent(records)) return made;
    add_rows(
        made, records,
        {of_agents("started", [](const agents& of) { return base::format_count(of.started); })});
    add_rows(made, records, exit_rows(records));
    add_rows(made, records,
             {agent_time("time p50", &phase::p50),
              agent_time("time p99", &phase::p99),
              agent_time("time highest", &phase::max),
              {"processor time of each",
               [](const record& one) { return show_latency(cost_us(one)); }, cost_us},
              of_agents("processor time of all",
                        [](const agents& of) {
                            return stats::processor_time_text(of.cpu_user_s, of.cpu_system_s);
                        }),
              of_agents("memory of the largest",
                        [](const agents& of) { return base::format_size(of.max_rss_bytes); }),
              {"most at the end of an interval", show_most_running}});
    return made;
}

table connection_table(const std::vector<record>& records) {
    table made{"connections", "Connections of the clients", record_columns(records), {}};
    const bool any = std::any_of(records.begin(), records.end(), [](const record& one) {
        return one.connection_use && one.connection_use->messages;
    });
    if (!any) return made;
    add_rows(made, records,
             {of_connections("messages a connection",
                             [](const connections& of) { return show_number(of.messages); }),
              of_connections("recipients a transaction",
                             [](const connections& of) { return show_number(of.recipients); }),
              of_connections("with TLS", [](const connections& of) { return show_busy(of.tls); }),
              of_connections("transactions pipelined",
                             [](const connections& of) { return show_busy(of.pipelined); }),
              of_connections("most open at once", [](const connections& of) {
                  return base::format_count(of.most_open);
              })});
    made.note = "over the whole run, also its warm-up";
    return made;
}

table limit_table(const std::vector<record>& records) {
    table made{"limits", "Limits that clients struck", record_columns(records), {}};
    if (!any_limit(records)) return made;
    add_rows(made, records,
             rows_by_name(
                 records, [](const record& one) { return one.limits ? &*one.limits : nullptr; },
                 limit_row));
    made.note = "times, by the option that sets it";
    return made;
}

}  // namespace postal::report
