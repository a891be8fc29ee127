// SPDX-License-Identifier: GPL-3.0-or-later
#include "stats/latency_table.hpp"

#include "base/units.hpp"
#include "stats/shown.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

namespace postal::stats {
namespace {

// A column of the table; the one with the highest number is left out first where there is no room.
struct latency_column {
    std::string_view title;
    std::optional<std::chrono::nanoseconds> time_figures::*figure;
    double quantile = 1;  // whose support there has to be; 1: any value
    unsigned spared = 0;
};
constexpr std::size_t latency_column_width = 9;
constexpr std::array<latency_column, 6> table_columns{{{"mean", &time_figures::mean, 1, 3},
                                                       {"p50", &time_figures::p50, 0.5, 1},
                                                       {"p90", &time_figures::p90, 0.9, 4},
                                                       {"p99", &time_figures::p99, 0.99, 0},
                                                       {"p99.9", &time_figures::p999, 0.999, 5},
                                                       {"max", &time_figures::max, 1, 2}}};

std::vector<latency_column> columns_within(std::size_t width) {
    constexpr std::size_t first = 2 + 12 + 11;  // margin, name, count
    std::vector<latency_column> made;
    const std::size_t room = width > first ? (width - first) / latency_column_width : 0;
    for (const latency_column& one : table_columns)
        if (one.spared < std::max<std::size_t>(room, 1)) made.push_back(one);
    return made;
}

// "4.10 ms"; "~4.10 ms" with fewer than ten values beyond it; "–" without one; "≥4.10 s" for what
// was due and had waited so long without being accepted.
std::string figure_text(const phase_figures& of, const latency_column& column) {
    const auto value = of.*column.figure;
    const bool rough = support_of(column.quantile, of.count) == support::few;
    if (value) return (rough ? "~" : "") + base::format_latency(*value);
    const auto least = of.at_least ? (*of.at_least).*column.figure : std::nullopt;
    return least ? "≥" + base::format_latency(*least) : "–";
}

std::string latency_row(std::string_view name, const phase_figures& of,
                        const std::vector<latency_column>& columns) {
    std::string text = fmt::format("  {:<12}{:>11}", name, base::format_count(of.count));
    for (const latency_column& one : columns)
        text += fmt::format("{:>9}", figure_text(of, one));
    return text + "\n";
}

}  // namespace

std::string latency_table(const run_record& of, std::size_t width) {
    const auto columns = columns_within(width);
    std::string text;
    std::string_view accepted;  // what those are called whose times are known, where others wait
    for (const phase_figures& one : of.phases) {
        const bool is_part = !accepted.empty() && one.name == accepted;
        if (one.count > 0 || is_part)
            text += latency_row(is_part ? "  " + one.name : one.name, one, columns);
        if (one.not_accepted > 0) accepted = reads_mail(of) ? "successful" : "accepted";
    }
    if (text.empty()) return text;
    std::string head = fmt::format("\n  {:<12}{:>11}", "latency", "count");
    for (const latency_column& one : columns)
        head += fmt::format("{:>9}", one.title);
    head += '\n';
    const bool rough = text.find('~') != std::string::npos;
    const bool missed = text.find("≥") != std::string::npos;
    if (rough) text += "  ~ fewer than ten values lie beyond it\n";
    if (missed)
        text += fmt::format("  ≥ of all that was due; never {}, after so long a wait\n", accepted);
    return head + text;
}

}  // namespace postal::stats
