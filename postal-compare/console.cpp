// SPDX-License-Identifier: GPL-3.0-or-later
#include "postal-compare/console.hpp"

#include "experiment/findings.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace postal::compare {

void console::begin(const experiment::planned_run& one, const experiment::experiment& whole,
                    std::uint64_t blocks) {
    const std::uint64_t variants = whole.variants.size();
    where_ = fmt::format("block {}/{}  {}", one.block, blocks, whole.variants[one.variant].name);
    runs_left_ = blocks * variants -
                 std::min(blocks * variants, (one.block - 1) * variants + one.position + 1);
    a_run_ =
        ended_runs_ == 0 ? whole.offered.duration : spent_ / static_cast<std::int64_t>(ended_runs_);
    begun_ = std::chrono::steady_clock::now();
}

experiment::progress console::progress() {
    return [this](std::string_view step, std::optional<std::chrono::seconds> left) {
        show(step, left);
    };
}

void console::show(std::string_view step, std::optional<std::chrono::seconds> left) {
    if (!line_.is_live()) return;
    const std::chrono::nanoseconds of_this = a_run_ - (std::chrono::steady_clock::now() - begun_);
    const auto all = std::max(of_this, std::chrono::nanoseconds{}) +
                     a_run_ * static_cast<std::int64_t>(runs_left_);
    line_.show(experiment::live_line(where_, step, left, all));
}

void console::ended(const experiment::results& of, const experiment::planned_run& one) {
    spent_ += std::chrono::steady_clock::now() - begun_;
    ++ended_runs_;
    const experiment::recorded_run& run = of.record.runs.back();
    std::string what = run.reason;
    if (run.end == experiment::run_end::complete && !of.runs.empty()) {
        const experiment::measured_run& measured = of.runs.back();
        const auto& rules = of.record.verdict;
        what =
            measured.loads.size() <= rules.program
                ? std::string("no records")
                : show_value(
                      rules.about,
                      measured.loads[rules.program].values[static_cast<std::size_t>(rules.about)]);
        if (!measured.voids.empty()) what += "; voids the block: " + measured.voids;
    } else if (run.end == experiment::run_end::interrupted) {
        what = "interrupted";
    } else {
        what = "failed, which voids the block: " + what;
    }
    line_.say(fmt::format("block {} of {}, {} of {}: {}: {}", one.block, of.record.blocks,
                          one.position + 1, of.record.variants.size(),
                          of.record.variants[one.variant].name, what));
}

}  // namespace postal::compare
