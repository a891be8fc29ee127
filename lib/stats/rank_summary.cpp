// SPDX-License-Identifier: GPL-3.0-or-later
#include "stats/rank_summary.hpp"

#include "base/units.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>

namespace postal::stats {
namespace {

constexpr std::size_t most_named = 4;
constexpr double longest_s = 9e9;  // a duration has no room for more

std::chrono::nanoseconds time_of(double seconds) {
    if (!std::isfinite(seconds)) return {};
    return std::chrono::nanoseconds{std::llround(std::clamp(seconds, 0.0, longest_s) * 1e9)};
}

// "4 ranks on 2 hosts, started within 0.4 ms of each other (bound 0.1 ms)"
std::string start_text(const std::vector<rank_share>& ranks) {
    std::set<std::string_view> hosts;
    std::optional<double> least;
    std::optional<double> most;
    double bound = 0;
    for (const rank_share& one : ranks) {
        hosts.insert(one.host);
        bound = std::max(bound, one.clock_bound_s.value_or(0));
        if (!one.start_late_s) continue;
        least = std::min(least.value_or(*one.start_late_s), *one.start_late_s);
        most = std::max(most.value_or(*one.start_late_s), *one.start_late_s);
    }
    std::string text = fmt::format("{} on {}", base::format_amount(ranks.size(), "rank"),
                                   base::format_amount(hosts.size(), "host"));
    if (!least) return text;
    text += fmt::format(", started within {} of each other",
                        base::format_latency(time_of(*most - *least)));
    return bound > 0 ? text + fmt::format(" (bound {})", base::format_latency(time_of(bound)))
                     : text;
}

// "first done rank 2 after 58.1 s, last rank 0 after 60.2 s"
std::string done_text(const std::vector<rank_share>& ranks) {
    const rank_share* first = nullptr;
    const rank_share* last = nullptr;
    for (const rank_share& one : ranks) {
        if (!one.done_s) continue;
        if (first == nullptr || *one.done_s < *first->done_s) first = &one;
        if (last == nullptr || *one.done_s > *last->done_s) last = &one;
    }
    if (first == last) return {};
    return fmt::format("first done rank {} after {:.1f} s, last rank {} after {:.1f} s",
                       first->rank, *first->done_s, last->rank, *last->done_s);
}

std::string lost_text(const rank_share& one) {
    return fmt::format("{} was lost: last heard of after {:.1f} s, at least {} unaccounted for",
                       name_of(one), *one.lost_s, base::format_amount(one.unaccounted, "message"));
}

std::string missed_text(const rank_share& one) {
    return fmt::format("{} missed the start by {}: its schedule was not the others'", name_of(one),
                       base::format_latency(time_of(one.start_late_s.value_or(0))));
}

std::string stepped_text(const rank_share& one) {
    const double size = one.clock_step_s.value_or(0);
    return fmt::format("{} had its {} clock {} by {} against rank 0's{}", name_of(one),
                       one.clock_steps > 0 ? "steady" : "wall", size < 0 ? "set back" : "set ahead",
                       base::format_latency(time_of(std::abs(size))),
                       one.clock_steps + one.wall_steps > 1 ? ", and at other times" : "");
}

// More than the correction that every clock needs.
bool was_slewed(const rank_share& one) {
    constexpr double usual = 1100e-6;
    return one.clock_drift_limit.value_or(0) > usual;
}

std::string slewed_text(const rank_share& one) {
    return fmt::format(
        "{} or rank 0 had a clock that was being slewed: the two may drift by {:.0f} ppm",
        name_of(one), *one.clock_drift_limit * 1e6);
}

// A line for each of those, and one for those that are too many.
template <class Is, class Text>
void name_each(std::vector<rank_line>& to, const std::vector<rank_share>& ranks,
               std::string_view label, Is is, Text text_of) {
    std::size_t count = 0;
    for (const rank_share& one : ranks)
        if (is(one) && ++count <= most_named) to.push_back({label, text_of(one), true});
    if (count > most_named)
        to.push_back({label,
                      fmt::format("and {} more", base::format_amount(count - most_named, "rank")),
                      true});
}

}  // namespace

std::string name_of(const rank_share& one) {
    return fmt::format("rank {} on {}", one.rank, one.host.empty() ? "?" : one.host);
}

std::vector<rank_line> rank_lines(const std::vector<rank_share>& ranks) {
    if (ranks.size() < 2) return {};
    std::vector<rank_line> lines{{"machines", start_text(ranks)}};
    if (std::string done = done_text(ranks); !done.empty()) lines.push_back({"", std::move(done)});
    name_each(
        lines, ranks, "LOST", [](const rank_share& one) { return one.lost_s.has_value(); },
        lost_text);
    name_each(
        lines, ranks, "LATE", [](const rank_share& one) { return one.missed_start; }, missed_text);
    name_each(
        lines, ranks, "CLOCK",
        [](const rank_share& one) { return one.clock_steps + one.wall_steps > 0; }, stepped_text);
    name_each(lines, ranks, "CLOCK", was_slewed, slewed_text);
    return lines;
}

}  // namespace postal::stats
