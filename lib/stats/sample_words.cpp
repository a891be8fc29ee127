// SPDX-License-Identifier: GPL-3.0-or-later
#include "stats/sample_words.hpp"

#include "base/digits.hpp"
#include "base/text.hpp"
#include "base/units.hpp"

#include <cmath>

namespace postal::stats {

namespace {

constexpr std::size_t longest_name = 110;

std::string shown(const std::string& name) {
    return base::printable(name, longest_name);
}

std::string seconds_text(double seconds) {
    const double digits = seconds < 100 ? 10 : 1;
    return base::format_duration(
        std::chrono::nanoseconds(std::llround(std::round(seconds * digits) / digits * 1e9)));
}

}  // namespace

std::string waiting_sentence(const sampled_source& of, std::string_view rate,
                             std::string_view accepted) {
    const sample_series* const queue = of.waiting();
    if (queue == nullptr || !queue->highest) return {};
    const bool any = *queue->highest > 0;
    std::string text = fmt::format(
        "{} messages a minute were {} while {} waited in the queue of {}", rate, accepted,
        any ? "up to " + sample_text(*queue->highest) : "none", shown(of.name));
    if (!any) return text;
    if (const auto last = queue->last())
        text += fmt::format(" ({} when the run ended)", sample_text(*last));
    return text;
}

std::string growth_sentence(const sampled_source& of, double from_s, double until_s) {
    const auto grown = growth_of(of, from_s, until_s);
    if (!grown) return {};
    return fmt::format(
        "The queue of {} grew: {} waited on the average of the first third of the measured time, "
        "{} "
        "of the last, about {} a minute more: it took in more than it handed on",
        shown(of.name), sample_text(std::round(grown->first)), sample_text(std::round(grown->last)),
        base::format_measured(grown->per_minute));
}

std::string figure_text(const sample_series& of) {
    if (!of.highest) return "not sampled";
    const std::string unit = of.unit.empty() ? "" : " " + base::printable(of.unit, 40);
    const auto last = of.last();
    std::string text = last ? fmt::format("{}{} at the end", sample_text(*last), unit)
                            : std::string("not in the last sample");
    text += fmt::format(", at most {}", sample_text(*of.highest));
    if (of.highest_at_s) text += " after " + seconds_text(*of.highest_at_s);
    return text;
}

std::string missed_text(const sampled_source& of) {
    if (of.missed == 0) return {};
    std::string text = fmt::format("{} of {} missed", base::format_count(of.missed),
                                   base::format_amount(of.taken + of.missed, "sample"));
    if (!of.missed_why.empty()) text += ": " + base::printable(of.missed_why, 300);
    return text;
}

std::vector<sample_line> sample_lines(const std::vector<sampled_source>& all) {
    std::vector<sample_line> lines;
    std::vector<std::string> empty;
    for (const sampled_source& source : all) {
        for (const sample_series& one : source.series) {
            const bool part = source.waiting() != nullptr && !one.waiting;
            if (part && one.highest == 0.0) {
                empty.push_back(shown(one.name));
            } else {
                lines.push_back({shown(one.name), figure_text(one)});
            }
        }
        if (std::string missed = missed_text(source); !missed.empty())
            lines.push_back({shown(source.name), std::move(missed)});
    }
    if (!empty.empty()) lines.push_back({"always 0", base::join(empty, ", ")});
    return lines;
}

}  // namespace postal::stats
