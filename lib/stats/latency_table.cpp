#include "stats/latency_table.hpp"

#include "base/units.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

namespace postal::stats {
namespace {

// "4.10 ms"; "~4.10 ms" with fewer than ten values beyond it; "–" without one; "≥4.10 s" for what
// was due and had waited so long without being accepted.
std::string percentile_text(const ranking& values, double q) {
    const support known = support_of(q, values.count());
    if (known == support::none) return "–";
    const percentile got = values.quantile(q);
    const std::string_view mark = !got.reached ? "≥" : known == support::few ? "~" : "";
    return fmt::format("{}{}", mark, base::format_latency(got.value));
}

std::string mean_text(const ranking& values) {
    const percentile mean = values.mean();
    if (values.count() == 0) return "–";
    return (mean.reached ? "" : "≥") + base::format_latency(mean.value);
}

// A column of the table; the one with the highest number is left out first where there is no room.
struct latency_column {
    std::string_view title;
    double quantile = 0;  // 0: the mean
    unsigned spared = 0;
};
constexpr std::size_t latency_column_width = 9;
constexpr std::array<latency_column, 6> latency_columns{{{"mean", 0, 3},
                                                         {"p50", 0.5, 1},
                                                         {"p90", 0.9, 4},
                                                         {"p99", 0.99, 0},
                                                         {"p99.9", 0.999, 5},
                                                         {"max", 1.0, 2}}};

std::vector<latency_column> columns_within(std::size_t width) {
    constexpr std::size_t first = 2 + 12 + 11;  // margin, name, count
    std::vector<latency_column> made;
    const std::size_t room = width > first ? (width - first) / latency_column_width : 0;
    for (const latency_column& one : latency_columns)
        if (one.spared < std::max<std::size_t>(room, 1)) made.push_back(one);
    return made;
}

std::string latency_row(std::string_view name, const ranking& values,
                        const std::vector<latency_column>& columns) {
    std::string text = fmt::format("  {:<12}{:>11}", name, base::format_count(values.count()));
    for (const latency_column& one : columns)
        text += fmt::format(
            "{:>9}", one.quantile > 0 ? percentile_text(values, one.quantile) : mean_text(values));
    return text + "\n";
}

}  // namespace

std::string latency_table(const run_report& report, std::size_t width) {
    const auto columns = columns_within(width);
    std::string text;
    const auto& names = report.description().phases;
    for (std::size_t i = 0; i < names.size(); ++i) {
        const ranking values = report.latency(i);
        if (values.count() == 0 || !report.description().shows_phase(i)) continue;
        text += latency_row(names[i], values, columns);
        if (!values.whole())
            text += latency_row(fmt::format("  {}", report.description().what_counts()),
                                ranking(report.totals().latency[i]), columns);
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
        text += fmt::format("  ≥ of all that was due; never {}, after so long a wait\n",
                            report.description().what_counts());
    return head + text;
}

}  // namespace postal::stats
