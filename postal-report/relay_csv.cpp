// SPDX-License-Identifier: GPL-3.0-or-later
// What a relay did, as comma-separated values; see csv.hpp for the form of the fields.
#include <algorithm>
#include <array>

#include "postal-report/csv.hpp"
#include "postal-report/relay.hpp"

namespace postal::report {

namespace {

struct relay_column {
    const char* name;
    std::string (*make)(const relay_report&, const relay_part&);
};

template <std::uint64_t relay_counts::*Count>
std::string count_cell(const relay_report&, const relay_part& part) {
    return std::to_string(part.counts.*Count);
}

// What records do not tell is empty.
template <std::uint64_t relay_counts::*Count>
std::string ledger_cell(const relay_report& one, const relay_part& part) {
    return one.from_ledger ? std::to_string(part.counts.*Count) : "";
}

// In thousandths, as p99 is 990.
template <int Quantile, time_figure Recorded>
std::string transit_cell(const relay_report& one, const relay_part& part) {
    if (one.transit) return csv_decimal(value_of(&*one.transit, Recorded));
    return csv_decimal(part.transit_us(Quantile / 1000.0));
}

constexpr std::array<relay_column, 28> relay_columns{{
    {"source", [](const relay_report& one, const relay_part&) { return csv_cell(one.source); }},
    {"part", [](const relay_report&, const relay_part& part) { return csv_cell(part.name); }},
    {"began", [](const relay_report& one, const relay_part&) { return csv_decimal(one.began_s); }},
    {"resolution_s",
     [](const relay_report& one, const relay_part&) { return csv_decimal(one.resolution_s); }},
    {"accepted", count_cell<&relay_counts::accepted>},
    {"delivered", count_cell<&relay_counts::delivered>},
    {"elsewhere", ledger_cell<&relay_counts::elsewhere>},
    {"refused", ledger_cell<&relay_counts::refused>},
    {"given_up", ledger_cell<&relay_counts::given_up>},
    {"still_owed", ledger_cell<&relay_counts::still_owed>},
    {"not_known", ledger_cell<&relay_counts::not_known>},
    {"not_looked_for", ledger_cell<&relay_counts::not_looked_for>},
    {"more_than_once", ledger_cell<&relay_counts::more_than_once>},
    {"extra_copies", ledger_cell<&relay_counts::extra_copies>},
    {"unacknowledged", ledger_cell<&relay_counts::unacknowledged>},
    {"backlog_peak",
     [](const relay_report&, const relay_part& part) { return csv_decimal(part.backlog.peak); }},
    {"backlog_peak_at_s",
     [](const relay_report&, const relay_part& part) {
         return part.backlog.peak > 0 ? csv_decimal(part.backlog.peak_at_s) : "";
     }},
    {"backlog_area_message_s",
     [](const relay_report&, const relay_part& part) { return csv_decimal(part.backlog.area_s); }},
    {"backlog_left",
     [](const relay_report&, const relay_part& part) { return csv_decimal(part.backlog.left); }},
    {"drain_s",
     [](const relay_report&, const relay_part& part) { return csv_decimal(part.drain_s); }},
    {"transit_count",
     [](const relay_report& one, const relay_part& part) {
         if (one.transit) {
             const auto beyond = std::min(one.transit->count, one.transit->not_accepted);
             return std::to_string(one.transit->count - beyond);
         }
         return one.from_ledger ? std::to_string(part.transit.count()) : "";
     }},
    {"transit_mean_us",
     [](const relay_report& one, const relay_part& part) {
         return csv_decimal(one.transit ? us(one.transit->mean) : part.mean_transit_us());
     }},
    {"transit_p50_us", transit_cell<500, &phase::p50>},
    {"transit_p90_us", transit_cell<900, &phase::p90>},
    {"transit_p99_us", transit_cell<990, &phase::p99>},
    {"transit_max_us",
     [](const relay_report& one, const relay_part& part) {
         return csv_decimal(one.transit ? us(one.transit->max) : part.longest_transit_us());
     }},
    {"received_before_sent",
     [](const relay_report& one, const relay_part& part) {
         return one.from_ledger ? std::to_string(part.transit.before_sent()) : "";
     }},
    {"furthest_before_us",
     [](const relay_report& one, const relay_part& part) {
         return one.from_ledger ? std::to_string(part.transit.furthest_before_us()) : "";
     }},
}};

void add_rows(sheet& to, const relay_report& one) {
    for (const relay_part& part : one.parts) {
        auto& cells = to.rows.emplace_back();
        for (const relay_column& each : relay_columns)
            cells.push_back(each.make(one, part));
    }
}

}  // namespace

sheet sheet_of(const shown_relay& one) {
    sheet made;
    for (const relay_column& each : relay_columns)
        made.columns.emplace_back(each.name);
    add_rows(made, one.here);
    if (one.against) add_rows(made, *one.against);
    return made;
}

}  // namespace postal::report
