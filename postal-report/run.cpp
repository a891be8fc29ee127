// SPDX-License-Identifier: GPL-3.0-or-later
#include "postal-report/run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "postal-report/assets.hpp"
#include "postal-report/chart_data.hpp"
#include "postal-report/figures.hpp"
#include "postal-report/samples.hpp"
#include "postal-report/search.hpp"
#include "stats/shown.hpp"

namespace postal::report {

namespace {

constexpr std::size_t most_printed_intervals = 100;
constexpr std::size_t most_intervals_of_page = 500;

page_details page_of(const std::vector<record>& records) {
    page_details made{
        .footnote = footnote_of_runs, .chart_data = chart_data(records), .script = records_script};
    const record& first = records.front();
    if (records.size() == 1) {
        made.kind = "single";
        made.title = first.program;
        if (first.rate.mean)
            made.title +=
                ": " + stats::measured_text(first.rate, &message_rate::mean) + " messages/min";
        if (first.search) made.title = first.program + ": " + found_sentence(first);
        if (!first.labels.title.empty()) made.subtitle.push_back(first.labels.title);
        made.subtitle.push_back(tested(first));
        made.subtitle.push_back(describe(first));
        return made;
    }
    made.title = fmt::format("{} runs compared", records.size());
    for (const record& one : records)
        made.subtitle.push_back(one.label + ": " + describe(one));
    return made;
}

// What is drawn over time and stands in no other table: the page alone has room for it.
void add_course(document& to, const std::vector<record>& records) {
    for (const record& one : records) {
        table shown = course_table(one);
        if (shown.rows.empty()) continue;
        if (records.size() > 1) shown.title += " of " + one.label;
        const std::string summary = fmt::format("{} ({})", shown.title, shown.rows.size());
        keep_first(shown, most_intervals_of_page, shown_by_second(one) ? "seconds" : "intervals");
        to.add(placed_table{std::move(shown), place::folded, summary});
    }
}

// The same of what was sampled.
void add_sample_parts(document& to, const std::vector<record>& records) {
    std::size_t number = 0;
    for (const record& one : records) {
        for (table& shown : sample_courses(one)) {
            shown.name = fmt::format("samples-{}", number++);
            if (records.size() > 1) shown.title += " in " + one.label;
            const std::string summary = fmt::format("{} ({})", shown.title, shown.rows.size());
            keep_first(shown, most_intervals_of_page, "moments");
            to.add(placed_table{std::move(shown), place::folded, summary});
        }
    }
}

// More than these nobody reads who looks for the result.
constexpr std::size_t most_open_options = 12;

}  // namespace

document document_of(const std::vector<record>& records, medium wanted) {
    const bool several = records.size() > 1;
    const bool on_page = wanted == medium::page;
    document made{several ? "Runs compared" : "Run"};
    if (on_page) made.page = page_of(records);
    for (const record& one : records) {
        if (several && !on_page) made.add(item{one.label + ": " + describe(one)});
        if (!several && !one.labels.title.empty()) made.add(statement{one.labels.title});
        if (!several) made.add(statement{describe(one)});
        if (!several && !on_page && one.search)
            made.add(statement{"Found: " + found_sentence(one)});
    }
    if (on_page) made.add(headline(records));
    for (std::string& each : differences(records))
        made.add(item{std::move(each)});
    std::vector<remark> noted = all_remarks(records);
    // Who reads mail back wants to know first whether it is whole.
    if (on_page)
        std::stable_partition(noted.begin(), noted.end(),
                              [](const auto& each) { return each.loud; });
    made.add_remarks(std::move(noted));
    for (table& each : sections(records)) {
        const bool is_compared = each.name == compared_name;
        const bool is_long = is_compared && each.rows.size() > most_open_options;
        const bool on_top = is_compared || (!several && each.name == "thresholds");
        made.add(placed_table{std::move(each), is_long  ? place::folded
                                               : on_top ? place::headline
                                                        : place::open});
    }
    if (on_page) add_course(made, records);
    if (on_page) add_sample_parts(made, records);
    for (table& each :
         details(records, on_page ? most_intervals_of_page : most_printed_intervals)) {
        const bool host = each.name == "host";
        made.add(placed_table{std::move(each), host ? place::open : place::folded});
    }
    if (on_page)
        for (chart& each : charts(records))
            made.add(std::move(each));
    return made;
}

}  // namespace postal::report
