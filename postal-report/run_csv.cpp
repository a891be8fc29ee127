// SPDX-License-Identifier: GPL-3.0-or-later
#include "postal-report/csv.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>

#include "base/text.hpp"
#include "base/units.hpp"
#include "base/words.hpp"
#include "postal-report/figures.hpp"
#include "postal-report/samples.hpp"
#include "stats/figures.hpp"

namespace postal::report {

namespace {

using cell_maker = std::string (*)(const record&);

template <time_figure Member>
std::string latency(const record& one) {
    return csv_decimal(value_of(one.main_phase(), Member));
}

template <time_figure Member>
std::string service(const record& one) {
    return csv_decimal(value_of(one.find_phase("service"), Member));
}

std::string thresholds_not_met(const record& one) {
    std::size_t count = 0;
    for (const threshold& each : one.thresholds)
        count += each.passed ? 0 : 1;
    return std::to_string(count);
}

struct written_column {
    std::string_view name;
    cell_maker make = nullptr;  // null: a counter of that name
};

// The places of these stay; counters that are not among them follow.
constexpr std::array<written_column, 47> written_columns{{
    {"record", [](const record& one) { return csv_cell(one.file); }},
    {"program", [](const record& one) { return csv_cell(one.program); }},
    {"version", [](const record& one) { return csv_cell(one.version); }},
    {"host", [](const record& one) { return csv_cell(one.host.name); }},
    {"started", [](const record& one) { return csv_cell(one.started); }},
    {"seed", [](const record& one) { return one.seed ? std::to_string(*one.seed) : ""; }},
    {"duration_s", [](const record& one) { return csv_decimal(one.duration_s); }},
    {"warmup_s", [](const record& one) { return csv_decimal(one.warmup_s); }},
    {"measured_s", [](const record& one) { return csv_decimal(one.measured_s); }},
    {"messages"},
    {"recipients"},
    {"bytes"},
    {"connections"},
    {"tls_connections"},
    {"errors"},
    {"rejected"},
    {"deferred"},
    {"failed"},
    {"in_doubt"},
    {"messages_per_minute", [](const record& one) { return csv_decimal(one.rate.mean); }},
    {"messages_per_minute_stddev", [](const record& one) { return csv_decimal(one.rate.stddev); }},
    {"messages_per_minute_min", [](const record& one) { return csv_decimal(one.rate.min); }},
    {"messages_per_minute_max", [](const record& one) { return csv_decimal(one.rate.max); }},
    {"messages_per_minute_ci95_low",
     [](const record& one) { return one.rate.ci95 ? csv_decimal((*one.rate.ci95)[0]) : ""; }},
    {"messages_per_minute_ci95_high",
     [](const record& one) { return one.rate.ci95 ? csv_decimal((*one.rate.ci95)[1]) : ""; }},
    {"whole_intervals", [](const record& one) { return std::to_string(one.rate.count); }},
    {"latency_mean_us", latency<&phase::mean>},
    {"latency_p50_us", latency<&phase::p50>},
    {"latency_p90_us", latency<&phase::p90>},
    {"latency_p99_us", latency<&phase::p99>},
    {"latency_p999_us", latency<&phase::p999>},
    {"latency_max_us", latency<&phase::max>},
    {"service_p50_us", service<&phase::p50>},
    {"service_p99_us", service<&phase::p99>},
    {"generator_limited", [](const record& one) { return std::to_string(one.generator.limited); }},
    {"worker_busy", [](const record& one) { return csv_decimal(one.generator.worker_busy); }},
    {"schedule_slip_p99_us",
     [](const record& one) { return csv_decimal(us(one.generator.slip_p99)); }},
    {"cpu_user_s", [](const record& one) { return csv_decimal(one.cpu_user_s); }},
    {"cpu_system_s", [](const record& one) { return csv_decimal(one.cpu_system_s); }},
    {"max_rss_bytes", [](const record& one) { return std::to_string(one.max_rss_bytes); }},
    {"thresholds_not_met", thresholds_not_met},
    {"transcript", [](const record& one) { return std::to_string(one.transcript); }},
    {"generator_verdict",
     [](const record& one) { return csv_cell(std::string(base::name_of(one.generator.verdict))); }},
    {"run_delay", [](const record& one) { return csv_decimal(one.generator.run_delay); }},
    {"loop_late_p99_us",
     [](const record& one) { return csv_decimal(us(one.generator.loop_late_p99)); }},
    {"machine_idle", [](const record& one) { return csv_decimal(one.generator.machine_idle); }},
    {"machine_steal", [](const record& one) { return csv_decimal(one.generator.machine_steal); }},
}};

const written_column* find_column(std::string_view name) {
    const auto found = std::find_if(written_columns.begin(), written_columns.end(),
                                    [&](const written_column& one) { return one.name == name; });
    return found == written_columns.end() ? nullptr : &*found;
}

// The counters that have no place of their own among the columns.
std::vector<counter> further(stats::counter_rows rows) {
    std::vector<counter> chosen;
    for (const counter& one : rows) {
        const written_column* column = find_column(one.name);
        if (column == nullptr || column->make != nullptr) chosen.push_back(one);
    }
    return chosen;
}

// What follows the counters: by what a record has, so that scripts go by the names.
struct further_column {
    std::string name;
    std::function<std::string(const record&)> make;
};

struct phase_column {
    const char* suffix;
    time_figure member;
};

constexpr std::array<phase_column, 6> phase_columns{{{"mean_us", &phase::mean},
                                                     {"p50_us", &phase::p50},
                                                     {"p90_us", &phase::p90},
                                                     {"p99_us", &phase::p99},
                                                     {"p999_us", &phase::p999},
                                                     {"max_us", &phase::max}}};

void add_phases(std::vector<further_column>& to, const std::vector<record>& records) {
    std::vector<std::string> names;
    for (const record& one : records)
        for (const phase& each : one.phases)
            if (std::find(names.begin(), names.end(), each.name) == names.end())
                names.push_back(each.name);
    for (const std::string& name : names) {
        to.push_back({name + "_count", [name](const record& one) {
                          const phase* found = one.find_phase(name);
                          return found == nullptr ? "" : std::to_string(found->count);
                      }});
        for (const phase_column& each : phase_columns) {
            const std::string title = fmt::format("{}_{}", name, each.suffix);
            if (find_column(title) != nullptr) continue;
            to.push_back({title, [name, member = each.member](const record& one) {
                              return csv_decimal(value_of(one.find_phase(name), member));
                          }});
        }
    }
}

template <class Part, class Show>
further_column of_part(const char* name, std::optional<Part> stats::run_record::*part, Show show) {
    return {name, [part, show](const record& one) {
                return one.*part ? csv_cell(show(*(one.*part))) : std::string{};
            }};
}

void add_labels(std::vector<further_column>& to) {
    to.push_back({"title", [](const record& one) { return csv_cell(one.labels.title); }});
    to.push_back({"note", [](const record& one) { return csv_cell(one.labels.note); }});
    to.push_back({"tags", [](const record& one) { return csv_cell(tags_text(one.labels)); }});
}

void add_tls(std::vector<further_column>& to) {
    using tls = stats::tls_summary;
    const auto add = [&](const char* name, auto show) {
        to.push_back(of_part(name, &record::tls, show));
    };
    add("tls_library", [](const tls& of) { return of.library; });
    add("tls_full_handshakes", [](const tls& of) { return std::to_string(of.full); });
    add("tls_resumed_handshakes", [](const tls& of) { return std::to_string(of.resumed); });
    add("tls_versions", [](const tls& of) { return counts_text(of.versions); });
    add("tls_ciphers", [](const tls& of) { return counts_text(of.ciphers); });
    add("tls_groups", [](const tls& of) { return counts_text(of.groups); });
    add("tls_verification", [](const tls& of) { return counts_text(of.verification); });
}

// "0 x 1200, 75 x 3"
template <class List, class Name, class Owner, class Count, class Counted>
std::string times_text(const List& of, Name Owner::*name, Count Counted::*count) {
    std::vector<std::string> pieces;
    for (const auto& one : of)
        pieces.push_back(fmt::format("{} x {}", one.*name, one.*count));
    return base::join(pieces, ", ");
}

std::string exits_text(const stats::agent_summary& of) {
    return times_text(of.exits, &stats::named_count::name, &stats::named_count::count);
}

void add_agents(std::vector<further_column>& to) {
    using agents = stats::agent_summary;
    const auto add = [&](const char* name, auto show) {
        to.push_back(of_part(name, &record::agents, show));
    };
    add("agents_started", [](const agents& of) { return std::to_string(of.started); });
    add("agents_cpu_user_s", [](const agents& of) { return csv_decimal(of.cpu_user_s); });
    add("agents_cpu_system_s", [](const agents& of) { return csv_decimal(of.cpu_system_s); });
    add("agents_max_rss_bytes", [](const agents& of) { return std::to_string(of.max_rss_bytes); });
    add("agent_exits", exits_text);
}

struct command_column {
    const char* suffix;
    std::uint64_t stats::command_count::*member;
};

constexpr std::array<command_column, 5> command_columns{
    {{"sent", &stats::command_count::sent},
     {"ok", &stats::command_count::ok},
     {"no", &stats::command_count::no},
     {"bad", &stats::command_count::bad},
     {"unanswered", &stats::command_count::unanswered}}};

// "FETCH x 1200, SELECT x 3"
std::string kinds_text(const stats::command_summary& of) {
    return times_text(of.by_kind, &stats::command_figures::name, &stats::command_count::sent);
}

void add_commands(std::vector<further_column>& to) {
    for (const command_column& each : command_columns)
        to.push_back(
            {fmt::format("commands_{}", each.suffix), [member = each.member](const record& one) {
                 return one.commands ? std::to_string((*one.commands).*member) : "";
             }});
    to.push_back(of_part("commands_by_kind", &record::commands, kinds_text));
}

// "read-one x 205, idle x 3", of the actions that were begun.
std::string verbs_text(const stats::profile_summary& of) {
    return times_text(of.verbs, &stats::wanted_action::verb, &stats::action_count::begun);
}

// "sort 1000 p50 3100, sort 10000 p50 41000": verb, least messages in the mailbox, and us.
std::string verb_sizes_text(const stats::profile_summary& of) {
    std::vector<std::string> pieces;
    for (const stats::verb_figures& verb : of.verbs)
        for (const stats::phase_figures& sized : verb.by_size)
            if (sized.p50)
                pieces.push_back(fmt::format("{} {} p50 {}", verb.verb, sized.name,
                                             csv_decimal(base::seconds_of(*sized.p50) * 1e6)));
    return base::join(pieces, ", ");
}

void add_profile(std::vector<further_column>& to) {
    using profile = stats::profile_summary;
    const auto add = [&](const char* name, auto show) {
        to.push_back(of_part(name, &record::profile, show));
    };
    add("actions_begun", [](const profile& of) { return std::to_string(of.begun); });
    add("actions_ok", [](const profile& of) { return std::to_string(of.ok); });
    add("actions_refused", [](const profile& of) { return std::to_string(of.refused); });
    add("actions_failed", [](const profile& of) { return std::to_string(of.failed); });
    add("actions_nothing", [](const profile& of) { return std::to_string(of.nothing); });
    add("actions_by_verb", verbs_text);
    add("actions_by_size_us", verb_sizes_text);
}

struct goal_column {
    const char* name;
    std::string (*make)(const capacity::search_record& of, std::size_t goal);
};
// Loads are a second's.
constexpr std::array<goal_column, 12> goal_columns{{
    {"promise",
     [](const capacity::search_record& of, std::size_t goal) {
         return csv_cell(capacity::promise_of(of.goals[goal], of.beside));
     }},
    {"result",
     [](const capacity::search_record& of, std::size_t goal) {
         return csv_cell(std::string(capacity::standing_of(of.result, goal).result));
     }},
    {"per_s",
     [](const capacity::search_record& of, std::size_t goal) {
         return csv_decimal(capacity::standing_of(of.result, goal).rate);
     }},
    {"relevant_lower_bound",
     [](const capacity::search_record& of, std::size_t goal) {
         return csv_decimal(of.result.goals[goal].lower);
     }},
    {"relevant_upper_bound",
     [](const capacity::search_record& of, std::size_t goal) {
         return csv_decimal(of.result.goals[goal].upper);
     }},
    {"conditional_throughput",
     [](const capacity::search_record& of, std::size_t goal) {
         return csv_decimal(capacity::standing_of(of.result, goal).conditional_throughput);
     }},
    {"loss_ratio", [](const capacity::search_record& of,
                      std::size_t goal) { return csv_decimal(of.goals[goal].loss_ratio, 6); }},
    {"initial_trial_s",
     [](const capacity::search_record& of, std::size_t goal) {
         return csv_decimal(of.goals[goal].initial_trial_s);
     }},
    {"final_trial_s", [](const capacity::search_record& of,
                         std::size_t goal) { return csv_decimal(of.goals[goal].final_trial_s); }},
    {"duration_sum_s", [](const capacity::search_record& of,
                          std::size_t goal) { return csv_decimal(of.goals[goal].duration_sum_s); }},
    {"exceed_ratio", [](const capacity::search_record& of,
                        std::size_t goal) { return csv_decimal(of.goals[goal].exceed_ratio); }},
    {"width", [](const capacity::search_record& of,
                 std::size_t goal) { return csv_decimal(of.goals[goal].width, 4); }},
}};

// Of each Search Goal: "goal_1_promise".
void add_goals(std::vector<further_column>& to, const std::vector<record>& records) {
    std::size_t most = 0;
    for (const record& one : records)
        if (one.search) most = std::max(most, one.search->goals.size());
    for (std::size_t goal = 0; goal < most; ++goal)
        for (const goal_column& each : goal_columns)
            to.push_back({fmt::format("goal_{}_{}", goal + 1, each.name),
                          [goal, make = each.make](const record& one) {
                              return one.search && goal < one.search->goals.size()
                                         ? make(*one.search, goal)
                                         : std::string{};
                          }});
}

// Of each figure that was sampled: "sample_postfix_active_highest".
void add_sample_columns(std::vector<further_column>& to, const std::vector<record>& records) {
    for (const std::string& name : sample_names(records)) {
        std::string column = "sample_" + name;
        std::replace(column.begin(), column.end(), ' ', '_');
        to.push_back({column + "_highest", [name](const record& one) {
                          const auto* const found = find_sample(one, name);
                          return found == nullptr ? "" : csv_decimal(found->highest);
                      }});
        to.push_back({column + "_last", [name](const record& one) {
                          const auto* const found = find_sample(one, name);
                          return found == nullptr ? "" : csv_decimal(found->last());
                      }});
    }
}

std::vector<further_column> further_columns(const std::vector<record>& records) {
    std::vector<further_column> made;
    const auto any = [&](auto has) { return std::any_of(records.begin(), records.end(), has); };
    add_phases(made, records);
    if (any([](const record& one) { return !one.labels.empty(); })) add_labels(made);
    if (any([](const record& one) { return one.tls.has_value(); })) add_tls(made);
    if (any([](const record& one) { return one.agents.has_value(); })) add_agents(made);
    if (any([](const record& one) { return one.commands.has_value(); })) add_commands(made);
    if (any([](const record& one) { return one.profile.has_value(); })) add_profile(made);
    if (any([](const record& one) { return one.cap.has_value(); })) {
        made.push_back(of_part("asked_per_s", &record::cap, [](const stats::cap_summary& of) {
            return csv_decimal(of.asked_per_s);
        }));
        made.push_back(of_part("reached_per_s", &record::cap, [](const stats::cap_summary& of) {
            return csv_decimal(of.reached_per_s);
        }));
    }
    add_goals(made, records);
    add_sample_columns(made, records);
    for (const stats::figure& figure : stats::all_figures())
        if (any([&](const record& one) { return (one.*figure.value).has_value(); }))
            made.push_back({std::string(figure.name), [value = figure.value](const record& one) {
                                return csv_decimal(one.*value);
                            }});
    return made;
}

std::string counter_cell(const record& one, std::string_view name) {
    const counter* shown = stats::find_counter(one.counters, name);
    const bool known = shown != nullptr && one.totals.has(*shown);
    return known ? std::to_string(one.totals.*shown->value) : std::string{};
}

std::vector<std::string> csv_cells(const record& one, stats::counter_rows rows) {
    std::vector<std::string> cells;
    for (const written_column& each : written_columns)
        cells.push_back(each.make != nullptr ? each.make(one) : counter_cell(one, each.name));
    for (const counter& each : further(rows))
        cells.push_back(counter_cell(one, each.name));
    return cells;
}

}  // namespace

sheet sheet_of(const std::vector<record>& records) {
    const stats::counter_rows rows = records.front().counters;
    const auto more = further_columns(records);
    sheet made;
    for (const written_column& each : written_columns)
        made.columns.emplace_back(each.name);
    // `started` is taken: it is when the run was.
    for (const counter& each : further(rows))
        made.columns.push_back(std::string{each.name} + (find_column(each.name) ? "_count" : ""));
    for (const further_column& each : more)
        made.columns.push_back(csv_cell(each.name));
    for (const record& one : records) {
        auto& cells = made.rows.emplace_back(csv_cells(one, rows));
        for (const further_column& each : more)
            cells.push_back(each.make(one));
    }
    return made;
}

}  // namespace postal::report
