// SPDX-License-Identifier: GPL-3.0-or-later
// How soon somebody is told beside what that costs, in one sentence.
#include "experiment/figures.hpp"
#include "experiment/findings.hpp"

#include "base/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace postal::experiment {
namespace {

// Typical values of a metric of the run, by variant; empty where no run has it.
struct typical_values {
    const metric_result* of = nullptr;

    typical_values(const analysis& found, metric which) {
        const auto at = std::ranges::find_if(found.metrics, [which](const metric_result& one) {
            return one.about == which && is_of_run(which);
        });
        if (at != found.metrics.end()) of = &*at;
    }
    [[nodiscard]] std::optional<double> at(std::size_t variant) const {
        return of != nullptr && variant < of->typical.size() ? of->typical[variant] : std::nullopt;
    }
    // "509 ms -> 8.02 ms", "1.2 s -> never"
    [[nodiscard]] std::string change(std::size_t from, std::size_t to) const {
        return fmt::format("{} -> {}", show_value(of->about, at(from)),
                           show_value(of->about, at(to)));
    }
    [[nodiscard]] bool knows(std::size_t from, std::size_t to) const { return at(from) && at(to); }
};

// "+0.4 ms", "-12"
std::string difference(const typical_values& of, std::size_t from, std::size_t to) {
    const double change = *of.at(to) - *of.at(from);
    return (change < 0 ? "-" : "+") + show_value(of.of->about, std::abs(change));
}

std::string told_sentence(const results& of, const analysis& found, std::size_t from,
                          std::size_t to) {
    const typical_values half(found, metric::announced_p50);
    const typical_values most(found, metric::announced_p99);
    const typical_values work(found, metric::server_cpu);
    const typical_values idle(found, metric::idle_cpu);
    const typical_values memory(found, metric::idle_memory);
    std::vector<std::string> said;
    std::vector<std::string> costs;
    if (half.knows(from, to)) said.push_back("p50 " + half.change(from, to));
    if (most.knows(from, to)) said.push_back("p99 " + most.change(from, to));
    if (!said.empty() && work.knows(from, to))
        costs.push_back(difference(work, from, to) + " of the server's processor time a message");
    if (idle.knows(from, to))
        costs.push_back(difference(idle, from, to) + " of the server's processor time a second");
    if (memory.knows(from, to)) costs.push_back(difference(memory, from, to) + " of its memory");
    if (said.empty() && costs.empty()) return {};
    const bool waits = said.empty();
    if (!said.empty()) costs.insert(costs.begin(), base::join(said, ", "));
    return fmt::format("{} against {}, {}: {}", in_quotes(of.record.variants[to].name),
                       in_quotes(of.record.variants[from].name),
                       waits ? "for each 1,000 sessions that wait" : "from 250 to announced",
                       base::join(costs, "; "));
}

}  // namespace

std::vector<std::string> told_sentences(const results& of, const analysis& found) {
    std::vector<std::string> all;
    const auto add = [&](const stats::comparison& one) {
        std::string said = told_sentence(of, found, one.baseline, one.variant);
        if (!said.empty()) all.push_back(std::move(said));
    };
    for (const stats::comparison& one : found.verdict().compared.comparisons)
        add(one);
    if (found.verdict().compared.same) add(*found.verdict().compared.same);
    return all;
}

}  // namespace postal::experiment
