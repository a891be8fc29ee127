#include "postal-report/csv.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>

#include "base/text.hpp"

namespace postal::report {

namespace {

using cell_maker = std::string (*)(const record&);

std::string decimal(std::optional<double> value) {
    if (!value || !std::isfinite(*value)) return {};
    // Whole numbers as such, everything else to a thousandth: no exponents.
    if (*value == std::floor(*value) && std::abs(*value) < 1e15)
        return fmt::format("{:.0f}", *value);
    return fmt::format("{:.3f}", *value);
}

template <std::uint64_t totals::*Member>
std::string total(const record& one) {
    return std::to_string(one.totals.*Member);
}

template <std::optional<double> message_rate::*Member>
std::string of_rate(const record& one) {
    return decimal(one.rate.*Member);
}

template <std::optional<double> phase::*Member>
std::string latency(const record& one) {
    const phase* found = one.main_phase();
    return found == nullptr ? std::string{} : decimal(found->*Member);
}

template <std::optional<double> phase::*Member>
std::string service(const record& one) {
    const phase* found = one.find_phase("service");
    return found == nullptr ? std::string{} : decimal(found->*Member);
}

std::string thresholds_not_met(const record& one) {
    std::size_t count = 0;
    for (const threshold& each : one.thresholds)
        count += each.passed ? 0 : 1;
    return std::to_string(count);
}

struct csv_column {
    const char* name;
    cell_maker make;
};

constexpr std::array<csv_column, 42> columns{{
    {"record", [](const record& one) { return csv_cell(one.file); }},
    {"program", [](const record& one) { return csv_cell(one.program); }},
    {"version", [](const record& one) { return csv_cell(one.version); }},
    {"host", [](const record& one) { return csv_cell(one.host.name); }},
    {"started", [](const record& one) { return csv_cell(one.started); }},
    {"seed", [](const record& one) { return one.seed ? std::to_string(*one.seed) : ""; }},
    {"duration_s", [](const record& one) { return decimal(one.duration_s); }},
    {"warmup_s", [](const record& one) { return decimal(one.warmup_s); }},
    {"measured_s", [](const record& one) { return decimal(one.measured_s); }},
    {"messages", total<&totals::messages>},
    {"recipients", total<&totals::recipients>},
    {"bytes", total<&totals::bytes>},
    {"connections", total<&totals::connections>},
    {"tls_connections", total<&totals::tls_connections>},
    {"errors", total<&totals::errors>},
    {"rejected", total<&totals::rejected>},
    {"deferred", total<&totals::deferred>},
    {"failed", total<&totals::failed>},
    {"in_doubt", total<&totals::in_doubt>},
    {"messages_per_minute", of_rate<&message_rate::mean>},
    {"messages_per_minute_stddev", of_rate<&message_rate::stddev>},
    {"messages_per_minute_min", of_rate<&message_rate::min>},
    {"messages_per_minute_max", of_rate<&message_rate::max>},
    {"messages_per_minute_ci95_low",
     [](const record& one) { return one.rate.ci95 ? decimal(one.rate.ci95->first) : ""; }},
    {"messages_per_minute_ci95_high",
     [](const record& one) { return one.rate.ci95 ? decimal(one.rate.ci95->second) : ""; }},
    {"whole_intervals", [](const record& one) { return std::to_string(one.rate.intervals); }},
    {"latency_mean_us", latency<&phase::mean_us>},
    {"latency_p50_us", latency<&phase::p50_us>},
    {"latency_p90_us", latency<&phase::p90_us>},
    {"latency_p99_us", latency<&phase::p99_us>},
    {"latency_p999_us", latency<&phase::p999_us>},
    {"latency_max_us", latency<&phase::max_us>},
    {"service_p50_us", service<&phase::p50_us>},
    {"service_p99_us", service<&phase::p99_us>},
    {"generator_limited", [](const record& one) { return std::to_string(one.generator.limited); }},
    {"worker_busy", [](const record& one) { return decimal(one.generator.worker_busy); }},
    {"schedule_slip_p99_us", [](const record& one) { return decimal(one.generator.slip_p99_us); }},
    {"cpu_user_s", [](const record& one) { return decimal(one.totals.cpu_user_s); }},
    {"cpu_system_s", [](const record& one) { return decimal(one.totals.cpu_system_s); }},
    {"max_rss_bytes", total<&totals::max_rss_bytes>},
    {"thresholds_not_met", thresholds_not_met},
    {"transcript", [](const record& one) { return std::to_string(one.transcript); }},
}};

}  // namespace

std::string csv_cell(const std::string& text) {
    std::string harmless = base::printable(text, 2000);
    if (!harmless.empty() && std::string_view{"=+-@"}.find(harmless.front()) != std::string::npos) {
        harmless.insert(0, 1, '\'');
    }
    if (harmless.find_first_of(",\" ") == harmless.npos) return harmless;
    std::string out = "\"";
    for (const char c : harmless) {
        if (c == '"') out += '"';
        out += c;
    }
    return out + '"';
}

std::vector<std::string> csv_columns() {
    std::vector<std::string> names;
    for (const csv_column& each : columns)
        names.emplace_back(each.name);
    return names;
}

std::string render_csv(const std::vector<record>& records) {
    std::string out = base::join(csv_columns(), ",") + "\n";
    for (const record& one : records) {
        std::vector<std::string> cells;
        for (const csv_column& each : columns)
            cells.push_back(each.make(one));
        out += base::join(cells, ",") + "\n";
    }
    return out;
}

}  // namespace postal::report
