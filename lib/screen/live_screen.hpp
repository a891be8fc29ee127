// SPDX-License-Identifier: GPL-3.0-or-later
// Draws a run on the terminal that standard error is, with ncurses: `--live`.
//
// It takes the terminal's other screen, where there is one. leave() gives the terminal back as it
// was, for a line of the log or a diagnostic; the next show() takes it again, so that nothing that
// is printed is lost. Not more is sent than what has changed, and nothing while the terminal takes
// nothing. Main thread; one at a time.
#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <string>

#include "base/result.hpp"
#include "screen/picture.hpp"
#include "screen/terminal.hpp"
#include "stats/live_line.hpp"
#include "stats/run_report.hpp"

namespace postal::screen {

class live_screen {
  public:
    static base::expected<std::unique_ptr<live_screen>> open();

    // What was counted in the last second.
    void note(const stats::run_report& so_far, const stats::time_slice& last);
    void note(const std::string& said);
    void stopping() noexcept { stopping_ = true; }
    void show(const stats::run_report& so_far, const stats::live_state& now);
    void leave();

  private:
    explicit live_screen(std::unique_ptr<terminal> drawn_on);

    std::unique_ptr<terminal> terminal_;
    std::deque<moment> last_;
    std::deque<std::string> said_;
    stats::generator_load load_;
    bool in_warmup_ = false;
    bool stopping_ = false;
};

}  // namespace postal::screen
