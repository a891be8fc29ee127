// SPDX-License-Identifier: GPL-3.0-or-later
#include "screen/live_screen.hpp"

#include <utility>

#include "stats/ranking.hpp"

namespace postal::screen {

namespace {

constexpr std::size_t most_moments = 600;  // no screen is wider
constexpr std::size_t most_said_kept = 16;

}  // namespace

base::expected<std::unique_ptr<live_screen>> live_screen::open() {
    auto opened = terminal::open();
    if (!opened) return opened.error();
    return std::unique_ptr<live_screen>(new live_screen(std::move(*opened)));
}

live_screen::live_screen(std::unique_ptr<terminal> drawn_on) : terminal_(std::move(drawn_on)) {}

void live_screen::note(const stats::run_report& so_far, const stats::time_slice& last) {
    const stats::histogram& messages = last.counts.latency[so_far.description().message_phase];
    const double length_s = last.end_s - last.start_s;
    in_warmup_ = last.in_warmup;
    if (!(length_s > 0)) return;
    last_.push_back({static_cast<double>(last.counts.messages) / length_s,
                     stats::known_quantile(messages, 0.5), stats::known_quantile(messages, 0.9),
                     stats::known_quantile(messages, 0.99)});
    if (last_.size() > most_moments) last_.pop_front();
    load_ = {};
    load_.start_s = last.start_s;
    load_.end_s = last.end_s;
    load_.measure(last, last.counts);
}

void live_screen::note(const std::string& said) {
    said_.push_back(said);
    if (said_.size() > most_said_kept) said_.pop_front();
}

void live_screen::show(const stats::run_report& so_far, const stats::live_state& now) {
    if (!terminal_->takes_output()) return;
    terminal_->draw(
        draw({so_far, now, last_, load_, said_, in_warmup_, stopping_}, terminal_->size()));
}

void live_screen::leave() {
    terminal_->leave();
}

}  // namespace postal::screen
