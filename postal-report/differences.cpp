// SPDX-License-Identifier: GPL-3.0-or-later
// What differs between runs, in one line for each that is compared with the first.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/text.hpp"
#include "base/units.hpp"
#include "postal-report/figures.hpp"
#include "postal-report/run.hpp"
#include "postal-report/search.hpp"
#include "stats/shown.hpp"

namespace postal::report {

namespace {

constexpr std::size_t most_options = 5;
constexpr std::size_t longest_value = 40;

void add_text(std::vector<std::string>& to, std::string_view name, const std::string& now,
              const std::string& before) {
    if (now == before || now.empty() || before.empty()) return;
    to.push_back(fmt::format("{} {} instead of {}", name, base::printable(now, longest_value),
                             base::printable(before, longest_value)));
}

std::vector<std::string> settings(const record& one, const record& reference) {
    std::vector<std::string> parts;
    add_text(parts, "program", one.program, reference.program);
    add_text(parts, "version", one.version, reference.version);
    add_text(parts, "host", one.host.name, reference.host.name);
    add_text(parts, "kernel", one.host.kernel, reference.host.kernel);
    const table options = differing_options_table({reference, one});
    for (std::size_t i = 0; i < std::min(options.rows.size(), most_options); ++i) {
        const auto& row = options.rows[i];
        add_text(parts, row[0], row[2] == unknown ? "unset" : row[2],
                 row[1] == unknown ? "unset" : row[1]);
    }
    if (options.rows.size() > most_options)
        parts.push_back(
            plural(options.rows.size() - most_options, "further option", "further options"));
    return parts;
}

// A figure as a number, and as it is shown.
struct shown_figure {
    std::optional<double> value;
    std::string text;
};

void add_change(std::vector<std::string>& to, std::string_view name, const shown_figure& now,
                const shown_figure& reference) {
    if (!now.value || !reference.value) return;
    const std::string change = show_change(now.value, reference.value);
    // " (+7.2 %)" stands behind a number; here it is the number.
    if (!change.empty())
        to.push_back(fmt::format("{} {}", name, change.substr(2, change.size() - 3)));
    else if (*now.value == *reference.value || std::isfinite(*now.value / *reference.value))
        to.push_back(fmt::format("{} the same", name));
    else  // no share of nothing
        to.push_back(fmt::format("{} {} instead of {}", name, now.text, reference.text));
}

shown_figure rate_of(const record& one) {
    return {one.rate.mean, stats::measured_text(one.rate, &message_rate::mean) + "/min"};
}

// A search's rate, latency and errors are of all its trials, and say nothing of what it found.
std::vector<std::string> search_cells(const record& one, const record& reference) {
    if (!one.search || !reference.search) return {};
    const std::string both =
        fmt::format("{} instead of {}", found_text(one), found_text(reference));
    const auto now = found_in(one).rate;
    const auto before = found_in(reference).rate;
    if (!now || !before || !(*before > 0) || one.search->unit != reference.search->unit)
        return {"found " + both};
    const std::string change = show_change(now, before);
    if (change.empty()) return {"found rate the same"};
    return {fmt::format("found rate {}: {}", change.substr(2, change.size() - 3), both)};
}

std::vector<std::string> result_cells(const record& one, const record& reference) {
    if (one.search || reference.search) return search_cells(one, reference);
    std::vector<std::string> parts;
    add_change(parts, "rate", rate_of(one), rate_of(reference));
    const auto latency_of = [](const record& of, time_figure member) {
        const phase* const main = of.main_phase();
        return shown_figure{value_of(main, member), show_latency(main, member)};
    };
    const auto latency = [&](std::string_view name, time_figure member) {
        add_change(parts, name, latency_of(one, member), latency_of(reference, member));
    };
    latency("p50", &phase::p50);
    latency("p99", &phase::p99);
    const std::uint64_t now = one.totals.error_events;
    const std::uint64_t before = reference.totals.error_events;
    if (now != before)
        parts.push_back(fmt::format("errors {} instead of {}", base::format_count(now),
                                    base::format_count(before)));
    return parts;
}

}  // namespace

std::vector<std::string> differences(const std::vector<record>& records) {
    std::vector<std::string> lines;
    for (std::size_t i = 1; i < records.size(); ++i) {
        const auto set = settings(records[i], records.front());
        const auto got = result_cells(records[i], records.front());
        lines.push_back(fmt::format("{} against {}: {}{}{}", records[i].label,
                                    records.front().label,
                                    set.empty() ? "no option differs" : base::join(set, ", "),
                                    got.empty() ? "" : "; ", base::join(got, ", ")));
    }
    return lines;
}

}  // namespace postal::report
