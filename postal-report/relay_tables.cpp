// SPDX-License-Identifier: GPL-3.0-or-later
// What a relay did, as a sentence and tables.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <utility>

#include "base/text.hpp"
#include "base/units.hpp"
#include "postal-report/figures.hpp"
#include "postal-report/relay.hpp"
#include "stats/ranking.hpp"
#include "stats/record_writer.hpp"

namespace postal::report {

namespace {

using base::format_count;
using stats::support;

constexpr std::array<std::pair<const char*, double>, 3> relay_percentiles{
    {{"p50", 0.5}, {"p90", 0.9}, {"p99", 0.99}}};

std::string whole(double amount) {
    return format_count(static_cast<std::uint64_t>(std::llround(std::clamp(amount, 0.0, 1e18))));
}

std::string show_drain(const relay_part& one) {
    return one.drain_s ? show_seconds(*one.drain_s) : unknown;
}

// The 12th second of a curve as "2026-01-01 00:00:12 UTC".
std::string show_moment(const relay_report& one, double at_s) {
    const double since_s = std::clamp(one.began_s + at_s, -9e9, 9e9);
    const std::chrono::milliseconds since(std::llround(since_s * 1e3));
    return show_time(stats::timestamp(std::chrono::system_clock::time_point(since)));
}

// Percentiles rank all that was accepted: what did not arrive lies above all that did.
std::string show_transit(const relay_part& one, double q) {
    const support known = stats::support_of(q, one.counts.accepted);
    if (known == support::none) return unknown;
    const auto value = one.transit_us(q);
    if (!value) return "not reached";
    return (known == support::few ? "~ " : "") + show_latency(value);
}

// The columns that have anything.
std::string explained(const relay_counts& of) {
    const std::pair<std::uint64_t, const char*> columns[] = {
        {of.elsewhere, "elsewhere: to an address that it was not sent to"},
        {of.returned(), "refused, given up: it came back to its sender"},
        {of.still_owed, "still owed: neither delivered nor come back"},
        {of.not_known, "not known yet: a receiver that has no end may have it"},
        {of.not_looked_for, "not looked for: no reader has read its mailbox since"},
        {of.unacknowledged, "unacknowledged: delivered, but not known to be accepted"}};
    std::string result;
    for (const auto& [count, words] : columns) {
        if (count > 0) result += std::string(result.empty() ? "" : "; ") + words;
    }
    return result;
}

table relay_counts_table(const relay_report& one) {
    table result{
        "messages",
        "Messages, each recipient's for itself",
        {{""}, {"accepted", align::right}, {"delivered", align::right}, {"share", align::right}},
        {}};
    if (one.from_ledger) {
        for (const char* title :
             {"elsewhere", "refused", "given up", "still owed", "not known yet", "not looked for",
              "more than once", "copies too many", "unacknowledged"})
            result.columns.push_back({title, align::right});
        result.note = explained(one.all().counts);
    } else {
        result.note =
            "from the records' intervals: all that the receiver accepted counts as delivered, also "
            "copies and mail of others";
    }
    for (const relay_part& part : one.parts) {
        const relay_counts& of = part.counts;
        auto& row = result.rows.emplace_back();
        row = {part.name, format_count(of.accepted), format_count(of.delivered),
               show_share(static_cast<double>(of.delivered), static_cast<double>(of.accepted))};
        if (!one.from_ledger) continue;
        for (const std::uint64_t count :
             {of.elsewhere, of.refused, of.given_up, of.still_owed, of.not_known, of.not_looked_for,
              of.more_than_once, of.extra_copies, of.unacknowledged})
            row.push_back(format_count(count));
    }
    return result;
}

table backlog_table(const relay_report& one) {
    table result{"backlog",
                 "Backlog: accepted by the relay, and neither delivered nor come back",
                 {{""},
                  {"at most", align::right},
                  {"at", align::right},
                  {"area", align::right},
                  {"drained in", align::right},
                  {"left", align::right}},
                 {}};
    for (const relay_part& part : one.parts) {
        const relay_backlog& of = part.backlog;
        result.rows.push_back({part.name, whole(of.peak) + " messages",
                               of.peak > 0 ? show_seconds(of.peak_at_s) : unknown,
                               whole(of.area_s) + " message-seconds", show_drain(part),
                               whole(of.left) + " messages"});
    }
    result.note = fmt::format(
        "times count from {}; the curve is known to {}; drained: from the last acceptance to the "
        "last delivery{}, once nothing is left; {}",
        show_moment(one, 0), show_seconds(one.resolution_s), one.from_ledger ? " or return" : "",
        one.from_ledger
            ? "what neither arrives nor comes back stays in the backlog"
            : "what never arrives, mail that the relay returned too, stays in the backlog");
    return result;
}

table transit_table(const relay_report& one) {
    table result{"transit",
                 "Transit, from the time in a message to its receipt",
                 {{""},
                  {"arrived", align::right},
                  {"mean", align::right},
                  {"p50", align::right},
                  {"p90", align::right},
                  {"p99", align::right},
                  {"longest", align::right}},
                 {}};
    for (const relay_part& part : one.parts) {
        auto& row = result.rows.emplace_back();
        row = {part.name, format_count(part.transit.count()), show_latency(part.mean_transit_us())};
        for (const auto& [name, q] : relay_percentiles)
            row.push_back(show_transit(part, q));
        row.push_back(show_latency(part.longest_transit_us()));
    }
    result.note =
        "percentiles rank all that was accepted: what did not arrive lies above all that did; mean "
        "and longest are of what arrived; ~: fewer than ten values lie beyond it";
    return result;
}

// The receiver has measured it.
table recorded_transit_table(const phase& one, bool one_host) {
    table result{"transit",
                 std::string("Transit, from the time in a message to its receipt") +
                     (one_host ? ", by the clock of one host" : ""),
                 numbers({"arrived", "mean", "p50", "p90", "p99", "longest"}),
                 {}};
    auto& row = result.rows.emplace_back();
    const std::uint64_t arrived = one.count - std::min(one.count, one.not_accepted);
    row = {format_count(arrived), show_latency(one.mean)};
    for (const auto& [member, q] :
         {std::pair{&phase::p50, 0.5}, std::pair{&phase::p90, 0.9}, std::pair{&phase::p99, 0.99}}) {
        const bool beyond = stats::histogram::rank_of(q, one.count) > arrived;
        row.push_back(beyond && arrived > 0 ? "not reached" : show_latency(one.*member));
    }
    row.push_back(show_latency(one.max));
    result.note =
        "arrived: messages, each of which may have several recipients; percentiles rank all that "
        "was accepted: what did not arrive lies above all that did; mean and longest are of what "
        "arrived";
    return result;
}

// What the two runs were given, and how far they came.
table course_against_table(const relay_report& here, const relay_report& there) {
    table result{"course-against", "Mail and backlog beside " + there.source, {column{}}, {}};
    for (const char* title : {"accepted", "delivered", "backlog at most", "left"}) {
        result.columns.push_back({title, align::right});
        result.columns.push_back({std::string("there ") + title, align::right});
    }
    for (const relay_part& part : here.parts) {
        const relay_part* other = find_part(there, part.name);
        const auto add = [&](auto&& show) {
            result.rows.back().push_back(show(part));
            result.rows.back().push_back(other == nullptr ? unknown : show(*other));
        };
        result.rows.push_back({part.name});
        add([](const relay_part& of) { return format_count(of.counts.accepted); });
        add([](const relay_part& of) {
            return show_share(static_cast<double>(of.counts.arrived()),
                              static_cast<double>(of.counts.accepted));
        });
        add([](const relay_part& of) { return whole(of.backlog.peak); });
        add([](const relay_part& of) { return whole(of.backlog.left); });
    }
    result.note =
        "messages; transit is comparable where the relay was given about as many in both, of all "
        "mail too";
    return result;
}

table transit_against_table(const relay_report& here, const relay_report& there) {
    table result{"against", "Transit beside " + there.source, {column{}}, {}};
    for (const auto& [name, q] : relay_percentiles) {
        result.columns.push_back({name, align::right});
        result.columns.push_back({std::string("there ") + name, align::right});
    }
    for (const relay_part& part : here.parts) {
        const relay_part* other = find_part(there, part.name);
        auto& row = result.rows.emplace_back();
        row.push_back(part.name);
        for (const auto& [name, q] : relay_percentiles) {
            const auto reference = other == nullptr ? std::nullopt : other->transit_us(q);
            const std::string shown = show_transit(part, q);
            row.push_back(shown == unknown ? shown
                                           : shown + show_change(part.transit_us(q), reference));
            row.push_back(other == nullptr ? unknown : show_transit(*other, q));
        }
    }
    result.note = "the same domains in both; one run each does not say how much differs by chance";
    return result;
}

}  // namespace

const relay_part* find_part(const relay_report& one, const std::string& name) noexcept {
    const auto found = std::find_if(one.parts.begin(), one.parts.end(),
                                    [&](const relay_part& part) { return part.name == name; });
    return found == one.parts.end() ? nullptr : &*found;
}

std::vector<std::string> relay_remarks(const shown_relay& one) {
    std::vector<std::string> result = one.here.remarks;
    if (!one.against) return result;
    for (const std::string& remark : one.against->remarks)
        result.push_back(one.against->source + ": " + remark);
    return result;
}

std::string relay_result(const relay_report& one) {
    const relay_part& all = one.all();
    if (all.counts.accepted == 0) return one.source + ": the relay accepted no message";
    const relay_backlog& backlog = all.backlog;
    std::string result = fmt::format("{}: {} accepted by the relay, {} delivered", one.source,
                                     plural(all.counts.accepted, "message", "messages"),
                                     format_count(all.counts.arrived()));
    if (backlog.peak > 0) {
        result += fmt::format("; at most {} not yet delivered, after {}", whole(backlog.peak),
                              show_seconds(backlog.peak_at_s));
    }
    if (all.counts.returned() > 0) {
        result += fmt::format("; {} refused and {} given up came back",
                              format_count(all.counts.refused), format_count(all.counts.given_up));
    }
    if (all.drain_s) {
        result += fmt::format("; the last one {} {} after the last was accepted",
                              all.counts.returned() > 0 ? "left it" : "delivered",
                              show_seconds(*all.drain_s));
    }
    if (std::lround(backlog.left) > 0) result += fmt::format("; {} left", whole(backlog.left));
    return result;
}

std::vector<table> relay_tables(const shown_relay& one) {
    std::vector<table> result{relay_counts_table(one.here), backlog_table(one.here)};
    if (one.here.from_ledger) result.push_back(transit_table(one.here));
    if (one.here.transit)
        result.push_back(recorded_transit_table(*one.here.transit, one.here.one_host));
    if (one.against) {
        result.push_back(course_against_table(one.here, *one.against));
        result.push_back(transit_against_table(one.here, *one.against));
    }
    return result;
}

table relay_course_table(const relay_report& one, std::size_t most_rows) {
    table result{"course",
                 "All mail over time",
                 {{"from"},
                  {"to", align::right},
                  {"accepted", align::right},
                  {"delivered", align::right},
                  {"backlog", align::right}},
                 {}};
    if (one.from_ledger)
        result.columns.insert(result.columns.end() - 1, {"returned", align::right});
    const relay_curve shown = put_together(one.all().curve, most_rows);
    for (const relay_stretch& each : shown) {
        auto& row = result.rows.emplace_back();
        row = {show_seconds(each.start_s), show_seconds(each.end_s),
               show_number(each.per_minute(each.accepted)) + " /min",
               show_number(each.per_minute(each.delivered)) + " /min"};
        if (one.from_ledger) row.push_back(show_number(each.per_minute(each.returned)) + " /min");
        row.push_back(whole(each.backlog) + " messages");
    }
    if (shown.size() < one.all().curve.size())
        result.note = "backlog: the highest of the time between";
    return result;
}

}  // namespace postal::report
