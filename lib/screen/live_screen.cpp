#include "screen/live_screen.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <clocale>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string_view>
#include <utility>

#include <langinfo.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "screen/terminal_kind.hpp"
#include "stats/ranking.hpp"

#include <curses.h>
// A macro of ncurses for each of these words.
#undef timeout
#undef move

namespace postal::screen {

namespace {

constexpr std::size_t most_moments = 600;  // no screen is wider
constexpr std::size_t most_said = 16;
constexpr int end_patience_ms = 1000;

// A terminal that is stopped (Ctrl-S), or whose other end is slow, takes nothing for now.
bool takes_output(int patience_ms) {
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
    takes_output(end_patience_ms);
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

struct live_screen::terminal {
    SCREEN* screen = nullptr;
    bool coloured = false;
    bool blocks = false;

    ~terminal() {
        if (screen == nullptr) return;
        leave_terminal();
        std::set_terminate(end_program);
        delscreen(screen);
    }
    paper size() {
        winsize now{};
        if (::ioctl(STDERR_FILENO, TIOCGWINSZ, &now) == 0 && now.ws_row > 0 && now.ws_col > 0 &&
            (now.ws_row != LINES || now.ws_col != COLS))
            resizeterm(now.ws_row, now.ws_col);
        return {static_cast<std::size_t>(COLS), static_cast<std::size_t>(LINES), blocks};
    }
    void draw(const std::vector<line>& lines) {
        entered = true;
        werase(stdscr);
        for (std::size_t row = 0; row < lines.size(); ++row) {
            wmove(stdscr, static_cast<int>(row), 0);
            for (const piece& one : lines[row]) {
                wattrset(stdscr, static_cast<int>(attributes_of(one.how, coloured)));
                waddnstr(stdscr, one.text.data(), static_cast<int>(one.text.size()));
            }
        }
        wrefresh(stdscr);
    }
};

base::expected<std::unique_ptr<live_screen>> live_screen::open() {
    if (const auto able = check_terminal(); !able) return able.error();
    std::setlocale(LC_CTYPE, "");
    auto made = std::make_unique<terminal>();
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
    return std::unique_ptr<live_screen>(new live_screen(std::move(made)));
}

live_screen::live_screen(std::unique_ptr<terminal> drawn_on) : terminal_(std::move(drawn_on)) {}

live_screen::~live_screen() = default;

void live_screen::note(const stats::run_report& so_far, const stats::time_slice& last) {
    const stats::histogram& messages = last.counts.latency[so_far.description().message_phase];
    const double length_s = last.end_s - last.start_s;
    in_warmup_ = last.in_warmup;
    if (!(length_s > 0)) return;
    last_.push_back({static_cast<double>(last.counts.messages) / length_s,
                     stats::known_quantile(messages, 0.99)});
    if (last_.size() > most_moments) last_.pop_front();
    load_ = {};
    load_.start_s = last.start_s;
    load_.end_s = last.end_s;
    load_.measure(last, last.counts);
}

void live_screen::note(const std::string& said) {
    said_.push_back(said);
    if (said_.size() > most_said) said_.pop_front();
}

void live_screen::show(const stats::run_report& so_far, const stats::live_state& now) {
    if (!takes_output(0)) return;
    terminal_->draw(
        draw({so_far, now, last_, load_, said_, in_warmup_, stopping_}, terminal_->size()));
}

void live_screen::leave() {
    leave_terminal();
}

}  // namespace postal::screen
