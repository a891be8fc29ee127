// SPDX-License-Identifier: GPL-3.0-or-later
// The places of the charts of run records, and what stands under each: what a step or a point is,
// and what is not seen in it. What would be a level line becomes a sentence.
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

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

constexpr double low_rem = 11;
constexpr double lowest_rem = 9.5;  // without a legend

template <class Matches>
bool any_of(const std::vector<interval>& list, Matches matches) {
    return std::any_of(list.begin(), list.end(), matches);
}

// What the records have, all together.
struct shown_course {
    bool intervals = false;
    bool errors = false;
    bool set_apart = false;  // some are dashed
    bool by_interval = false;
    bool by_second = false;
    bool latency_by_interval = false;
    bool latency_by_second = false;
    double second_s = 1;
    std::size_t together = 1;   // intervals, that a point stands for at most
    std::size_t stretches = 1;  // the same of what counts are drawn from
    bool open_varies = false;
    bool processors_vary = false;
};

bool has_error(const interval& one) {
    return one.error_events > 0;
}

bool is_set_apart(const interval& one) {
    return one.warmup || one.partial;
}

void gather_course(shown_course& to, const record& one) {
    const std::vector<interval> course = course_of(one);
    if (course.empty()) return;
    to.intervals = true;
    (shown_by_second(one) ? to.by_second : to.by_interval) = true;
    const bool known =
        any_of(course, [](const interval& each) { return each.message_p50.has_value(); });
    (shown_by_second(one) && known ? to.latency_by_second : to.latency_by_interval) = true;
    if (shown_by_second(one)) to.second_s = std::max(to.second_s, one.seconds.width_s);
    to.together = std::max(to.together, intervals_a_point(one));
    to.stretches = std::max(to.stretches, stretches_a_point(one));
    to.errors = to.errors || any_of(course, has_error);
    to.set_apart = to.set_apart || any_of(course, is_set_apart);
    const auto open = open_range_of(course);
    to.open_varies = to.open_varies || (open && !open->steady());
    const auto processors = processors_range_of(course);
    to.processors_vary = to.processors_vary || (processors && !processors->steady());
}

// "one interval", "one second", "4 seconds"
std::string stretch_json(const shown_course& of) {
    if (!of.by_second) return "one interval";
    const std::string second =
        of.second_s > 1 ? fmt::format("up to {:g} seconds", of.second_s) : "one second";
    return of.by_interval ? "one interval, or " + second + " of a run with fewer than ten intervals"
                          : second;
}

// More than one where a chart would have too many points to be seen.
std::string step(const shown_course& of) {
    if (of.stretches == 1) return stretch_json(of);
    return fmt::format("the mean of up to {} {}", of.stretches,
                       of.by_second ? "stretches" : "intervals");
}

std::string_view tables_of(const shown_course& of) {
    if (!of.by_second) return "the table of intervals";
    return of.by_interval ? "the tables of intervals and seconds" : "the table of seconds";
}

// "4", "92 to 100"
std::string range_text(const level_range& range) {
    const std::string least = show_number(range.least), most = show_number(range.most);
    return least == most ? most : least + " to " + most;
}

// What the rates were made with, where no chart has it; empty where it is not known.
std::string level_text(std::string_view what, const std::vector<record>& records,
                       const shown_course& of,
                       std::optional<level_range> (*range_of)(const std::vector<interval>&)) {
    std::vector<std::string> known;
    for (const record& one : records)
        if (const auto range = range_of(course_of(one)))
            known.push_back((records.size() > 1 ? one.label + " " : "") + range_text(*range));
    if (known.empty()) return {};
    return fmt::format(" {}, on the average of each {}: {}.", what,
                       of.by_second && !of.by_interval ? "second" : "step",
                       base::join(known, ", "));
}

std::string levels_text(const std::vector<record>& records, const shown_course& of) {
    std::string text;
    if (!of.open_varies) text += level_text("Connections open", records, of, open_range_of);
    if (!of.processors_vary)
        text +=
            level_text("Processors that the workers kept busy", records, of, processors_range_of);
    return text;
}

