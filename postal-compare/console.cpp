#include "postal-compare/console.hpp"

#include "base/text.hpp"
#include "base/units.hpp"
#include "cli/main.hpp"
#include "experiment/findings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

#include <unistd.h>

namespace postal::compare {
namespace {

constexpr std::size_t widest_line = 79;

// "2:05", "1:02:05"
std::string clock_text(std::chrono::nanoseconds time) {
    const auto all = std::chrono::duration_cast<std::chrono::seconds>(time).count();
    const auto seconds = std::max<std::int64_t>(all, 0);
    if (seconds < 3600) return fmt::format("{}:{:02}", seconds / 60, seconds % 60);
    return fmt::format("{}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60);
}

void put(const std::string& text) {
    std::fwrite(text.data(), 1, text.size(), stderr);
    std::fflush(stderr);
}

}  // namespace

std::string live_line(std::string_view where, std::string_view step,
                      std::optional<std::chrono::seconds> step_left,
                      std::chrono::nanoseconds left) {
    std::string line = fmt::format("{}  {}", where, step);
    if (step_left) line += " " + clock_text(*step_left);
    line += "  " + clock_text(left) + " left";
    return base::printable(line, widest_line);
}

console::console(bool asked_for) : live_(asked_for || ::isatty(STDERR_FILENO) == 1) {}

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
    if (!live_) return;
    const std::chrono::nanoseconds of_this = a_run_ - (std::chrono::steady_clock::now() - begun_);
    const auto all = std::max(of_this, std::chrono::nanoseconds{}) +
                     a_run_ * static_cast<std::int64_t>(runs_left_);
    put("\r\x1b[K" + live_line(where_, step, left, all));
    shown_ = true;
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
    say(fmt::format("block {} of {}, {} of {}: {}: {}", one.block, of.record.blocks,
                    one.position + 1, of.record.variants.size(),
                    of.record.variants[one.variant].name, what));
}

void console::say(const std::string& line) {
    finish();
    cli::complain("postal-compare", base::printable(line, 500));
}

void console::finish() {
    if (shown_) put("\r\x1b[K");
    shown_ = false;
}

}  // namespace postal::compare
