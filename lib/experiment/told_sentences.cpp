// SPDX-License-Identifier: GPL-3.0-or-later
// How soon somebody is told beside what that costs, in one sentence.
#include "experiment/figures.hpp"
#include "experiment/findings.hpp"

#include "base/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <initializer_list>

namespace postal::experiment {
namespace {

// A metric of the run for two variants, over the blocks in which both have all that is told.
struct told_metric {
    const metric_result* of = nullptr;
    stats::metric_table pair{};
    stats::comparison compared{};
    std::vector<std::optional<double>> typical{};

    // "509 ms -> 8.02 ms", "1.2 s -> never"
    [[nodiscard]] std::string change() const {
        return fmt::format("{} -> {}", show_value(of->about, typical[0]),
                           show_value(of->about, typical[1]));
    }
};

struct variant_pair {
    std::size_t from = 0;
    std::size_t to = 0;
};

const metric_result* known_result(const analysis& found, metric which, variant_pair of) {
    const auto at = std::ranges::find_if(found.metrics, [which](const metric_result& one) {
        return one.about == which && is_of_run(which);
    });
    if (at == found.metrics.end()) return nullptr;
    return at->typical[of.from] && at->typical[of.to] ? &*at : nullptr;
}

// Of those that both variants have; nothing where they have no block with all of them.
std::vector<told_metric> told_metrics(const results& of, const analysis& found, variant_pair pair,
                                      std::initializer_list<metric> wanted) {
    std::vector<told_metric> all;
    for (const metric each : wanted)
        if (const metric_result* const one = known_result(found, each, pair))
            all.push_back({.of = one});
    for (std::size_t block = 0; !all.empty() && block < found.blocks.size(); ++block) {
        const auto values = [&](const told_metric& one) -> const stats::metric_table::block& {
            return one.of->table.blocks[block];
        };
        const bool is_whole = std::ranges::all_of(all, [&](const told_metric& one) {
            const auto& here = values(one);
            return !here.voided && here.values[pair.from] && here.values[pair.to];
        });
        if (!is_whole) continue;
        for (told_metric& one : all)
            one.pair.blocks.push_back(
                {{values(one).values[pair.from], values(one).values[pair.to]}});
    }
    if (!all.empty() && all.front().pair.blocks.empty()) return {};
    for (told_metric& one : all) {
        one.pair.direction = one.of->table.direction;
        one.pair.floor = one.of->table.floor;
        one.pair.carries_verdict = false;
        one.pair.variants = 2;
        one.typical = typical_of(one.pair);
        one.compared = stats::compare(one.pair, {.alpha = 1 - of.record.verdict.confidence})
                           .comparisons.front();
    }
    return all;
}

// "+0.4 ms of the server's memory (+40.0 %, +38.0 % to +42.0 %)"; a difference that may be none is
// no fact.
std::string cost_text(const told_metric& one, std::string_view what) {
    const stats::comparison& compared = one.compared;
    const bool is_apart = compared.blocks >= stats::fewest_blocks && compared.interval &&
                          ((*compared.interval)[0] > 1 || (*compared.interval)[1] < 1);
    if (!is_apart) return fmt::format("{} not told apart {}", what, ratio_in_brackets(compared));
    const double change = *one.typical[1] - *one.typical[0];
    return fmt::format("{}{} of {} {}", change < 0 ? "-" : "+",
                       show_value(one.of->about, std::abs(change)), what,
                       ratio_in_brackets(compared));
}

const char* cost_words(metric one) {
    if (one == metric::server_cpu) return "the server's processor time a message";
    return one == metric::idle_cpu ? "the server's processor time a second" : "the server's memory";
}

std::string told_sentence(const results& of, const analysis& found, variant_pair pair) {
    const auto told = told_metrics(
        of, found, pair, {metric::announced_p50, metric::announced_p99, metric::server_cpu});
    const auto waits = told_metrics(of, found, pair, {metric::idle_cpu, metric::idle_memory});
    std::vector<std::string> times;
    std::vector<std::string> costs;
    for (const told_metric& one : told) {
        if (one.of->about == metric::announced_p50) times.push_back("p50 " + one.change());
        if (one.of->about == metric::announced_p99) times.push_back("p99 " + one.change());
        if (one.of->about == metric::server_cpu && !times.empty())
            costs.push_back(cost_text(one, cost_words(one.of->about)));
    }
    for (const told_metric& one : waits)
        costs.push_back(cost_text(one, cost_words(one.of->about)));
    if (times.empty() && costs.empty()) return {};
    const bool is_idle = times.empty();
    if (!is_idle) costs.insert(costs.begin(), base::join(times, ", "));
    return fmt::format("{} against {}, {}: {}", in_quotes(of.record.variants[pair.to].name),
                       in_quotes(of.record.variants[pair.from].name),
                       is_idle ? "for each 1,000 sessions that wait" : "from 250 to announced",
                       base::join(costs, "; "));
}

}  // namespace

std::vector<std::string> told_sentences(const results& of, const analysis& found) {
    std::vector<std::string> all;
    if (found.verdict().compared.voided) return all;
    const auto add = [&](const stats::comparison& one) {
        std::string said = told_sentence(of, found, {one.baseline, one.variant});
        if (!said.empty()) all.push_back(std::move(said));
    };
    for (const stats::comparison& one : found.verdict().compared.comparisons)
        add(one);
    if (found.verdict().compared.same) add(*found.verdict().compared.same);
    return all;
}

}  // namespace postal::experiment
