#include "postal-report/sections.hpp"

#include <fmt/format.h>

#include <functional>

#include "base/units.hpp"
#include "postal-report/figures.hpp"

namespace postal::report {

namespace {

// A row of a table whose columns are the records: what it shows, and the number that is compared.
struct figure {
    std::string name;
    std::function<std::string(const record&)> text;
    std::function<std::optional<double>(const record&)> value = {};
};

std::optional<double> given(std::uint64_t count) {
    return static_cast<double>(count);
}

std::vector<column> record_columns(const std::vector<record>& records) {
    std::vector<column> columns{{""}};
    for (const record& one : records) {
        columns.push_back({records.size() == 1 ? "" : one.label, align::right});
    }
    return columns;
}

void add_rows(table& to, const std::vector<record>& records, const std::vector<figure>& figures) {
    for (const figure& shown : figures) {
        std::vector<std::string> row{shown.name};
        bool known = false;
        for (const record& one : records) {
            std::string cell = shown.text(one);
            known = known || cell != unknown;
            if (shown.value && &one != &records.front()) {
                cell += show_change(shown.value(one), shown.value(records.front()));
            }
            row.push_back(std::move(cell));
        }
        if (known) to.rows.push_back(std::move(row));
    }
}

std::optional<double> of_main_phase(const record& one, std::optional<double> phase::*member) {
    const phase* found = one.main_phase();
    return found == nullptr ? std::nullopt : found->*member;
}

figure latency_figure(std::string name, std::optional<double> phase::*member) {
    const auto value = [member](const record& one) { return of_main_phase(one, member); };
    return {std::move(name), [value](const record& one) { return show_latency(value(one)); },
            value};
}

std::string show_rate(const record& one) {
    if (!one.rate.mean) return unknown;
    const std::string confidence = show_confidence(one.rate);
    return show_number(one.rate.mean) + (confidence.empty() ? "" : " " + confidence) + " /min";
}

std::string show_range(const record& one) {
    if (one.rate.intervals < 2) return unknown;
    return show_number(one.rate.min) + " to " + show_number(one.rate.max) + " /min";
}

double cpu_seconds(const record& one) {
    return one.totals.cpu_user_s + one.totals.cpu_system_s;
}

std::string show_count(std::uint64_t count, const char* unit) {
    return base::format_count(count) + unit;
}

}  // namespace

std::vector<outcome_count> outcomes(const totals& of) {
    return {{"accepted", "the server took responsibility", of.messages},
            {"rejected", "refused for good, 5xx", of.rejected},
            {"deferred", "refused for now, 4xx", of.deferred},
            {"failed", "broke before the data was complete", of.failed},
            {"in doubt", "connection lost before the final reply", of.in_doubt}};
}

table result_table(const std::vector<record>& records) {
    table made{"result", "Result", record_columns(records), {}};
    add_rows(made, records,
             {{"rate", show_rate, [](const record& one) { return one.rate.mean; }},
              {"lowest and highest interval", show_range},
              {"accepted",
               [](const record& one) { return show_count(one.totals.messages, " messages"); }},
              latency_figure("latency p50", &phase::p50_us),
              latency_figure("latency p99", &phase::p99_us),
              latency_figure("latency highest", &phase::max_us),
              {"data",
               [](const record& one) {
                   return base::format_size(one.totals.bytes) + ", " +
                          show_bytes_per_second(one.totals.bytes, one.measured_s);
               }},
              {"errors", [](const record& one) { return show_count(one.totals.errors, ""); },
               [](const record& one) { return given(one.totals.errors); }},
              {"connections",
               [](const record& one) {
                   const std::string tls = base::format_count(one.totals.tls_connections);
                   return show_count(one.totals.connections, ", ") + tls + " with TLS";
               }},
              {"measured", [](const record& one) {
                   return show_seconds(one.measured_s) +
                          (one.warmup_s > 0 ? " after " + show_seconds(one.warmup_s) + " of warm-up"
                                            : std::string{});
               }}});
    if (records.size() == 1 && records.front().rate.ci95) {
        made.note =
            fmt::format("± is the 95 % confidence interval of the mean over {} whole intervals",
                        records.front().rate.intervals);
    } else if (records.size() > 1) {
        made.note = "± is the 95 % confidence interval; in brackets the change against " +
                    records.front().label;
    }
    return made;
}

table outcome_table(const std::vector<record>& records) {
    table made{"outcomes", "Outcome of the messages started", record_columns(records), {}};
    if (records.size() == 1) {
        made.columns = {
            {"outcome"}, {"messages", align::right}, {"share", align::right}, {"meaning"}};
    }
    const auto sum_of = [](const record& one) {
        double sum = 0;
        for (const outcome_count& each : outcomes(one.totals))
            sum += static_cast<double>(each.count);
        return sum;
    };
    const auto kinds = outcomes(records.front().totals);
    for (std::size_t kind = 0; kind < kinds.size(); ++kind) {
        std::vector<std::string> row{kinds[kind].name};
        for (const record& one : records) {
            const std::uint64_t count = outcomes(one.totals)[kind].count;
            const std::string share = show_share(static_cast<double>(count), sum_of(one));
            if (records.size() == 1) {
                row.insert(row.end(), {base::format_count(count), share, kinds[kind].meaning});
            } else {
                row.push_back(base::format_count(count) + (count > 0 ? " (" + share + ")" : ""));
            }
        }
        made.rows.push_back(std::move(row));
    }
    return made;
}

table generator_table(const std::vector<record>& records) {
    table made{"generator", "Load generator", record_columns(records), {}};
    add_rows(
        made, records,
        {{"was the limit",
          [](const record& one) { return std::string{one.generator.limited ? "YES" : "no"}; }},
         {"busiest worker", [](const record& one) { return show_busy(one.generator.worker_busy); }},
         {"schedule slip p99",
          [](const record& one) { return show_latency(one.generator.slip_p99_us); }},
         {"processor time",
          [](const record& one) {
              return fmt::format("{:.2f} s user, {:.2f} s system", one.totals.cpu_user_s,
                                 one.totals.cpu_system_s);
          }},
         {"accepted for each processor second",
          [](const record& one) {
              if (!(cpu_seconds(one) > 0)) return std::string{unknown};
              return show_number(static_cast<double>(one.totals.messages) / cpu_seconds(one)) +
                     " messages";
          }},
         {"most memory", [](const record& one) {
              return one.totals.max_rss_bytes == 0 ? std::string{unknown}
                                                   : base::format_size(one.totals.max_rss_bytes);
          }}});
    return made;
}

table host_table(const std::vector<record>& records) {
    const auto or_unknown = [](const std::string& text) {
        return text.empty() ? std::string{unknown} : text;
    };
    table made{"host", "Run and host", record_columns(records), {}};
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
