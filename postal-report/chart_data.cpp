// SPDX-License-Identifier: GPL-3.0-or-later
#include "postal-report/chart_data.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "base/text.hpp"
#include "postal-report/ranks.hpp"
#include "postal-report/samples.hpp"
#include "postal-report/search.hpp"
#include "postal-report/words.hpp"

namespace postal::report {

namespace {

constexpr std::size_t most_points = 750;
constexpr std::size_t longest_series_name = 200;

void widen(std::optional<std::chrono::nanoseconds>& highest,
           std::optional<std::chrono::nanoseconds> other) {
    highest = std::max(highest, other);
}

std::size_t points_together(const std::vector<interval>& intervals) {
    return (intervals.size() + most_points - 1) / most_points;
}

void add_known(std::optional<double>& sum, std::optional<double> other) {
    if (sum && other) *sum += *other;
}

// Over both; nothing where that is not known of one.
std::optional<double> mean_open(const interval& one, const interval& other) {
    const double length_s = one.end_s - one.start_s, other_s = other.end_s - other.start_s;
    if (!one.open_connections || !other.open_connections || !(length_s + other_s > 0))
        return std::nullopt;
    return (*one.open_connections * length_s + *other.open_connections * other_s) /
           (length_s + other_s);
}

// By what follows it.
void extend(interval& covered, const interval& by) {
    covered.open_connections = mean_open(covered, by);
    covered.end_s = by.end_s;
    covered.messages += by.messages;
    covered.error_events += by.error_events;
    add_known(covered.asked, by.asked);
    add_known(covered.worker_cpu_s, by.worker_cpu_s);
    widen(covered.message_p50, by.message_p50);
    widen(covered.message_p90, by.message_p90);
    widen(covered.message_p99, by.message_p99);
}

std::string number_of(std::optional<std::chrono::nanoseconds> time) {
    return json_number(us(time));
}

// What a point has. The first three are all that a rank's course has.
constexpr std::array<chart_column<point>, 13> course_columns{{
    {"start", [](const point& of) { return json_number(of.covered.start_s); }},
    {"end", [](const point& of) { return json_number(of.covered.end_s); }},
    {"messages", [](const point& of) { return json_number(of.per_minute()); }},
    {"p50", [](const point& of) { return number_of(of.covered.message_p50); }},
    {"p99", [](const point& of) { return number_of(of.covered.message_p99); }},
    {"warmup", [](const point& of) { return std::to_string(of.covered.warmup); }},
    {"partial", [](const point& of) { return std::to_string(of.covered.partial); }},
    {"together", [](const point& of) { return std::to_string(of.together); }},
    {"errors",
     [](const point& of) {
         const auto errors = static_cast<double>(of.covered.error_events);
         return json_number(of.covered.a_minute(errors));
     }},
    {"offered", [](const point& of) { return json_number(of.covered.a_minute(of.covered.asked)); }},
    {"p90", [](const point& of) { return number_of(of.covered.message_p90); }},
    {"open", [](const point& of) { return json_number(of.covered.open_connections); }},
    {"processors", [](const point& of) { return json_number(of.covered.processors()); }},
}};
constexpr auto rank_columns = std::span(course_columns).first<3>();

std::string interval_points(const record& one, const std::vector<interval>& of) {
    std::vector<point> points = points_of(of, points_together(of));
    // A reader's rate is one of visits, and its curve one of messages.
    if (reads_mail(one))
        for (point& each : points)
            each.covered.asked.reset();
    return course_json<point>(course_columns, points);
}

// What a list says of that stretch, if it is there.
template <class List>
auto known(const List& list, std::size_t index) {
    return index < list.size() ? std::optional(list[index]) : std::nullopt;
}
template <class T>
std::optional<T> known(const std::vector<std::optional<T>>& list, std::size_t index) {
    return index < list.size() ? list[index] : std::nullopt;
}
template <class List>
auto known(const std::optional<List>& list, std::size_t index) {
    return list ? known(*list, index) : decltype(known(*list, index)){};
}

std::vector<interval> stretches_of(const stats::second_columns& of) {
    std::vector<interval> list;
    double previous_s = 0;
    for (std::size_t i = 0; i < of.t_s.size(); ++i) {
        interval& to = list.emplace_back();
        to.start_s = previous_s;
        to.end_s = previous_s = of.t_s[i];
        to.messages = of.messages[i];
        to.error_events = of.errors[i];
        to.warmup = i < of.warmup;
        to.partial = to.length_s() < of.width_s - stats::second_counts::whole_enough_s;
        to.asked = known(of.asked, i);
        to.open_connections = known(of.open_connections, i);
        to.worker_cpu_s = known(of.worker_cpu_s, i);
        to.message_p50 = known(of.message_p50, i);
        to.message_p90 = known(of.message_p90, i);
        to.message_p99 = known(of.message_p99, i);
    }
    return list;
}

// A rest that is too short for a rate belongs to what is before it.
void take_in_rest(std::vector<interval>& seconds, double width_s) {
    if (seconds.size() < 2) return;
    const interval last = seconds.back();
    interval& before = seconds[seconds.size() - 2];
    if (last.end_s - last.start_s >= width_s / 10 || last.warmup != before.warmup) return;
    extend(before, last);
    seconds.pop_back();
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
        extend(points.back().covered, each);
        ++points.back().together;
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
                   [&](std::uint64_t rank) { return *us(from.distribution->at_rank(rank)); });
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

std::string drawn_number(std::optional<double> value) {
    return value && std::isfinite(*value) ? fmt::format("{:.6g}", *value) : "null";
}

std::string list_of(const std::vector<std::string>& elements) {
    return "[" + base::join(elements, ",") + "]";
}

std::string object_of(const json_members& members) {
    std::vector<std::string> list;
    for (const auto& [name, value] : members)
        list.push_back(script_string(name) + ":" + value);
    return "{" + base::join(list, ",") + "}";
}

std::size_t intervals_a_point(const record& one) {
    return std::max<std::size_t>(1, points_together(one.intervals));
}

std::size_t stretches_a_point(const record& one) {
    return std::max<std::size_t>(1, points_together(course_of(one)));
}

bool shown_by_second(const record& one) {
    const auto before_stop = static_cast<std::size_t>(
        std::count_if(one.intervals.begin(), one.intervals.end(),
                      [](const interval& each) { return !each.draining; }));
    return before_stop < enough_intervals && one.seconds.t_s.size() > before_stop;
}

std::vector<interval> course_of(const record& one) {
    std::vector<interval> course = shown_by_second(one) ? stretches_of(one.seconds) : one.intervals;
    std::erase_if(course, [](const interval& each) { return each.draining; });
    if (shown_by_second(one)) take_in_rest(course, one.seconds.width_s);
    return course;
}

namespace {

template <class Level>
std::optional<level_range> range_of(const std::vector<interval>& course, double small,
                                    Level level_of) {
    std::optional<level_range> range;
    for (const interval& each : course) {
        const std::optional<double> level = level_of(each);
        if (!level) continue;
        if (!range) range = level_range{*level, *level, small};
        range->least = std::min(range->least, *level);
        range->most = std::max(range->most, *level);
    }
    return range;
}

}  // namespace

std::optional<level_range> open_range_of(const std::vector<interval>& course) {
    return range_of(course, 1.0, [](const interval& each) { return each.open_connections; });
}

std::optional<level_range> processors_range_of(const std::vector<interval>& course) {
    return range_of(course, 0.05, [](const interval& each) { return each.processors(); });
}

std::string chart_data(const std::vector<record>& records) {
    std::vector<std::string> series;
    double longest_s = last_sample_s(records);
    double warmup_s = records.front().warmup_s;
    for (const record& one : records) {
        const phase* message = one.main_phase();
        const std::vector<interval> course = course_of(one);
        if (!course.empty()) longest_s = std::max(longest_s, course.back().end_s);
        warmup_s = std::min(warmup_s, one.warmup_s);
        const bool by_second = shown_by_second(one);
        series.push_back(
            object_of({{"label", script_string(base::printable(one.label, 80))},
                       {"phase", script_string(message == nullptr ? "message" : message->name)},
                       {"word", script_string(counted_word(one))},
                       {"intervals", interval_points(one, one.intervals)},
                       {"seconds", by_second ? interval_points(one, course) : list_of({})},
                       {"message", tail_points(message)},
                       {"service", tail_points(one.find_phase("service"))}}));
    }
    return object_of({{"longest_s", json_number(longest_s)},
                      {"warmup_s", json_number(warmup_s)},
                      {"columns", names_of<point>(course_columns)},
                      {"series", list_of(series)},
                      {"ranks", records.size() == 1 ? rank_series(records.front()) : list_of({})},
                      {"samples", sample_series_data(records)},
                      {"search", records.size() == 1 ? search_data(records.front()) : "null"}});
}

std::string rank_points(const record& of, const std::vector<interval>& rank) {
    return course_json<point>(rank_columns, points_of(rank, intervals_a_point(of)));
}

std::string script_string(std::string_view text) {
    std::string out = "\"";
    for (const char c : base::printable(text, longest_series_name)) {
        if (c == '<' || c == '"' || c == '\\') {
            out += fmt::format("\\u{:04x}", static_cast<unsigned char>(c));
        } else {
            out += c;
        }
    }
    return out + '"';
}

}  // namespace postal::report