std::string ranks_caption(const record& one) {
    const std::size_t shown = charted_ranks(one).size();
    if (shown == one.ranks.size()) return {};
    return fmt::format(
        "Of {} ranks the one that accepted most, the median and the one that "
        "accepted least; the table has all. ",
        base::format_count(one.ranks.size()));
}

chart rate_chart(const std::vector<record>& records, const shown_course& of) {
    const std::string why =
        of.by_second && !of.by_interval
            ? fmt::format("By second, since {} fewer than ten intervals: each step is ",
                          records.size() == 1 ? "the run has" : "the runs have")
            : "Each step is ";
    const std::string marked = of.set_apart ? "; dashed: warm-up and partial ones" : "";
    return {"chart-rate", "Messages " + std::string(counted_word(records)) + " a minute",
            why + step(of) + ", as wide as it lasted" + marked + ". The numbers stand in " +
                std::string(tables_of(of)) + "." + levels_text(records, of)};
}

chart latency_chart(std::string_view word, const shown_course& of, bool several) {
    const bool highest = (of.latency_by_interval && of.together > 1) ||
                         (of.latency_by_second && (of.stretches > 1 || of.second_s > 1));
    return {
        "chart-latency", "Latency over time",
        fmt::format("Percentiles of the messages {0} in each {1}{2}. Where the line has a "
                    "gap, no message was {0}, or too few for that percentile.",
                    word,
                    !of.latency_by_second     ? "interval"
                    : !of.latency_by_interval ? "second"
                                              : "interval, or second of a run with fewer than ten",
                    highest ? ", the highest of each point's" : "") +
            (several ? " p99 is drawn; choose another percentile's name to see it, too." : "")};
}

void add_worker_charts(std::vector<chart>& to, const std::vector<record>& records,
                       const shown_course& of) {
    const double height_rem = records.size() == 1 ? lowest_rem : low_rem;
    if (of.open_varies)
        to.push_back({"chart-open", "Connections open",
                      "Of all workers together, each step " + step(of) +
                          ": one that was open for half of the time counts as half.",
                      height_rem});
    if (of.processors_vary)
        to.push_back(
            {"chart-workers", "Processors that the workers kept busy",
             fmt::format(
                 "The processor time of all worker threads{}, by the time that passed, each "
                 "step {}: 1 is one processor all the time. The program's other threads are "
                 "not in it.",
                 records.size() == 1 && records.front().ranks.size() > 1 ? " of all ranks" : "",
                 step(of)),
             height_rem});
}

bool has_distribution(const record& one) {
    const phase* message = one.main_phase();
    return message != nullptr && message->distribution && !message->distribution->empty();
}

}  // namespace

std::vector<chart> charts(const std::vector<record>& records) {
    shown_course of;
    for (const record& one : records)
        gather_course(of, one);
    const std::string word{counted_word(records)};
    std::vector<chart> made;
    if (records.size() == 1) made = search_charts(records.front());
    if (of.intervals) {
        made.push_back(rate_chart(records, of));
    }
    for (chart& each : sample_charts(records))
        made.push_back(std::move(each));
    if (of.intervals) {
        if (records.size() == 1 && records.front().ranks.size() > 1)
            made.push_back(
                {"chart-ranks", "Messages " + word + " a minute, by rank",
                 ranks_caption(records.front()) + "Each step is " +
                     (of.together > 1 ? fmt::format("the mean of up to {} intervals", of.together)
                                      : "one interval") +
                     "."});
        made.push_back(latency_chart(word, of, records.size() > 1));
    }
    if (std::any_of(records.begin(), records.end(), has_distribution))
        made.push_back({"chart-distribution", "Latency by percentile",
                        "What share of the messages after the warm-up took no longer than that; "
                        "each step to the right is a tail ten times as thin. The numbers stand "
                        "in the table of latencies."});
    if (of.intervals && of.errors)
        made.push_back({"chart-errors", "Errors a minute",
                        "All kinds together, each step " + step(of) +
                            "; the table of errors has what they were.",
                        low_rem});
    add_worker_charts(made, records, of);
    return made;
}

}  // namespace postal::report
