// SPDX-License-Identifier: GPL-3.0-or-later
// One screen of a run that goes on: what it has done, how fast it is now, the last minutes as
// curves, errors, and what limits it. Lines of text, each piece with its tone; who draws them is
// another file.
//
// The curves are as wide as the screen: a second takes several columns as long as there is room,
// for all of a run whose end is known, or for what there is so far. On screens of 100 columns and
// more they have a scale, and the run says where it sends, and how fast it is to be.
//
// Pure: from what is handed in to text, without a terminal. No line is wider than the screen, and
// there are no more lines than it has. A peer's octets are made printable.
#pragma once

#include <chrono>
#include <cstddef>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "stats/generator.hpp"
#include "stats/live_line.hpp"
#include "stats/run_report.hpp"

namespace postal::screen {

enum class tone { plain, strong, faint, good, bad, curve };

struct piece {
    std::string text;  // as many columns as code points
    tone how = tone::plain;
};
using line = std::vector<piece>;

// Of one second of the run.
struct moment {
    double messages_per_s = 0;
    std::optional<std::chrono::nanoseconds> p50;
    std::optional<std::chrono::nanoseconds> p90;
    std::optional<std::chrono::nanoseconds> p99;
};

struct scene {
    const stats::run_report& so_far;
    const stats::live_state& now;
    const std::deque<moment>& last;       // the newest at the end
    const stats::generator_load& load;    // of the last second
    const std::deque<std::string>& said;  // diagnostics, the newest at the end
    bool in_warmup = false;
    bool stopping = false;
};

struct paper {
    std::size_t columns = 80;
    std::size_t rows = 24;
    bool blocks = true;  // of Unicode; otherwise ASCII
};

std::vector<line> draw(const scene& of, const paper& on);

// Columns as high as their values, the largest as high as the rows allow; from top to bottom, each
// as wide as there are values. An empty value leaves its column empty.
std::vector<std::string> curve(const std::vector<std::optional<double>>& values, std::size_t rows,
                               bool blocks);

}  // namespace postal::screen
