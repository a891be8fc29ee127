// SPDX-License-Identifier: GPL-3.0-or-later
// What the page's charts draw, as JSON that is small and safe to put between <script> tags.
//
// Intervals, but for what is finished after the stop: at most 750 points for each record; where
// there are more, neighbours of one kind (warm-up, partial or neither) are put together: messages
// are a minute's, whatever the length, percentiles the highest of them, and `together` says how
// many went into a point. Where there was no message percentiles are null.
//
// Seconds, of the same form and without percentiles: of a record with so few intervals that its
// counts are drawn by the second; else an empty list.
//
// Tails: the latency that a share of the messages did not exceed, from the least of them to the
// highest, as [one in how many was slower, microseconds]: 2 is the median, 100 is p99. Where
// messages that were due were never accepted, the curve ends at the share that was.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "postal-report/record.hpp"

namespace postal::report {

std::string chart_data(const std::vector<record>& records);

// null for what is not known, or not finite.
std::string json_number(std::optional<double> value);

// The same with six digits: more than a chart can show.
std::string drawn_number(std::optional<double> value);

// A list of JSON from its elements, and an object from its members, in their order.
std::string list_of(const std::vector<std::string>& elements);
using json_members = std::vector<std::pair<std::string, std::string>>;
std::string object_of(const json_members& members);

// A JSON string in which neither "</script" nor "<!--" can occur; the text is UTF-8.
std::string script_string(std::string_view text);

// What a page's script knows of each step of a course, by that name. Steps are lists in the order
// of their columns, since a day of seconds is 86,400 of them; the data's "columns" has the names.
template <class Step>
struct chart_column {
    std::string_view name;
    std::string (*value)(const Step& of);
};
template <class Step>
std::string names_of(std::span<const chart_column<Step>> columns) {
    std::vector<std::string> names;
    for (const chart_column<Step>& each : columns)
        names.push_back(script_string(each.name));
    return list_of(names);
}
template <class Step>
std::string course_json(std::span<const chart_column<Step>> columns, const std::vector<Step>& of) {
    std::vector<std::string> steps;
    for (const Step& one : of) {
        std::vector<std::string> values;
        for (const chart_column<Step>& each : columns)
            values.push_back(each.value(one));
        steps.push_back(list_of(values));
    }
    return list_of(steps);
}

struct tail_point {
    double one_in = 1;  // 1 / (1 - share); the highest stands for one message of all
    double latency_us = 0;
};
std::vector<tail_point> tail_of(const phase& from);
// Of `all`, of which `known` have a time, the others none and longer ones: at_rank_us gives that of
// a rank from 1 to `known`.
std::vector<tail_point> tail_of(std::uint64_t known, std::uint64_t all,
                                const std::function<double(std::uint64_t)>& at_rank_us);
// The same as JSON; null gives an empty list.
std::string tail_points(const phase* of);
std::string points_json(const std::vector<tail_point>& points);

// Neighbours put together, at most that many.
struct point {
    interval covered;
    std::size_t together = 1;
    [[nodiscard]] double per_minute() const;
};
std::vector<point> points_of(const std::vector<interval>& intervals, std::size_t together);

// Of a rank of that run, whose intervals these are: where each step begins and ends, and its
// messages.
std::string rank_points(const record& of, const std::vector<interval>& rank);

// How many intervals a point of the chart may stand for; 1: each has its own.
std::size_t intervals_a_point(const record& one);
// The same of what course_of() gives.
std::size_t stretches_a_point(const record& one);

// A run with fewer intervals than this is shown by the second, where the record has seconds.
inline constexpr std::size_t enough_intervals = 10;
bool shown_by_second(const record& one);
// What counts over time are drawn from: intervals, or seconds; not what was finished after the
// stop.
std::vector<interval> course_of(const record& one);

// Between what something was on the average of each of those stretches.
struct level_range {
    double least = 0;
    double most = 0;
    double small = 0;  // a difference that says nothing
    // So near each other that a sentence says as much as a curve.
    [[nodiscard]] bool steady() const noexcept {
        return most - least <= std::max(small, most / 10);
    }
};
// How many connections were open, and how many processors the workers kept busy; none where no
// stretch has it.
std::optional<level_range> open_range_of(const std::vector<interval>& course);
std::optional<level_range> processors_range_of(const std::vector<interval>& course);

}  // namespace postal::report
