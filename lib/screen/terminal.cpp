// SPDX-License-Identifier: GPL-3.0-or-later
#include "screen/terminal.hpp"

#include <atomic>
#include <clocale>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string_view>

#include <langinfo.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "screen/terminal_kind.hpp"

#include <curses.h>
// A macro of ncurses for each of these words.
#undef timeout
#undef move

namespace postal::screen {

namespace {

constexpr int end_patience_ms = 1000;

bool is_ready(int patience_ms) {
    pollfd terminal{STDERR_FILENO, POLLOUT, 0};
    return ::poll(&terminal, 1, patience_ms) == 1 && (terminal.revents & POLLOUT) != 0;
}

bool wants_colours() {
    const char* const without = std::getenv("NO_COLOR");  // no-color.org
    return without == nullptr || *without == '\0';
}

// Whether the terminal is drawn on at present; one at a time.
std::atomic<bool> entered{false};

void leave_terminal() {
    if (!entered.exchange(false)) return;
    is_ready(end_patience_ms);
    endwin();
}

// What ends the process at once, in whatever thread, says why on the terminal as it was. The first
// thread that comes here does it.
std::terminate_handler end_program = nullptr;
void leave_and_end() {
    static std::atomic_flag begun;
    while (begun.test_and_set())
        ::pause();
    leave_terminal();
    end_program();
}

attr_t attributes_of(tone how, bool coloured) {
    const auto colour = [&](short pair) -> attr_t {
        return coloured ? static_cast<attr_t>(COLOR_PAIR(pair)) : A_NORMAL;
    };
    switch (how) {
        case tone::strong:
            return A_BOLD;
        case tone::faint:
            return A_DIM;
        case tone::good:
            return colour(1);
        case tone::bad:
            return colour(2) | A_BOLD;
        case tone::curve:
            return colour(3);
        case tone::plain:
            break;
    }
    return A_NORMAL;
}

}  // namespace

base::expected<void> check_terminal() {
    if (isatty(STDERR_FILENO) != 1)
        return base::fail("standard error is no terminal; --progress shows a line without one");
    if (!can_be_drawn_on()) {
        const char* const name = std::getenv("TERM");
        return base::fail("nothing can be drawn on a terminal of the kind '{}' (TERM)",
                          name == nullptr ? "" : name);
    }
    return {};
}

struct terminal::state {
    SCREEN* screen = nullptr;
    bool coloured = false;
    bool blocks = false;
};

base::expected<std::unique_ptr<terminal>> terminal::open() {
    if (const auto able = check_terminal(); !able) return able.error();
    std::setlocale(LC_CTYPE, "");
    auto made = std::make_unique<state>();
    made->screen = newterm(nullptr, stderr, stdin);
    if (made->screen == nullptr) return base::fail("the terminal cannot be drawn on");
    made->blocks = std::string_view(nl_langinfo(CODESET)) == "UTF-8";
    entered = true;
    end_program = std::set_terminate(leave_and_end);
    curs_set(0);
    if (wants_colours() && has_colors() && start_color() == OK) {
        use_default_colors();
        init_pair(1, COLOR_GREEN, -1);
        init_pair(2, COLOR_RED, -1);
        init_pair(3, COLOR_CYAN, -1);
        made->coloured = true;
    }
    return std::unique_ptr<terminal>(new terminal(std::move(made)));
}

terminal::terminal(std::unique_ptr<state> opened) : state_(std::move(opened)) {}

terminal::~terminal() {
    leave_terminal();
    std::set_terminate(end_program);
    delscreen(state_->screen);
}

bool terminal::takes_output() const {
    return is_ready(0);
}

paper terminal::size() const {
    winsize now{};
    if (::ioctl(STDERR_FILENO, TIOCGWINSZ, &now) == 0 && now.ws_row > 0 && now.ws_col > 0 &&
        (now.ws_row != LINES || now.ws_col != COLS))
        resizeterm(now.ws_row, now.ws_col);
    return {static_cast<std::size_t>(COLS), static_cast<std::size_t>(LINES), state_->blocks};
}

void terminal::draw(const std::vector<line>& lines) {
    entered = true;
    werase(stdscr);
    for (std::size_t row = 0; row < lines.size(); ++row) {
        wmove(stdscr, static_cast<int>(row), 0);
        for (const piece& one : lines[row]) {
            wattrset(stdscr, static_cast<int>(attributes_of(one.how, state_->coloured)));
            waddnstr(stdscr, one.text.data(), static_cast<int>(one.text.size()));
        }
    }
    wrefresh(stdscr);
}

void terminal::leave() {
    leave_terminal();
}

}  // namespace postal::screen
