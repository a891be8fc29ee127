// SPDX-License-Identifier: GPL-3.0-or-later
// The report on a relay: the result, the tables, and on a page charts of accepted, delivered and
// backlog, for all mail and for each domain, and tails of transit times.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "base/text.hpp"
#include "postal-report/assets.hpp"
#include "postal-report/chart_data.hpp"
#include "postal-report/figures.hpp"
#include "postal-report/relay.hpp"

namespace postal::report {

namespace {

constexpr std::size_t most_relay_points = 300;   // of all mail
constexpr std::size_t most_domain_points = 120;  // of a small chart
constexpr std::size_t most_tails = 8;            // as many as there are colours
constexpr std::size_t most_printed_rows = 30;    // over time
constexpr std::size_t most_rows_of_page = 300;

using stretch = relay_stretch;
constexpr std::array<chart_column<stretch>, 5> stretch_columns{{
    {"start", [](const stretch& of) { return drawn_number(of.start_s); }},
    {"end", [](const stretch& of) { return drawn_number(of.end_s); }},
    {"accepted", [](const stretch& of) { return drawn_number(of.per_minute(of.accepted)); }},
    {"delivered", [](const stretch& of) { return drawn_number(of.per_minute(of.delivered)); }},
    {"backlog", [](const stretch& of) { return drawn_number(of.backlog); }},
}};

std::string part_json(const relay_part& one, const relay_part* there, std::size_t most) {
    const auto course = [&](const relay_part& of) {
        return course_json<stretch>(stretch_columns, put_together(of.curve, most));
    };
    return object_of({{"label", script_string(base::printable(one.name, 80))},
                      {"course", course(one)},
                      {"there", there == nullptr ? "null" : course(*there)}});
}

const relay_part* part_there(const shown_relay& one, const relay_part& part) {
    return one.against ? find_part(*one.against, part.name) : nullptr;
}

enum class whose { here, there };

// `colour` counts from 0.
std::string tail_json(const relay_part& one, whose where, std::size_t colour) {
    const auto at_rank = [&](std::uint64_t rank) { return one.transit.at_rank_us(rank); };
    const std::uint64_t all = std::max(one.counts.accepted, one.transit.count());
    const std::string label = base::printable(one.name, 80);
    const bool there = where == whose::there;
    return object_of({{"label", script_string(label + (there ? " there" : ""))},
                      {"there", fmt::to_string(there)},
                      {"colour", fmt::to_string(colour)},
                      {"points", points_json(tail_of(one.transit.count(), all, at_rank))}});
}

// A domain has the same colour in both reports, also where nothing of it arrived in one of them.
std::string tails_json(const shown_relay& one) {
    std::vector<std::string> here;
    std::vector<std::string> beside;
    std::size_t drawn = 0;
    for (const relay_part& part : one.here.parts) {
        const relay_part* there = part_there(one, part);
        const bool arrived_there = there != nullptr && there->transit.count() > 0;
        if (part.transit.count() == 0 && !arrived_there) continue;
        if (drawn == most_tails) break;
        if (part.transit.count() > 0) here.push_back(tail_json(part, whose::here, drawn));
        if (arrived_there) beside.push_back(tail_json(*there, whose::there, drawn));
        ++drawn;
    }
    if (one.here.transit) {
        here.push_back(object_of({{"label", script_string(one.here.all().name)},
                                  {"there", "false"},
                                  {"colour", "0"},
                                  {"points", tail_points(&*one.here.transit)}}));
    }
    here.insert(here.end(), beside.begin(), beside.end());
    return list_of(here);
}

bool has_tails(const relay_report& one) {
    return one.all().transit.count() > 0 ||
           (one.transit && one.transit->distribution && !one.transit->distribution->empty());
}

std::string span_of_points(const relay_part& one, std::size_t most) {
    const auto together = (one.curve.size() + most - 1) / most;
    return together > 1
               ? fmt::format("the mean of {} steps of the curve, and its highest backlog", together)
               : "one step of the curve";
}

std::string backlog_there(const shown_relay& one) {
    return one.against ? " \"Backlog there\" is that of " + one.against->source + "." : "";
}

std::vector<chart> charts(const shown_relay& one) {
    const relay_report& of = one.here;
    std::vector<chart> made;
    if (!of.all().curve.empty()) {
        made.push_back({"chart-course", "Accepted, delivered and backlog over time",
                        "Messages a minute on the left; what the relay had accepted and "
                        "neither delivered nor returned, the "
                        "area, on the right. Each point is " +
                            span_of_points(of.all(), most_relay_points) + ", known to " +
                            show_seconds(of.resolution_s) +
                            ". Rates of long courses are means of neighbours; thin: each point "
                            "itself." +
                            backlog_there(one)});
    }
    if (has_tails(of) || (one.against && has_tails(*one.against))) {
        const bool some = of.parts.size() > most_tails;
        made.push_back(
            {"chart-transit", "Transit by percentile",
             "What share of the messages that the relay accepted had arrived after no longer than "
             "that; each step to the right is a tail ten times as thin. A line that ends early "
             "belongs to messages that never arrived." +
                 std::string(some ? fmt::format(" Drawn are the first {}.", most_tails) : "") +
                 (one.against ? " Dashed: " + one.against->source + "." : "")});
    }
    const auto parts = drawn_parts(of);
    for (std::size_t each = 0; each < parts.size(); ++each) {
        made.push_back({fmt::format("chart-part-{}", each), parts[each]->name,
                        "Accepted and delivered a minute on the left, backlog on the right." +
                            backlog_there(one)});
    }
    return made;
}

page_details relay_page_of(const shown_relay& one) {
    page_details made{
        .title = "Relay: " + one.here.source,
        .kind = "relay",
        .footnote = "Each recipient's message counts for itself, the warm-up included.",
        .chart_data = relay_chart_data(one),
        .script = relay_script};
    if (one.against) made.subtitle = {"beside " + one.against->source};
    return made;
}

}  // namespace

std::vector<const relay_part*> drawn_parts(const relay_report& one) {
    std::vector<const relay_part*> result;
    if (one.parts.size() < 3) return result;  // a single domain is all mail
    for (auto each = one.parts.begin() + 1; each != one.parts.end(); ++each)
        result.push_back(&*each);
    return result;
}

std::string relay_chart_data(const shown_relay& one) {
    const relay_report& of = one.here;
    double longest_s = 0;
    for (const relay_report* each : {&of, one.against ? &*one.against : &of}) {
        const relay_curve& curve = each->all().curve;
        if (!curve.empty()) longest_s = std::max(longest_s, curve.back().end_s);
    }
    std::vector<std::string> parts;
    for (const relay_part* each : drawn_parts(of))
        parts.push_back(part_json(*each, part_there(one, *each), most_domain_points));
    return object_of(
        {{"longest_s", drawn_number(longest_s)},
         {"warmup_s", "0"},
         {"columns", names_of<stretch>(stretch_columns)},
         {"series", list_of({part_json(of.all(), part_there(one, of.all()), most_relay_points)})},
         {"parts", list_of(parts)},
         {"tails", tails_json(one)}});
}

namespace {

// Of what the relay has accepted the share that it neither delivered nor returned, then how long a
// message waited.
std::pair<double, double> trouble_of(const relay_part& one) {
    const auto accepted = static_cast<double>(std::max<std::uint64_t>(one.counts.accepted, 1));
    return {static_cast<double>(one.counts.still_owed) / accepted, one.backlog.area_s / accepted};
}

// All mail stays first, and what has no name of its own last.
void put_trouble_first(relay_report& of) {
    const std::size_t named = std::min(of.parts.size(), of.domains.size() + 1);
    std::stable_sort(of.parts.begin() + 1, of.parts.begin() + static_cast<std::ptrdiff_t>(named),
                     [](const relay_part& one, const relay_part& other) {
                         return trouble_of(one) > trouble_of(other);
                     });
}

document made_of(const shown_relay& one, medium wanted) {
    const bool on_page = wanted == medium::page;
    document made{"Relay"};
    std::vector<std::string> results{relay_result(one.here)};
    if (one.against)
        results.push_back((wanted == medium::text ? "beside " : "Beside ") +
                          relay_result(*one.against));
    if (on_page) {
        made.page = relay_page_of(one);
        for (chart& each : charts(one))
            made.add(std::move(each));
    } else {
        for (std::string& each : results)
            made.add(statement{std::move(each)});
    }
    for (std::string& each : relay_remarks(one))
        made.add(remark{"limit", std::move(each)});
    if (on_page) made.add(findings{.id = "relay", .sentences = std::move(results), .small = true});
    made.add_tables(relay_tables(one));
    made.add_tables({relay_course_table(one.here, on_page ? most_rows_of_page : most_printed_rows)},
                    place::folded);
    return made;
}

}  // namespace

document document_of(const shown_relay& one, medium wanted) {
    if (wanted != medium::page) return made_of(one, wanted);
    shown_relay ordered = one;
    put_trouble_first(ordered.here);
    return made_of(ordered, wanted);
}

}  // namespace postal::report
