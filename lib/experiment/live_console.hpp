// SPDX-License-Identifier: GPL-3.0-or-later
// What the program of an experiment says while it goes on, on standard error: a live line on a
// terminal, and lines that stay.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

namespace postal::experiment {

class live_console {
  public:
    // The live line is shown on terminals, and wherever it is asked for. `program` begins each line
    // that stays; it outlives this.
    live_console(std::string_view program, bool asked_for);
    ~live_console() { finish(); }
    live_console(const live_console&) = delete;
    live_console& operator=(const live_console&) = delete;

    [[nodiscard]] bool is_live() const noexcept { return live_; }
    // In place of the live line that stands there.
    void show(std::string_view line);
    // A line of its own, in the program's name; printable as it is made.
    void say(const std::string& line);
    // Takes the live line away.
    void finish();

  private:
    std::string_view program_;
    bool live_;
    bool shown_ = false;
};

// "block 2/6  barrier=0  load 2:05  1:02:05 left"; at most 79 columns. `left` is of everything.
[[nodiscard]] std::string live_line(std::string_view where, std::string_view step,
                                    std::optional<std::chrono::seconds> step_left,
                                    std::chrono::nanoseconds left);

}  // namespace postal::experiment
