// SPDX-License-Identifier: GPL-3.0-or-later
// The terminal that standard error is, drawn on with ncurses. One at a time, in the main thread;
// whatever ends the program in another thread gives the terminal back first. A build without it
// (POSTAL_SCREEN) opens none.
#pragma once

#include <memory>
#include <vector>

#include "base/result.hpp"
#include "screen/picture.hpp"

namespace postal::screen {

// Whether standard error is a terminal that can be drawn on; one line that says why it is not.
base::expected<void> check_terminal();

class terminal {
  public:
    static base::expected<std::unique_ptr<terminal>> open();
    ~terminal();

    // One that is stopped (Ctrl-S), or whose other end is slow, takes nothing for now.
    bool takes_output() const;
    paper size() const;
    void draw(const std::vector<line>& lines);
    // Until the next draw() it is as it was.
    void leave();

  private:
    struct state;
    explicit terminal(std::unique_ptr<state> opened);

    std::unique_ptr<state> state_;
};

}  // namespace postal::screen
