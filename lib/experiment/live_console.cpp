// SPDX-License-Identifier: GPL-3.0-or-later
#include "experiment/live_console.hpp"

#include "base/text.hpp"
#include "base/units.hpp"
#include "cli/main.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>

#include <unistd.h>

namespace postal::experiment {
namespace {

constexpr std::size_t widest_line = 79;
constexpr std::size_t longest_saying = 500;

void put(const std::string& text) {
    std::fwrite(text.data(), 1, text.size(), stderr);
    std::fflush(stderr);
}

}  // namespace

std::string live_line(std::string_view where, std::string_view step,
                      std::optional<std::chrono::seconds> step_left,
                      std::chrono::nanoseconds left) {
    std::string line = fmt::format("{}  {}", where, step);
    if (step_left) line += " " + base::format_clock(*step_left);
    line += "  " + base::format_clock(left) + " left";
    return base::printable(line, widest_line);
}

live_console::live_console(std::string_view program, bool asked_for)
    : program_(program), live_(asked_for || ::isatty(STDERR_FILENO) == 1) {}

void live_console::show(std::string_view line) {
    if (!live_) return;
    put(fmt::format("\r\x1b[K{}", line));
    shown_ = true;
}

void live_console::say(const std::string& line) {
    finish();
    cli::complain(program_, base::printable(line, longest_saying));
}

void live_console::finish() {
    if (shown_) put("\r\x1b[K");
    shown_ = false;
}

}  // namespace postal::experiment
