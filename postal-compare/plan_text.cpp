// SPDX-License-Identifier: GPL-3.0-or-later
#include "postal-compare/plan_text.hpp"

#include "base/text.hpp"
#include "base/units.hpp"
#include "experiment/plan.hpp"
#include "report/table.hpp"
#include "stats/experiment/comparison.hpp"
#include "stats/experiment/paired.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>

namespace postal::compare {
namespace {

constexpr double largest_ratio = 2.7;

// How much the ratio of two variants differs from block to block.
constexpr double scatters[]{0.005, 0.01, 0.02, 0.05};

// The comparisons that carry a verdict: all but the baseline and the one that is the same as it.
std::size_t comparisons_of(const experiment::experiment& whole) {
    const auto& all = whole.variants;
    const auto twin = std::find_if(all.begin(), all.end(),
                                   [](const auto& one) { return one.same_as.has_value(); });
    const std::size_t left_out = twin != all.end() && twin->same_as == 0 ? 2 : 1;
    return std::max<std::size_t>(all.size() - std::min(all.size(), left_out), 1);
}

std::string shown_from(double scatter, std::size_t blocks, double alpha, double margin) {
    if (blocks < stats::fewest_blocks) return "no verdict";
    const stats::paired_sample sample{.count = blocks,
                                      .mean = 0,
                                      .deviation = scatter,
                                      .freedom = static_cast<double>(blocks) - 1};
    const double ratio = stats::shown_from(sample, alpha, margin);
    return ratio > largest_ratio ? fmt::format("more than a factor of {:g}", largest_ratio)
                                 : fmt::format("{:.2g} %", (ratio - 1) * 100);
}

std::chrono::nanoseconds run_time(const experiment::load& offered) {
    return offered.duration + (offered.ledger ? offered.linger : std::chrono::nanoseconds{});
}

std::string lingering(const experiment::load& offered) {
    if (!offered.ledger) return {};
    return fmt::format("; readers that watch stay {} longer",
                       base::format_duration(offered.linger));
}

// " by delivery, beside readers (20%)"; empty where one program searches alone.
std::string beside_text(const experiment::load& offered) {
    std::string text;
    for (const experiment::search_partner& one : offered.search->beside)
        text += fmt::format("{} {} ({})", text.empty() ? ", beside" : " and",
                            offered.programs[one.program].name, one.share);
    return text.empty() ? text : " by " + offered.programs[offered.search->program].name + text;
}

report::table bought(const experiment::experiment& whole) {
    const std::size_t planned = whole.offered.blocks;
    std::vector<std::size_t> numbers{3, 6, 10, 20, planned};
    std::sort(numbers.begin(), numbers.end());
    numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
    const double alpha =
        (1 - whole.verdict.confidence) / static_cast<double>(comparisons_of(whole));
    report::table made{"bought",
                       "The smallest difference that shows in 4 of 5 such experiments",
                       {{"blocks"}, {whole.offered.search ? "time at most" : "time"}},
                       {}};
    for (const double scatter : scatters)
        made.columns.push_back(
            {fmt::format("scatter {:g} %", scatter * 100), report::align::right});
    for (const std::size_t blocks : numbers) {
        const auto runs = static_cast<std::int64_t>(blocks * whole.variants.size());
        std::vector<std::string> row{
            std::to_string(blocks) + (blocks == planned ? ", planned" : ""),
            base::format_duration(run_time(whole.offered) * runs)};
        for (const double scatter : scatters)
            row.push_back(shown_from(scatter, blocks, alpha, whole.verdict.margin));
        made.rows.push_back(std::move(row));
    }
    made.note =
        "scatter: the standard deviation, from block to block, of the ratio of two variants; "
        "a short run of the experiment tells. What is within the margin is never shown";
    return made;
}

}  // namespace

std::string plan_text(const experiment::experiment& whole, std::uint64_t seed) {
    const std::size_t variants = whole.variants.size();
    const auto runs = static_cast<std::int64_t>(whole.offered.blocks * variants);
    const std::string length = base::format_duration(whole.offered.duration);
    const std::string all = base::format_duration(run_time(whole.offered) * runs);
    std::string out =
        fmt::format("{} of {}: {}", base::format_amount(whole.offered.blocks, "block"),
                    base::format_amount(variants, "variant"),
                    base::format_amount(static_cast<std::uint64_t>(runs), "run"));
    out += whole.offered.search ? fmt::format(", searches of {} at most{}\nAt most {}", length,
                                              beside_text(whole.offered), all)
                                : fmt::format(" of {}, of which {} are left out{}\nAt least {}",
                                              length, base::format_duration(whole.offered.warmup),
                                              lingering(whole.offered), all);
    out += ", and what file systems and servers take to start\n\n";
    report::table names{"variants", "", {{""}, {""}}, {}};
    for (std::size_t i = 0; i < variants; ++i)
        names.rows.push_back({std::to_string(i + 1), whole.variants[i].name});
    report::table order{"order",
                        whole.offered.seed
                            ? fmt::format("Order, from seed {}", seed)
                            : fmt::format("Order with --seed {}; without it, another one", seed),
                        {{"block"}, {"variants"}},
                        {}};
    for (std::uint64_t block = 1; block <= whole.offered.blocks; ++block) {
        std::vector<std::string> numbers;
        for (const experiment::planned_run& one : experiment::runs_of_block(seed, block, variants))
            numbers.push_back(std::to_string(one.variant + 1));
        order.rows.push_back({std::to_string(block), base::join(numbers, " ")});
    }
    return out + report::render_text(names) + "\n" + report::render_text(order) + "\n" +
           report::render_text(bought(whole));
}

}  // namespace postal::compare
