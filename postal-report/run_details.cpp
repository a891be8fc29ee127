// The tables of a report that go into detail: phases, errors, thresholds, options, intervals.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/text.hpp"
#include "base/units.hpp"
#include "postal-report/chart_data.hpp"
#include "postal-report/figures.hpp"
#include "postal-report/ranks.hpp"
#include "postal-report/run.hpp"
#include "postal-report/samples.hpp"
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
    for (const record& one : records) {
        for (const auto& each : one.*list) {
            const std::string found = name(each);
            if (std::find(names.begin(), names.end(), found) == names.end()) names.push_back(found);
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
    for (const std::string& name : all_names(records, &record::errors, name_of)) {
        std::vector<std::string> row{name};
        for (const record& one : records) {
            std::uint64_t count = 0;
            for (const error_entry& each : one.errors) {
                if (name_of(each) == name) count += each.count;
            }
            row.push_back(base::format_count(count));
        }
        made.rows.push_back(std::move(row));
    }
    return made;
}

table threshold_table(const std::vector<record>& records) {
    table made{
        "thresholds", "Thresholds", {{"threshold"}, {"measured", align::right}, {"verdict"}}, {}};
    if (records.size() > 1) made.columns.insert(made.columns.begin(), {"record"});
    for (const record& one : records) {
        for (const threshold& each : one.thresholds) {
            auto& row = made.rows.emplace_back();
            if (records.size() > 1) row.push_back(one.label);
            row.insert(row.end(), {each.expression, show_threshold_value(each),
                                   each.passed ? "passed" : "NOT MET"});
        }
    }
    return made;
}

namespace {

using named_texts = std::vector<std::pair<std::string, std::string>>;

// A row for each name that any record has, in the order in which they first come.
void add_texts(table& to, const std::vector<record>& records,
               named_texts (*texts_of)(const record& one)) {
    for (std::size_t i = 0; i < records.size(); ++i) {
        for (auto& [name, text] : texts_of(records[i])) {
            auto row = std::find_if(to.rows.begin(), to.rows.end(),
                                    [&](const auto& each) { return each.front() == name; });
            if (row == to.rows.end()) {
                std::vector<std::string> none(records.size() + 1, unknown);
                none.front() = name;
                row = to.rows.insert(row, std::move(none));
            }
            (*row)[i + 1] = std::move(text);
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

}  // namespace

namespace {

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

table interval_table(const record& one) {
    const auto any = [&](auto member) {
        return std::any_of(one.intervals.begin(), one.intervals.end(),
                           [member](const interval& each) { return (each.*member).has_value(); });
    };
    const bool asked = any(&interval::asked);
    const bool agents = any(&interval::agents_running);
    table made{"intervals", "Intervals", numbers({"end", "messages", "messages/min"}), {}};
    const auto add = [&](const char* title) { made.columns.push_back({title, align::right}); };
    if (asked) add(what_is_due(one) == "visits" ? "visits offered/min" : "offered/min");
    for (const char* title : {"errors", "p50", "p90", "p99", "busiest worker"})
        add(title);
    if (agents) add("agents");
    made.columns.push_back({"remark"});
    for (const interval& each : one.intervals) {
        auto& row = made.rows.emplace_back();
        row = {show_seconds(each.end_s), base::format_count(each.messages),
               show_number(each.a_minute(static_cast<double>(each.messages)))};
        if (asked) row.push_back(show_number(each.a_minute(each.asked)));
        row.insert(row.end(), {base::format_count(each.error_events),
                               show_latency(each.message_p50), show_latency(each.message_p90),
                               show_latency(each.message_p99), show_busy(each.worker_busy)});
        if (agents) row.push_back(show_number(each.agents_running));
        row.push_back(kind_of(each));
    }
    return made;
}

table course_table(const record& one) {
    const std::vector<interval> course = course_of(one);
    const auto any = [&](auto member) {
        return std::any_of(course.begin(), course.end(),
                           [member](const interval& each) { return (each.*member).has_value(); });
    };
    const bool by_second = shown_by_second(one);
    const bool open = any(&interval::open_connections);
    const bool cpu = any(&interval::worker_cpu_s);
    const bool asked = by_second && any(&interval::asked);
    const bool latencies = by_second && any(&interval::message_p50);
    table made{"course",
               by_second ? "Seconds" : "Connections and workers by interval",
               numbers({"end", "messages", "messages/min"}),
               {}};
    if (!by_second && !open && !cpu) return made;
    const auto add = [&](const char* title) { made.columns.push_back({title, align::right}); };
    if (asked) add(what_is_due(one) == "visits" ? "visits offered/min" : "offered/min");
    add("errors");
    if (latencies)
        for (const char* title : {"p50", "p90", "p99"})
            add(title);
    if (open) add("connections open");
    if (cpu) add("processors kept busy by workers");
    made.columns.push_back({"remark"});
    for (const interval& each : course) {
        auto& row = made.rows.emplace_back();
        row = {show_seconds(each.end_s), base::format_count(each.messages),
               show_number(each.a_minute(static_cast<double>(each.messages)))};
        if (asked) row.push_back(show_number(each.a_minute(each.asked)));
        row.push_back(base::format_count(each.error_events));
        if (latencies)
            for (const auto& time : {each.message_p50, each.message_p90, each.message_p99})
                row.push_back(show_latency(time));
        if (open) row.push_back(show_number(each.open_connections));
        if (cpu) row.push_back(show_number(each.processors()));
        row.push_back(kind_of(each));
    }
    return made;
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
         {differing_options_table, result_table, outcome_table, latency_table, error_table,
          threshold_table, agent_table, mailbox_table, profile_table, command_table, retry_table,
          integrity_table, connection_table, limit_table, sample_table, security_table, rank_table,
          generator_table}) {
        table one = make(records);
        if (!one.rows.empty()) made.push_back(std::move(one));
    }
    return made;
}

}  // namespace postal::report
