// SPDX-License-Identifier: GPL-3.0-or-later
#include "screen/picture.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>
#include <utility>
#include <variant>

#include "base/digits.hpp"
#include "base/text.hpp"
#include "base/units.hpp"

namespace postal::screen {

namespace {

constexpr std::size_t least_columns = 20;
constexpr std::size_t wide = 100;             // columns: there is room for a scale
constexpr std::size_t tall = 30;              // rows: and for what names mean
constexpr std::size_t room_for_samples = 12;  // rows
constexpr std::size_t scale_columns = 10;
constexpr std::size_t most_errors = 3;
constexpr std::size_t most_lines_said = 4;
// Lines that are no curve, with as many errors and diagnostics as there may be.
constexpr std::size_t other_lines = 9;

// Whole code points.
std::string cut(std::string_view text, std::size_t columns) {
    std::size_t seen = 0;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if ((text[i] & 0xc0) == 0x80) continue;
        if (seen++ == columns) return std::string(text.substr(0, i));
    }
    return std::string(text);
}

line fitted(line pieces, std::size_t columns) {
    line made;
    for (piece& one : pieces) {
        // Also of what seems to be ours: a server's words come in many ways.
        one.text = cut(base::printable(one.text, 4 * one.text.size()), columns);
        columns -= base::columns_of(one.text);
        if (!one.text.empty()) made.push_back(std::move(one));
    }
    return made;
}

std::string whole_seconds(std::chrono::nanoseconds time) {
    return base::format_duration(std::chrono::floor<std::chrono::seconds>(time));
}

line headline(const scene& of) {
    const stats::run_description& run = of.so_far.description();
    line made{{run.program + "  ", tone::strong}, {whole_seconds(of.now.elapsed), tone::plain}};
    if (of.now.remaining) made.push_back({", " + whole_seconds(*of.now.remaining) + " left"});
    if (!run.labels.title.empty()) made.push_back({"  " + run.labels.title, tone::strong});
    if (of.in_warmup) made.push_back({"  warming up", tone::faint});
    if (of.stopping) made.push_back({"  stopping", tone::strong});
    return made;
}

std::string option_of(const stats::run_description& run, const std::string& name) {
    const auto found = run.options.find(name);
    if (found == run.options.end()) return {};
    const auto* text = std::get_if<std::string>(&found->second);
    return text == nullptr ? std::string() : *text;
}

// "lmtp to unix:lmtp, 8 sessions, open loop, at 50/s": what the run is asked to do, as its options
// say; nothing of a server.
std::optional<line> task_line(const scene& of) {
    const stats::run_description& run = of.so_far.description();
    const std::string server = option_of(run, "server");
    if (run.serves || server.empty()) return std::nullopt;
    const std::string rate = option_of(run, "rate");
    const std::string stages = option_of(run, "stages");
    line made{{option_of(run, "protocol") + " to ", tone::faint}, {server}};
    const bool searches = run.options.contains("find-rate");
    const bool joins = run.options.contains("join-search");
    if (joins)
        made.push_back({", beside a search"});
    else if (!rate.empty())
        made.push_back({(searches       ? ", a search from "
                         : run.capped() ? ", at most "
                                        : ", at ") +
                        rate});
    if (!stages.empty()) made.push_back({", in stages " + stages});
    if (rate.empty() && stages.empty() && !joins) made.push_back({", as fast as it answers"});
    made.push_back({run.open_loop() ? " (open loop)" : " (closed loop)", tone::faint});
    return made;
}

// What the words of the line of sessions mean.
line legend_line(const scene& of) {
    const bool serves = of.so_far.description().serves;
    return {{serves ? "sessions by what they are at; idle: between transactions"
                    : "sessions by the stage whose reply they wait for; pausing: nothing to do yet",
             tone::faint}};
}

line state_line(const scene& of) {
    const stats::live_state& now = of.now;
    line made{{base::format_amount(now.messages, "message"), tone::strong},
              {fmt::format("  {} open", base::format_amount(now.open_connections, "connection"))}};
    return made;
}

// By what they are at, the most first.
std::optional<line> sessions_line(const scene& of) {
    const auto& names = of.so_far.description().session_states;
    const auto& counts = of.now.sessions;
    std::vector<std::size_t> states;
    for (std::size_t i = 0; i < std::min(names.size(), counts.size()); ++i)
        if (counts[i] > 0) states.push_back(i);
    if (states.empty()) return std::nullopt;
    std::stable_sort(states.begin(), states.end(),
                     [&](std::size_t a, std::size_t b) { return counts[a] > counts[b]; });
    line made{{"sessions", tone::faint}};
    for (const std::size_t one : states)
        made.push_back({fmt::format("  {} {}", base::format_count(counts[one]), names[one])});
    return made;
}

// Which trial of a search goes on, and why.
std::optional<line> trial_line(const scene& of) {
    if (!of.now.trial) return std::nullopt;
    return line{{fmt::format("trial {}  ", of.now.trial->number), tone::faint},
                {of.now.trial->why}};
}

// What was sampled last; of a queue's parts those that have something.
std::optional<line> samples_line(const scene& of) {
    line made{{"samples", tone::faint}};
    bool of_queue = false;
    for (const stats::sampled_value& one : of.so_far.latest_samples) {
        of_queue = one.waiting || (of_queue && !one.unit.empty());
        if (of_queue && !one.waiting && one.value == 0) continue;
        made.push_back({fmt::format("  {} ", one.name), tone::faint});
        made.push_back({stats::sample_text(one.value), one.waiting ? tone::strong : tone::plain});
    }
    if (of.so_far.latest_samples.empty()) return std::nullopt;
    return made;
}

line outcome_line(const scene& of) {
    const stats::counts all = of.so_far.totals_with_warmup().counted();
    line made;
    for (const stats::counter& one : of.so_far.description().counters) {
        if (one.kind != stats::counter_kind::outcome || !of.so_far.description().has(one)) continue;
        const std::uint64_t count = all.*one.value;
        made.push_back({fmt::format("{}{} {}", made.empty() ? "" : "  ", base::format_count(count),
                                    of.so_far.description().title_of(one, count)),
                        count == 0    ? tone::faint
                        : one.failure ? tone::bad
                                      : tone::good});
    }
    return made;
}

std::vector<line> error_lines(const scene& of) {
    const stats::error_table& errors = of.so_far.totals_with_warmup().errors;
    if (errors.empty()) return {{{"no error", tone::faint}}};
    std::vector<line> made;
    const auto kinds = errors.by_count();
    made.push_back({{fmt::format("{} of {}", base::format_amount(errors.total(), "error"),
                                 base::format_amount(kinds.size(), "kind")),
                     tone::bad}});
    for (std::size_t i = 0; i < std::min(kinds.size(), most_errors); ++i) {
        const stats::error_entry& one = kinds[i];
        const std::string code = one.code > 0 ? fmt::format(" {}", one.code) : "";
        made.push_back({{fmt::format("  {} x {}{}{}{}: ", base::format_count(one.count), one.stage,
                                     code, one.detail.empty() ? "" : " ", one.detail)},
                        {one.sample, tone::faint}});
    }
    return made;
}

// Of the last second: what the summary says in the end is judged by the worst of all.
line limit_line(const scene& of) {
    const stats::generator_load& load = of.load;
    std::string text = fmt::format("busiest worker {:.0f} %", load.worker_busy.value_or(0) * 100);
    if (load.run_delay)
        text += fmt::format(", {:.0f} % without a processor", *load.run_delay * 100);
    if (load.machine_idle) text += fmt::format("; {:.0f} % idle", *load.machine_idle * 100);
    switch (stats::judge(load)) {
        case stats::generator_verdict::limit:
            return {{of.so_far.description().program + " is the limit: ", tone::bad}, {text}};
        case stats::generator_verdict::machine_full:
            return {{"the machine is full: ", tone::bad}, {text}};
        case stats::generator_verdict::held_back:
            return {{"held back by a CPU quota, or stopped: ", tone::bad}, {text}};
        case stats::generator_verdict::none:
            break;
    }
    return {{text, tone::faint}};
}

using value_of = std::optional<double> (*)(const moment&);

struct shown_curve {
    line head;
    value_of value = nullptr;
    std::string (*text)(double) = nullptr;
};

std::size_t scale_of(const paper& on) {
    return on.columns >= wide ? scale_columns : 0;
}

// How many columns a second takes: all of the run is to have room, or, where its end is not known
// or too far, what there is and as much again at most.
std::size_t columns_a_second(const scene& of, std::size_t columns) {
    constexpr std::size_t least_seconds = 15;
    std::size_t seconds = least_seconds;
    while (seconds < of.last.size())
        seconds *= 2;
    if (of.now.remaining) {
        const double all = base::seconds_of(of.now.elapsed + *of.now.remaining);
        if (all <= static_cast<double>(columns))
            seconds = std::max<std::size_t>(static_cast<std::size_t>(std::ceil(all)), 1);
    }
    return std::max<std::size_t>(columns / std::max(seconds, of.last.size()), 1);
}

// The title with the largest value, and the curve below it.
void add_curve(std::vector<line>& to, const scene& of, const paper& on, std::size_t rows,
               shown_curve what) {
    const std::size_t columns = on.columns - scale_of(on);
    const std::size_t each = columns_a_second(of, columns);
    const std::size_t seconds = std::min(of.last.size(), columns / each);
    std::vector<std::optional<double>> values;
    std::optional<double> most;
    for (auto one = of.last.end() - static_cast<std::ptrdiff_t>(seconds); one != of.last.end();
         ++one) {
        const auto value = what.value(*one);
        values.insert(values.end(), each, value);
        if (value) most = std::max(most.value_or(0), *value);
    }
    if (most)
        what.head.push_back(
            {fmt::format("  at most {} in the last {} s", what.text(*most), seconds), tone::faint});
    to.push_back(std::move(what.head));
    const auto drawn = curve(values, rows, on.blocks);
    for (std::size_t row = 0; row < drawn.size(); ++row) {
        line made{{drawn[row], tone::curve}};
        if (scale_of(on) > 0) {
            const bool top = row == 0 && most;
            const bool bottom = row + 1 == drawn.size() && drawn.size() > 1;
            const std::string label = top ? what.text(*most) : bottom ? "0" : "";
            made.insert(made.begin(),
                        {fmt::format("{:>{}} ", label, scale_columns - 1), tone::faint});
        }
        to.push_back(std::move(made));
    }
}

std::optional<double> in_seconds(const std::optional<std::chrono::nanoseconds>& time) {
    if (!time) return std::nullopt;
    return base::seconds_of(*time);
}

std::string latency_text(double seconds) {
    return base::format_latency(std::chrono::nanoseconds(std::llround(seconds * 1e9)));
}

std::string rate_text(double messages_per_s) {
    return base::format_measured(messages_per_s);
}

shown_curve rate_curve(const scene& of) {
    const std::string last = of.last.empty() ? "-" : rate_text(of.last.back().messages_per_s);
    return {{{"messages/s ", tone::faint}, {last, tone::strong}},
            [](const moment& one) -> std::optional<double> { return one.messages_per_s; },
            rate_text};
}

// p99 is what is drawn; the others of the last second stand in the title.
shown_curve latency_curve(const scene& of) {
    const moment none;
    const moment& last = of.last.empty() ? none : of.last.back();
    const auto text = [](const std::optional<std::chrono::nanoseconds>& time) {
        return time ? base::format_latency(*time) : std::string("-");
    };
    return {{{"p99 ", tone::faint},
             {text(last.p99), tone::strong},
             {fmt::format("  p90 {}  p50 {}", text(last.p90), text(last.p50))}},
            [](const moment& one) { return in_seconds(one.p99); },
            latency_text};
}

}  // namespace

