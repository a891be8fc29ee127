#include "postal-report/chart_data.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/text.hpp"
#include "postal-report/ranks.hpp"
#include "postal-report/words.hpp"

namespace postal::report {

namespace {

constexpr std::size_t most_points = 1500;

void widen(std::optional<double>& highest, std::optional<double> other) {
    if (other && (!highest || *other > *highest)) highest = other;
}

std::size_t points_together(const std::vector<interval>& intervals) {
    return (intervals.size() + most_points - 1) / most_points;
}

double us(std::chrono::nanoseconds value) {
    return static_cast<double>(value.count()) / 1e3;
}

// Arrays instead of objects: a day of seconds is 86,400 of them.
std::string interval_points(const record& one) {
    // A reader's rate is one of visits, and its curve one of messages.
    const bool offered = what_is_due(one) == "messages";
    std::vector<std::string> list;
    for (const point& each : points_of(one.intervals, intervals_a_point(one))) {
        const interval& covered = each.covered;
        const auto errors = static_cast<double>(covered.error_events);
        list.push_back(
            fmt::format("[{},{},{},{},{},{:d},{:d},{},{},{}]", json_number(covered.start_s),
                        json_number(covered.end_s), json_number(each.per_minute()),
                        json_number(covered.p50_us), json_number(covered.p99_us), covered.warmup,
                        covered.partial, each.together, json_number(covered.a_minute(errors)),
                        json_number(offered ? covered.a_minute(covered.asked) : std::nullopt)));
    }
    return list_of(list);
}

}  // namespace

std::vector<point> points_of(const std::vector<interval>& intervals, std::size_t together) {
    std::vector<point> points;
    for (const interval& each : intervals) {
        if (each.draining) continue;  // some messages in a moment: no rate, and no percentile
        const bool fits = !points.empty() && points.back().together < together &&
                          points.back().covered.warmup == each.warmup &&
                          !points.back().covered.partial && !each.partial;
        if (!fits) {
            points.push_back({each});
            continue;
        }
        interval& covered = points.back().covered;
        ++points.back().together;
        covered.end_s = each.end_s;
        covered.messages += each.messages;
        covered.error_events += each.error_events;
        if (covered.asked && each.asked) *covered.asked += *each.asked;
        widen(covered.p50_us, each.p50_us);
        widen(covered.p99_us, each.p99_us);
    }
    return points;
}

double point::per_minute() const {
    const double length_s = covered.end_s - covered.start_s;
    return length_s > 0 ? static_cast<double>(covered.messages) * 60 / length_s : 0;
}

std::vector<tail_point> tail_of(const phase& from) {
    if (!from.distribution || from.distribution->empty()) return {};
    const std::uint64_t accepted = from.distribution->count();
    return tail_of(accepted, accepted + from.not_accepted,
                   [&](std::uint64_t rank) { return us(from.distribution->at_rank(rank)); });
}

std::vector<tail_point> tail_of(std::uint64_t known, std::uint64_t all,
                                const std::function<double(std::uint64_t)>& at_rank_us) {
    std::vector<tail_point> points;
    constexpr double step = 1.05;  // some 47 points a decade
    std::uint64_t before = 0;
    for (double one_in = 1; one_in < static_cast<double>(all); one_in *= step) {
        const std::uint64_t rank = stats::histogram::rank_of(1 - 1 / one_in, all);
        if (rank > known) return points;
        if (std::exchange(before, rank) == rank) continue;
        points.push_back({one_in, at_rank_us(rank)});
    }
    if (all == known) points.push_back({static_cast<double>(all), at_rank_us(all)});
    return points;
}

std::string tail_points(const phase* of) {
    return of == nullptr ? list_of({}) : points_json(tail_of(*of));
}

std::string points_json(const std::vector<tail_point>& points) {
    std::vector<std::string> list;
    for (const tail_point& each : points)
        list.push_back(
            fmt::format("[{},{}]", json_number(each.one_in), json_number(each.latency_us)));
    return list_of(list);
}

std::string json_number(std::optional<double> value) {
    return value && std::isfinite(*value) ? fmt::format("{}", *value) : "null";
}

std::string list_of(const std::vector<std::string>& elements) {
    return "[" + base::join(elements, ",") + "]";
}

std::size_t intervals_a_point(const record& one) {
    return std::max<std::size_t>(1, points_together(one.intervals));
}

std::string chart_data(const std::vector<record>& records) {
    std::vector<std::string> series;
    double longest_s = 0;
    double warmup_s = records.front().warmup_s;
    for (const record& one : records) {
        const phase* message = one.main_phase();
        for (const interval& each : one.intervals)
            if (!each.draining) longest_s = std::max(longest_s, each.end_s);
        warmup_s = std::min(warmup_s, one.warmup_s);
        series.push_back(fmt::format(R"({{"label":{},"phase":{},"word":{},"intervals":{},)"
                                     R"("message":{},"service":{}}})",
                                     script_string(base::printable(one.label, 80)),
                                     script_string(message == nullptr ? "message" : message->name),
                                     script_string(counted_word(one)), interval_points(one),
                                     tail_points(message), tail_points(one.find_phase("service"))));
    }
    const std::string ranks = records.size() == 1 ? rank_series(records.front()) : list_of({});
    return fmt::format(R"({{"longest_s":{},"warmup_s":{},"series":{},"ranks":{}}})",
                       json_number(longest_s), json_number(warmup_s), list_of(series), ranks);
}

std::string script_string(std::string_view text) {
    std::string out = "\"";
    for (const char c : text) {
        if (static_cast<unsigned char>(c) < ' ' || c == '<' || c == '"' || c == '\\') {
            out += fmt::format("\\u{:04x}", static_cast<unsigned char>(c));
        } else {
            out += c;
        }
    }
    return out + '"';
}

}  // namespace postal::report
