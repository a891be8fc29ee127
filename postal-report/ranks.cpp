// SPDX-License-Identifier: GPL-3.0-or-later
#include "postal-report/ranks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/text.hpp"
#include "base/units.hpp"
#include "base/words.hpp"
#include "postal-report/chart_data.hpp"
#include "postal-report/csv.hpp"
#include "postal-report/figures.hpp"
#include "stats/rank_summary.hpp"

namespace postal::report {

namespace {

using stats::rank_share;

constexpr std::size_t most_charted = 16;
constexpr std::size_t longest_rank_name = 80;

std::string show_length(std::optional<double> seconds) {
    return seconds ? show_latency(*seconds * 1e6) : unknown;
}

// "+1.20 ms"
std::string show_offset(std::optional<double> seconds) {
    if (!seconds || !std::isfinite(*seconds)) return unknown;
    if (*seconds == 0) return "0";
    return (*seconds < 0 ? "-" : "+") + show_latency(std::abs(*seconds) * 1e6);
}

std::string show_drift(std::optional<double> share) {
    if (!share || !std::isfinite(*share)) return unknown;
    return fmt::format("{:+.2f} ppm", std::clamp(*share, -1.0, 1.0) * 1e6);
}

std::string rank_moment(std::optional<double> seconds) {
    return seconds ? show_seconds(*seconds) : unknown;
}

std::string show_start(const rank_share& one) {
    return show_length(one.start_late_s) + (one.missed_start ? ", MISSED" : "");
}

std::string show_verdict(const rank_share& one) {
    if (!one.verdict) return unknown;
    if (*one.verdict == generator_verdict::limit) return "LIMIT";
    if (*one.verdict == generator_verdict::machine_full) return "machine full";
    return *one.verdict == generator_verdict::held_back ? "held back" : "none";
}

std::string show_loss(const rank_share& one) {
    return fmt::format("LOST after {}, {} or more unaccounted for", show_seconds(*one.lost_s),
                       base::format_count(one.unaccounted));
}

std::vector<std::string> rank_row(const rank_share& one, const record& of) {
    return {std::to_string(one.rank),
            base::printable(one.host, longest_rank_name),
            base::format_count(one.workers),
            base::format_count(one.sessions),
            base::format_count(one.totals.messages),
            show_share(static_cast<double>(one.totals.messages),
                       static_cast<double>(of.totals.messages)),
            show_latency(one.p99_us),
            rank_moment(one.done_s),
            one.lost_s ? show_loss(one) : show_verdict(one),
            show_start(one),
            show_offset(one.wall_offset_s),
            show_length(one.clock_bound_s),
            show_drift(one.clock_drift)};
}

std::vector<std::string> rank_cells(const rank_share& one, const record& of) {
    return {csv_cell(of.file),
            std::to_string(one.rank),
            csv_cell(one.host),
            std::to_string(one.workers),
            std::to_string(one.sessions),
            std::to_string(one.processors),
            csv_decimal(one.wall_offset_s, 9),
            csv_decimal(one.clock_offset_s, 9),
            csv_decimal(one.clock_bound_s, 9),
            csv_decimal(one.clock_drift, 9),
            csv_decimal(one.start_late_s, 9),
            std::to_string(one.missed_start),
            std::to_string(one.totals.started),
            std::to_string(one.totals.messages),
            std::to_string(one.totals.error_events),
            csv_decimal(one.p50_us),
            csv_decimal(one.p99_us),
            csv_cell(std::string(base::name_of(one.ended))),
            csv_decimal(one.done_s),
            one.verdict ? csv_cell(std::string(base::name_of(*one.verdict))) : "",
            csv_decimal(one.worker_busy),
            csv_decimal(one.lost_s),
            std::to_string(one.unaccounted)};
}

// The record's intervals with what this rank had accepted in them.
std::vector<interval> rank_intervals(const rank_share& one, const record& of) {
    std::vector<interval> own = of.intervals;
    for (std::size_t i = 0; i < own.size(); ++i)
        own[i].messages = i < one.messages.size() ? one.messages[i] : 0;
    return own;
}

}  // namespace

table rank_table(const std::vector<record>& records) {
    table made{"ranks", "Ranks", {}, {}};
    if (records.size() > 1) made.columns.push_back({"record"});
    made.columns.insert(made.columns.end(), {{"rank", align::right},
                                             {"host"},
                                             {"workers", align::right},
                                             {"sessions", align::right},
                                             {"messages", align::right},
                                             {"share", align::right},
                                             {"p99", align::right},
                                             {"done", align::right},
                                             {"verdict"},
                                             {"start late", align::right},
                                             {"clock", align::right},
                                             {"bound", align::right},
                                             {"drift", align::right}});
    for (const record& one : records) {
        for (const rank_share& each : one.ranks) {
            std::vector<std::string> row = rank_row(each, one);
            if (records.size() > 1) row.insert(row.begin(), one.label);
            made.rows.push_back(std::move(row));
        }
    }
    made.note =
        "verdict: who was the limit there; clock: how far its wall clock is ahead of rank 0's; "
        "bound: by how much the start that it was told may be wrong";
    return made;
}

sheet sheet_of_ranks(const std::vector<record>& records) {
    sheet made{{"record",         "rank",        "host",          "workers",
                "sessions",       "processors",  "wall_offset_s", "clock_offset_s",
                "clock_bound_s",  "clock_drift", "start_late_s",  "missed_start",
                "started",        "messages",    "errors",        "message_p50_us",
                "message_p99_us", "ended",       "done_s",        "verdict",
                "worker_busy",    "lost_s",      "unaccounted"}};
    for (const record& one : records)
        for (const rank_share& each : one.ranks)
            made.rows.push_back(rank_cells(each, one));
    return made;
}

std::vector<const rank_share*> charted_ranks(const record& one) {
    std::vector<const rank_share*> all;
    for (const rank_share& each : one.ranks)
        all.push_back(&each);
    if (all.size() <= most_charted) return all;
    std::stable_sort(all.begin(), all.end(), [](const rank_share* left, const rank_share* right) {
        return left->totals.messages > right->totals.messages;
    });
    return {all.front(), all[all.size() / 2], all.back()};
}

std::string rank_series(const record& one) {
    std::vector<std::string> list;
    for (const rank_share* each : charted_ranks(one)) {
        const std::string label = base::printable(stats::name_of(*each), longest_rank_name);
        list.push_back(object_of({{"label", script_string(label)},
                                  {"intervals", rank_points(one, rank_intervals(*each, one))}}));
    }
    return list_of(list);
}

}  // namespace postal::report
