// SPDX-License-Identifier: GPL-3.0-or-later
#include "postal-report/run.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/digits.hpp"
#include "base/units.hpp"
#include "postal-report/compared_rows.hpp"
#include "postal-report/figures.hpp"
#include "postal-report/words.hpp"
#include "stats/figures.hpp"

namespace postal::report {

namespace {

compared_row latency_figure(std::string name, time_figure member) {
    // Of a search it is of all its trials, which no two have alike.
    const auto value = [member](const record& one) {
        return one.search ? std::nullopt : value_of(one.main_phase(), member);
    };
    return {std::move(name),
            [member](const record& one) { return show_latency(one.main_phase(), member); }, value};
}

std::string show_confidence_alone(const record& one) {
    const std::string confidence = stats::confidence_text(one.rate);
    return confidence.empty() ? unknown : confidence + " /min";
}

std::string show_range(const record& one) {
    if (one.rate.count < 2) return unknown;
    return stats::measured_text(one.rate, &message_rate::min) + " to " +
           stats::measured_text(one.rate, &message_rate::max) + " /min";
}

// What a rate asked for, whether it paces an open loop or caps a closed one.
std::optional<double> offered_a_minute(const record& one) {
    if (one.cap) return one.cap->asked_per_s * 60;
    if (one.totals.due == 0 || !(one.measured_s > 0)) return std::nullopt;
    return static_cast<double>(one.totals.due) * 60 / one.measured_s;
}

std::optional<double> begun_a_minute(const record& one) {
    if (one.cap) return one.cap->reached_per_s * 60;
    const auto offered = offered_a_minute(one);
    if (!offered) return std::nullopt;
    const std::uint64_t missed = std::min(one.totals.not_started, one.totals.due);
    return *offered * static_cast<double>(one.totals.due - missed) /
           static_cast<double>(one.totals.due);
}

std::vector<compared_row> offered_figures() {
    return {{"offered",
             [](const record& one) {
                 const auto offered = offered_a_minute(one);
                 if (!offered) return std::string{unknown};
                 return fmt::format("{} {}/min", base::format_measured(*offered),
                                    reads_mail(one) ? "visits" : "");
             }},
            {"begun of these",
             [](const record& one) {
                 const auto offered = offered_a_minute(one);
                 if (!offered) return std::string{unknown};
                 const auto begun = begun_a_minute(one);
                 return fmt::format("{} /min, {}", base::format_measured(*begun),
                                    show_share(std::min(*begun, *offered), *offered));
             }},
            {"all sessions busy", [](const record& one) {
                 if (!one.cap) return std::string{unknown};
                 return show_busy(one.cap->all_busy) + " of the time";
             }}};
}

// Those that were opened before what is counted began, and may have served it all the same.
std::string show_warm_connections(const record& one) {
    const std::uint64_t all = one.totals_with_warmup.connections;
    if (all <= one.totals.connections) return unknown;
    return base::format_count(all - one.totals.connections);
}

std::string show_thread(const std::optional<stats::thread_share>& one) {
    return one ? show_busy(one->busy) : unknown;
}

double cpu_seconds(const record& one) {
    return one.cpu_user_s + one.cpu_system_s;
}

std::string show_counter(const record& one, const counter& shown) {
    const std::uint64_t count = one.totals.*shown.value;
    if (shown.unit == stats::counter_unit::number) return base::format_count(count);
    return base::format_size(count) + ", " + show_per_second(one, shown.value);
}

bool is_told(const counter& shown, const std::vector<record>& records) {
    return std::any_of(records.begin(), records.end(), [&](const record& one) {
        return is_counted(one, shown) && (!shown.rare || one.totals.*shown.value > 0);
    });
}

// A row for each counter of the kind, and what is a part of the one before it in that one's row.
// Only failures are compared: more of anything else says how long a run was.
std::vector<compared_row> counter_figures(const std::vector<record>& records, counter_kind kind) {
    std::vector<compared_row> figures;
    for (const counter& shown : counters_of(records.front().counters, kind)) {
        if (!is_told(shown, records)) continue;
        if (shown.part) {
            figures.back().text = [shown, before = figures.back().text](const record& one) {
                if (!one.totals.has(shown)) return before(one);
                return before(one) + ", " + show_counter(one, shown) + " " +
                       std::string{shown.title};
            };
            continue;
        }
        figures.push_back({std::string{shown.title}, [shown](const record& one) {
                               return one.totals.has(shown) ? show_counter(one, shown) : unknown;
                           }});
        if (!shown.failure) continue;
        figures.back().value = [shown](const record& one) {
            return std::optional{static_cast<double>(one.totals.*shown.value)};
        };
    }
    return figures;
}

table counter_table(table made, const std::vector<record>& records, counter_kind kind) {
    made.columns = record_columns(records);
    if (records.size() == 1) made.columns[1].title = "count";
    add_rows(made, records, counter_figures(records, kind));
    return made;
}

}  // namespace

std::vector<counter> counters_of(stats::counter_rows rows, counter_kind kind) {
    std::vector<counter> chosen;
    for (const counter& one : rows)
        if (one.kind == kind) chosen.push_back(one);
    return chosen;
}

double ended(const record& one) {
    double sum = 0;
    for (const counter& each : counters_of(one.counters, counter_kind::outcome))
        sum += static_cast<double>(one.totals.*each.value);
    return sum;
}

table result_table(const std::vector<record>& records) {
    table made{"result", "Result", record_columns(records), {}};
    add_rows(
        made, records,
        {{"rate",
          [](const record& one) {
              return one.rate.mean ? stats::measured_text(one.rate, &message_rate::mean) + " /min"
                                   : std::string{unknown};
          },
          [](const record& one) { return one.search ? std::nullopt : one.rate.mean; }},
         {"lowest and highest interval", show_range},
         {std::string{counted_word(records)},
          [](const record& one) { return base::format_count(one.totals.messages) + " messages"; }},
         latency_figure("latency p50", &phase::p50),
         latency_figure("latency p99", &phase::p99),
         latency_figure("latency highest", &phase::max)});
    const auto had_load = [](const record& one) { return one.under_load.has_value(); };
    if (std::any_of(records.begin(), records.end(), had_load))
        add_rows(made, records, {{"rate under load", [](const record& one) {
                                      if (!one.under_load || !one.under_load->per_second)
                                          return std::string{unknown};
                                      return show_number(*one.under_load->per_second * 60) +
                                             " /min";
                                  }}});
    if (records.size() == 1)
        add_rows(made, records, {{"mean within this run, 95 %", show_confidence_alone}});
    add_rows(made, records, offered_figures());
    for (const auto kind :
         {counter_kind::schedule, counter_kind::begun, counter_kind::traffic, counter_kind::error})
        add_rows(made, records, counter_figures(records, kind));
    add_rows(made, records, {{"connections of the warm-up", show_warm_connections}});
    for (const stats::figure& one : stats::all_figures())
        add_rows(made, records, {{std::string(one.title), [&](const record& each) {
                                      const auto seconds = each.*one.value;
                                      return seconds ? show_latency(*seconds * 1e6) : unknown;
                                  }}});
    add_rows(made, records,
             {{"measured", [](const record& one) {
                   return show_seconds(one.measured_s) +
                          (one.warmup_s > 0 ? " after " + show_seconds(one.warmup_s) + " of warm-up"
                                            : std::string{});
               }}});
    if (records.size() > 1) {
        made.note = "in brackets the change against " + records.front().label +
                    "; one run each is no verdict";
    }
    return made;
}

table outcome_table(const std::vector<record>& records) {
    table made{"outcomes", "Outcome of the messages started", record_columns(records), {}};
    if (records.size() == 1) {
        made.columns = {
            {"outcome"}, {"messages", align::right}, {"share", align::right}, {"meaning"}};
    }
    for (const counter& shown : counters_of(records.front().counters, counter_kind::outcome)) {
        if (!is_told(shown, records)) continue;
        std::vector<std::string> row{
            std::string{shown.name == "messages" ? counted_word(records) : shown.title}};
        for (const record& one : records) {
            const std::uint64_t count = one.totals.*shown.value;
            const std::string share = show_share(static_cast<double>(count), ended(one));
            if (records.size() == 1) {
                row.insert(row.end(), {base::format_count(count), share,
                                       std::string{outcome_meaning(one, shown)}});
            } else {
                row.push_back(base::format_count(count) + (count > 0 ? " (" + share + ")" : ""));
            }
        }
        made.rows.push_back(std::move(row));
    }
    return made;
}

table mailbox_table(const std::vector<record>& records) {
    return counter_table({"mailboxes", "Mailboxes", {}, {}}, records, counter_kind::mailbox);
}

table retry_table(const std::vector<record>& records) {
    table made =
        counter_table({"retries", "Recipients that were deferred, and their retries", {}, {}},
                      records, counter_kind::retry);
    add_rows(made, records, counter_figures(records, counter_kind::greylist));
    return made;
}

table integrity_table(const std::vector<record>& records) {
    return counter_table({"integrity", "Integrity of the messages", {}, {}}, records,
                         counter_kind::integrity);
}

table generator_table(const std::vector<record>& records) {
    table made{"generator", "Load generator", record_columns(records), {}};
    add_rows(
        made, records,
        {{"was the limit",
          [](const record& one) { return std::string{one.generator.limited ? "YES" : "no"}; }},
         {"machine was full",
          [](const record& one) {
              return std::string{one.generator.verdict == generator_verdict::machine_full ? "YES"
                                                                                          : "no"};
          }},
         {"busiest worker", [](const record& one) { return show_busy(one.generator.worker_busy); }},
         {"schedule slip p99",
          [](const record& one) { return show_latency(one.generator.slip_p99); }},
         {"longest wait for a processor",
          [](const record& one) { return show_busy(one.generator.run_delay); }},
         {"loop late p99",
          [](const record& one) { return show_latency(one.generator.loop_late_p99); }},
         {"loop late at most",
          [](const record& one) { return show_latency(one.generator.loop_late_max); }},
         {"least idle processors",
          [](const record& one) { return show_busy(one.generator.machine_idle); }},
         {"most stolen by the hypervisor",
          [](const record& one) { return show_busy(one.generator.machine_steal); }},
         {"most pressure on processors",
          [](const record& one) { return show_busy(one.generator.cpu_pressure); }},
         {"busiest: main thread",
          [](const record& one) { return show_thread(one.generator.main); }},
         {"busiest: ledger's writer",
          [](const record& one) { return show_thread(one.generator.ledger); }},
         {"held back by a CPU quota",
          [](const record& one) { return show_busy(one.generator.throttled); }},
         {"stopped for",
          [](const record& one) {
              return one.generator.stopped_s ? fmt::format("{:.1f} s", *one.generator.stopped_s)
                                             : std::string{unknown};
          }},
         {"processor time",
          [](const record& one) {
              return stats::processor_time_text(one.cpu_user_s, one.cpu_system_s);
          }},
         {std::string{counted_word(records)} + " for each processor second",
          [](const record& one) {
              if (!(cpu_seconds(one) > 0)) return std::string{unknown};
              return show_number(static_cast<double>(one.totals.messages) / cpu_seconds(one)) +
                     " messages";
          }},
         {"most memory", [](const record& one) {
              return one.max_rss_bytes == 0 ? std::string{unknown}
                                            : base::format_size(one.max_rss_bytes);
          }}});
    return made;
}

// What runs are called, of those that have a name.
void add_label_rows(table& to, const std::vector<record>& records) {
    for (const stats::told_label& each : stats::told_labels) {
        const auto has = [&](const record& one) { return !each.text(one.labels).empty(); };
        if (std::none_of(records.begin(), records.end(), has)) continue;
        add_rows(to, records, {{std::string(each.name), [&](const record& one) {
                                    return has(one) ? each.text(one.labels) : std::string(unknown);
                                }}});
    }
}

table host_table(const std::vector<record>& records) {
    const auto or_unknown = [](const std::string& text) {
        return text.empty() ? std::string{unknown} : text;
    };
    table made{"host", "Run and host", record_columns(records), {}};
    add_label_rows(made, records);
    add_rows(made, records,
             {{"program", [](const record& one) { return one.program + " " + one.version; }},
              {"started", [&](const record& one) { return or_unknown(one.started); }},
              {"length", [](const record& one) { return show_seconds(one.duration_s); }},
              {"interval", [](const record& one) { return show_seconds(one.interval_s); }},
              {"seed",
               [](const record& one) {
                   return one.seed ? std::to_string(*one.seed) : std::string{unknown};
               }},
              {"host", [&](const record& one) { return or_unknown(one.host.name); }},
              {"kernel", [&](const record& one) { return or_unknown(one.host.kernel); }},
              {"processors",
               [](const record& one) {
                   return one.host.cpus == 0 ? unknown : base::format_count(one.host.cpus);
               }},
              {"memory",
               [](const record& one) {
                   return one.host.memory_bytes == 0 ? unknown
                                                     : base::format_size(one.host.memory_bytes);
               }},
              {"command", [&](const record& one) { return or_unknown(show_command(one)); }},
              {"record", [](const record& one) { return one.file; }}});
    for (std::size_t i = 1; i < made.columns.size(); ++i)
        made.columns[i].side = align::left;
    return made;
}

}  // namespace postal::report
