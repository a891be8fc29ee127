// SPDX-License-Identifier: GPL-3.0-or-later
// The tables of a report that go into detail: phases, errors, thresholds, options, intervals.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "base/text.hpp"
#include "base/units.hpp"
#include "postal-report/chart_data.hpp"
#include "postal-report/figures.hpp"
#include "postal-report/ranks.hpp"
#include "postal-report/run.hpp"
#include "postal-report/samples.hpp"
#include "postal-report/search.hpp"
#include "postal-report/words.hpp"

namespace postal::report {

namespace {

struct percentile {
    const char* name;
    time_figure member;
    bool in_comparison;  // also shown for each phase where several records stand side by side
};

constexpr std::array<percentile, 6> percentiles{{{"mean", &phase::mean, false},
                                                 {"p50", &phase::p50, true},
                                                 {"p90", &phase::p90, false},
                                                 {"p99", &phase::p99, true},
                                                 {"p99.9", &phase::p999, false},
                                                 {"highest", &phase::max, false}}};

// A first column for names and one for each record.
std::vector<column> compared(std::string first, const std::vector<record>& records, align side) {
    std::vector<column> columns{{std::move(first)}};
    for (const record& one : records)
        columns.push_back({one.label, side});
    return columns;
}

// The names that any of the records has, in the order in which they first come.
template <class List, class Name>
std::vector<std::string> all_names(const std::vector<record>& records, List list, Name name) {
    std::vector<std::string> names;
    std::unordered_set<std::string> known;
    for (const record& one : records) {
        for (const auto& each : one.*list) {
            std::string found = name(each);
            if (known.insert(found).second) names.push_back(std::move(found));
        }
    }
    return names;
}

table phases_of_one(const record& one) {
    table made{"latency", "Latency by phase", {{"phase"}, {"count", align::right}}, {}};
    for (const percentile& each : percentiles)
        made.columns.push_back({each.name, align::right});
    for (const phase& shown : one.phases) {
        if (shown.count == 0) continue;
        std::vector<std::string> row{shown.name, base::format_count(shown.count)};
        for (const percentile& each : percentiles)
            row.push_back(show_latency(&shown, each.member));
        made.rows.push_back(std::move(row));
    }
    return made;
}

table phases_of_several(const std::vector<record>& records) {
    table made{"latency", "Latency by phase", compared("phase", records, align::right), {}};
    for (const std::string& name :
         all_names(records, &record::phases, [](const phase& each) { return each.name; })) {
        for (const percentile& each : percentiles) {
            if (!each.in_comparison && name != "message") continue;
            const phase* reference = records.front().find_phase(name);
            std::vector<std::string> row{name + " " + each.name};
            bool known = false;
            for (const record& one : records) {
                const auto value = value_of(one.find_phase(name), each.member);
                known = known || value.has_value();
                row.push_back(show_latency(one.find_phase(name), each.member));
                if (&one == &records.front() || reference == nullptr) continue;
                row.back() += show_change(value, value_of(reference, each.member));
            }
            if (known) made.rows.push_back(std::move(row));
        }
    }
    return made;
}

}  // namespace

table latency_table(const std::vector<record>& records) {
    table made = records.size() == 1 ? phases_of_one(records.front()) : phases_of_several(records);
    const auto has = [&](const char* name) {
        return std::any_of(records.begin(), records.end(), [&](const record& one) {
            return one.find_phase(name) != nullptr && one.find_phase(name)->count > 0;
        });
    };
    if (has("message") && has("service")) {
        made.note =
            "message runs from the moment a message was due, service from its first byte; both end "
            "with the reply that accepted it";
    } else if (has("session") && has("service")) {
        made.note =
            "session runs from the moment a visit was due, service from its connection; both end "
            "with the visit";
    }
    return made;
}

table error_table(const std::vector<record>& records) {
    table made{"errors", "Errors", {}, {}};
    if (records.size() == 1) {
        made.columns = {{"count", align::right}, {"stage"}, {"code"}, {"sample"}};
        for (const error_entry& one : records.front().errors) {
            made.rows.push_back(
                {base::format_count(one.count), one.stage, show_code(one), one.sample});
        }
        return made;
    }
    made.columns = compared("stage and code", records, align::right);
    const auto name_of = [](const error_entry& each) { return each.stage + " " + show_code(each); };
    std::vector<std::unordered_map<std::string, std::uint64_t>> counts(records.size());
    for (std::size_t i = 0; i < records.size(); ++i)
        for (const error_entry& each : records[i].errors)
            counts[i][name_of(each)] += each.count;
    for (const std::string& name : all_names(records, &record::errors, name_of)) {
        std::vector<std::string> row{name};
        for (const auto& of_one : counts) {
            const auto found = of_one.find(name);
            row.push_back(base::format_count(found != of_one.end() ? found->second : 0));
        }
        made.rows.push_back(std::move(row));
    }
    return made;
}

table threshold_table(const std::vector<record>& records) {
    table made{
        "thresholds", "Thresholds", {{"threshold"}, {"measured", align::right}, {"verdict"}}, {}};
    made.bad_cell = "NOT MET";
    if (records.size() > 1) made.columns.insert(made.columns.begin(), {"record"});
    for (const record& one : records) {
        for (const threshold& each : one.thresholds) {
            auto& row = made.rows.emplace_back();
            if (records.size() > 1) row.push_back(one.label);
            row.insert(row.end(), {each.expression, show_threshold_value(each),
                                   each.passed ? std::string("passed") : made.bad_cell});
        }
    }
    return made;
}

namespace {

using named_texts = std::vector<std::pair<std::string, std::string>>;

// A row for each name that any record has, in the order in which they first come.
void add_texts(table& to, const std::vector<record>& records,
               named_texts (*texts_of)(const record& one)) {
    std::unordered_map<std::string, std::size_t> places;
    for (std::size_t i = 0; i < to.rows.size(); ++i)
        places.emplace(to.rows[i].front(), i);
    for (std::size_t i = 0; i < records.size(); ++i) {
        for (auto& named : texts_of(records[i])) {
            const auto [place, is_new] = places.try_emplace(named.first, to.rows.size());
            if (is_new) {
                to.rows.emplace_back(records.size() + 1, unknown);
                to.rows.back().front() = named.first;
            }
            to.rows[place->second][i + 1] = std::move(named.second);
        }
    }
}

named_texts options_of(const record& one) {
    named_texts made;
    for (const auto& [name, value] : one.options)
        made.emplace_back(name, show_option(value));
    return made;
}

named_texts security_of(const record& one) {
    named_texts made;
    const auto add = [&](const char* name, std::string text) {
        if (!text.empty()) made.emplace_back(name, std::move(text));
    };
    if (one.tls) {
        add("library", one.tls->library);
        add("handshakes", fmt::format("{} full, {} resumed", base::format_count(one.tls->full),
                                      base::format_count(one.tls->resumed)));
        add("versions", counts_text(one.tls->versions));
        add("cipher suites", counts_text(one.tls->ciphers));
        add("key exchange", counts_text(one.tls->groups));
        add("certificates", counts_text(one.tls->verification));
    }
    if (one.authentications) add("logins", counts_text(*one.authentications));
    return made;
}

// Of several records the rows in which they differ, or the others. An option that another program
// does not have is no difference; one that a run of the same program was not given is.
table options_where(table made, const std::vector<record>& records, bool differ) {
    made.columns = compared("option", records, align::left);
    add_texts(made, records, options_of);
    const bool one_program = std::all_of(records.begin(), records.end(), [&](const record& each) {
        return each.program == records.front().program;
    });
    const auto differs = [&](const std::vector<std::string>& row) {
        if (!one_program && std::find(row.begin(), row.end(), unknown) != row.end()) return false;
        return std::any_of(row.begin() + 1, row.end(),
                           [&](const std::string& each) { return each != row[1]; });
    };
    // Where a record went is no part of what was compared.
    std::erase_if(made.rows, [&](const auto& row) {
        return differs(row) != differ || (records.size() > 1 && row[0] == "record");
    });
    return made;
}

std::string kind_of(const interval& one) {
    if (one.draining) return "after the stop";
    if (one.warmup) return one.partial ? "warm-up, partial" : "warm-up";
    return one.partial ? "partial" : "";
}

}  // namespace

table option_table(const std::vector<record>& records) {
    const bool one = records.size() == 1;
    table made = options_where({"options", one ? "Effective options" : "Other options", {}, {}},
                               records, false);
    if (one) made.columns[1].title = "value";
    return made;
}

table differing_options_table(const std::vector<record>& records) {
    return options_where({compared_name, "Options that differ", {}, {}}, records, true);
}

table security_table(const std::vector<record>& records) {
    table made{"security", "TLS and logins", compared("", records, align::left), {}};
    if (records.size() == 1) made.columns[1].title = "";
    add_texts(made, records, security_of);
    return made;
}

namespace {

// Of a table over time.
struct step_column {
    std::string_view title;
    std::string (*cell)(const interval& of);
    bool wanted = true;
};

template <class Value>
bool any_has(const std::vector<interval>& steps, std::optional<Value> interval::*value) {
    return std::any_of(steps.begin(), steps.end(),
                       [value](const interval& each) { return (each.*value).has_value(); });
}

// A row for each step; `further` columns stand between those that every such table has.
table steps_table(table made, const std::vector<interval>& steps, std::string_view offered,
                  std::initializer_list<step_column> further) {
    std::vector<step_column> columns{
        {"end", [](const interval& of) { return show_seconds(of.end_s); }},
        {"messages", [](const interval& of) { return base::format_count(of.messages); }},
        {"messages/min",
         [](const interval& of) {
             return show_number(of.a_minute(static_cast<double>(of.messages)));
         }},
        {offered, [](const interval& of) { return show_number(of.a_minute(of.asked)); },
         !offered.empty()},
        {"errors", [](const interval& of) { return base::format_count(of.error_events); }}};
    columns.insert(columns.end(), further);
    std::erase_if(columns, [](const step_column& each) { return !each.wanted; });
    for (const step_column& each : columns)
        made.columns.push_back({std::string(each.title), align::right});
    made.columns.push_back({"remark"});
    for (const interval& each : steps) {
        auto& row = made.rows.emplace_back();
        for (const step_column& column : columns)
            row.push_back(column.cell(each));
        row.push_back(kind_of(each));
    }
    return made;
}

std::string_view offered_title(const record& one, const std::vector<interval>& steps) {
    if (!any_has(steps, &interval::asked)) return {};
    return reads_mail(one) ? "visits offered/min" : "offered/min";
}

template <auto Time>
std::string time_of(const interval& of) {
    return show_latency(of.*Time);
}

}  // namespace

table interval_table(const record& one) {
    return steps_table(
        {"intervals", "Intervals", {}, {}}, one.intervals, offered_title(one, one.intervals),
        {{"p50", time_of<&interval::message_p50>},
         {"p90", time_of<&interval::message_p90>},
         {"p99", time_of<&interval::message_p99>},
         {"busiest worker", [](const interval& of) { return show_busy(of.worker_busy); }},
         {"agents", [](const interval& of) { return show_number(of.agents_running); },
          any_has(one.intervals, &interval::agents_running)}});
}

table course_table(const record& one) {
    const std::vector<interval> course = course_of(one);
    const bool by_second = shown_by_second(one);
    const bool open = any_has(course, &interval::open_connections);
    const bool cpu = any_has(course, &interval::worker_cpu_s);
    const bool latencies = by_second && any_has(course, &interval::message_p50);
    if (!by_second && !open && !cpu) return {};
    return steps_table(
        {"course", by_second ? "Seconds" : "Connections and workers by interval", {}, {}}, course,
        by_second ? offered_title(one, course) : "",
        {{"p50", time_of<&interval::message_p50>, latencies},
         {"p90", time_of<&interval::message_p90>, latencies},
         {"p99", time_of<&interval::message_p99>, latencies},
         {"connections open", [](const interval& of) { return show_number(of.open_connections); },
          open},
         {"processors kept busy by workers",
          [](const interval& of) { return show_number(of.processors()); }, cpu}});
}

void keep_first(table& of, std::size_t most_rows, std::string_view of_what) {
    if (of.rows.size() <= most_rows) return;
    of.note = fmt::format("The first {} of {} {}; the record has all", most_rows,
                          base::format_count(of.rows.size()), of_what);
    of.rows.resize(most_rows);
}

std::vector<table> details(const std::vector<record>& records, std::size_t most_rows) {
    std::vector<table> made;
    for (const record& one : records) {
        table shown = trial_table(one);
        if (shown.rows.empty()) continue;
        if (records.size() > 1) shown.title += " of " + one.label;
        keep_first(shown, most_rows, "trials");
        made.push_back(std::move(shown));
    }
    for (const record& one : records) {
        table shown = interval_table(one);
        if (shown.rows.empty()) continue;
        if (records.size() > 1) shown.title += " of " + one.label;
        keep_first(shown, most_rows, "intervals");
        made.push_back(std::move(shown));
    }
    for (table& shown : std::vector{option_table(records), host_table(records)})
        if (!shown.rows.empty()) made.push_back(std::move(shown));
    return made;
}

std::vector<table> sections(const std::vector<record>& records) {
    std::vector<table> made;
    for (const auto& make :
         {differing_options_table, goal_table,  search_goal_table, result_table,   outcome_table,
          latency_table,           error_table, threshold_table,   agent_table,    mailbox_table,
          profile_table,           size_table,  command_table,     retry_table,    integrity_table,
          connection_table,        limit_table, sample_table,      security_table, rank_table,
          generator_table}) {
        table one = make(records);
        if (!one.rows.empty()) made.push_back(std::move(one));
    }
    return made;
}

}  // namespace postal::report
