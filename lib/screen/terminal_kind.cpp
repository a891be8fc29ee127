// SPDX-License-Identifier: GPL-3.0-or-later
#include "screen/terminal_kind.hpp"

#include <unistd.h>

// In this order.
#include <curses.h>

#include <term.h>

bool postal::screen::can_be_drawn_on() noexcept {
    int problem = 0;
    return setupterm(nullptr, STDERR_FILENO, &problem) == OK && cursor_address != nullptr;
}