std::vector<std::string> curve(const std::vector<std::optional<double>>& values, std::size_t rows,
                               bool blocks) {
    constexpr std::array<std::string_view, 9> eighths{" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
    constexpr std::array<std::string_view, 9> signs{" ", ".", ".", ".", ":", ":", ":", "#", "#"};
    double most = 0;
    for (const auto& one : values)
        most = std::max(most, one.value_or(0));
    std::vector<std::string> made(rows);
    for (const auto& one : values) {
        // What is there at all can be seen.
        const double share = most > 0 ? one.value_or(0) / most : 0;
        const auto whole = static_cast<double>(rows * eighths.size() - rows);
        auto height = static_cast<std::size_t>(std::lround(share * whole));
        if (one && *one > 0) height = std::max<std::size_t>(height, 1);
        for (std::size_t row = rows; row-- > 0;) {
            const std::size_t here = std::min<std::size_t>(height, 8);
            made[row] += blocks ? eighths[here] : signs[here];
            height -= here;
        }
    }
    return made;
}

std::vector<line> draw(const scene& of, const paper& on) {
    if (on.columns < least_columns || on.rows == 0) return {};
    std::vector<line> made{headline(of), state_line(of)};
    std::size_t more = 0;
    if (auto task = on.columns >= wide ? task_line(of) : std::nullopt) {
        made.insert(made.begin() + 1, std::move(*task));
        ++more;
    }
    if (auto trial = trial_line(of)) {
        made.push_back(std::move(*trial));
        ++more;
    }
    if (auto sessions = sessions_line(of)) {
        made.push_back(std::move(*sessions));
        if (on.columns >= wide && on.rows >= tall) {
            made.push_back(legend_line(of));
            ++more;
        }
    }
    if (auto samples = on.rows >= room_for_samples ? samples_line(of) : std::nullopt) {
        made.push_back(std::move(*samples));
        ++more;
    }
    const auto errors = error_lines(of);
    const std::size_t said = std::min(of.said.size(), most_lines_said);
    const std::size_t taken = other_lines + more + errors.size() + said;
    const std::size_t each = on.rows > taken ? (on.rows - taken) / 2 : 0;
    if (each > 0) {
        made.emplace_back();
        add_curve(made, of, on, each, rate_curve(of));
        add_curve(made, of, on, each, latency_curve(of));
        made.emplace_back();
    }
    made.push_back(outcome_line(of));
    made.insert(made.end(), errors.begin(), errors.end());
    made.push_back(limit_line(of));
    for (std::size_t i = of.said.size() - said; i < of.said.size(); ++i)
        made.push_back({{of.said[i], tone::faint}});
    if (made.size() > on.rows) made.resize(on.rows);
    for (line& one : made)
        one = fitted(std::move(one), on.columns);
    return made;
}

}  // namespace postal::screen
