// SPDX-License-Identifier: GPL-3.0-or-later
// What --live draws: fits its screen, whatever there is to say, and shows the run.
#include "screen/picture.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <string>

#include "../hostile_text.hpp"

using namespace postal;
using namespace std::chrono_literals;
using screen::line;

namespace {

std::size_t width_of(const line& of) {
    std::size_t columns = 0;
    for (const auto& one : of)
        columns += static_cast<std::size_t>(std::count_if(
            one.text.begin(), one.text.end(), [](char c) { return (c & 0xc0) != 0x80; }));
    return columns;
}

std::string text_of(const std::vector<line>& lines) {
    std::string text;
    for (const line& each : lines) {
        for (const auto& one : each)
            text += one.text;
        text += '\n';
    }
    return text;
}

stats::run_report report_of(std::uint64_t errors) {
    stats::run_description run;
    run.program = "postal";
    run.phases = {"message"};
    run.session_states = {"pausing", "rcpt", "end"};
    stats::run_report report(run);
    stats::time_slice one(1);
    one.end_s = 1;
    one.counts.started = one.counts.messages = 1234;
    for (std::uint64_t i = 0; i < errors; ++i)
        one.counts.errors.add("rcpt", 550, fmt::format("5.1.{}", i), test::hostile_text);
    report.add_time_slice(one);
    return report;
}

struct shown {
    explicit shown(std::uint64_t errors, std::size_t seconds, std::size_t words)
        : report(report_of(errors)) {
        state.elapsed = 42s;
        state.messages = 1234;
        state.open_connections = 12;
        state.sessions = {0, 2, 1011};
        state.remaining = 18s;
        for (std::size_t i = 0; i < seconds; ++i)
            last.push_back({static_cast<double>(i), std::chrono::milliseconds(i / 4),
                            std::chrono::milliseconds(i / 2), std::chrono::milliseconds(i)});
        for (std::size_t i = 0; i < words; ++i)
            said.push_back("first error of its kind: " + std::string(300, 'x') +
                           test::hostile_text);
    }
    std::vector<line> on(std::size_t columns, std::size_t rows, bool blocks = true) const {
        return screen::draw({report, state, last, load, said}, {columns, rows, blocks});
    }

    stats::run_report report;
    stats::live_state state;
    std::deque<screen::moment> last;
    stats::generator_load load;
    std::deque<std::string> said;
};

}  // namespace

TEST_CASE("picture: says what there is") {
    const shown of(2, 30, 1);
    const std::string text = text_of(of.on(80, 24));
    for (const char* wanted :
         {"postal  42s, 18s left", "1,234 messages  12 connections open",
          "sessions  1,011 end  2 rcpt", "messages/s 29", "at most 29.0 in the last 30 s",
          "p99 29.0 ms  p90 14.0 ms  p50 7.00 ms", "1,234 accepted", "0 rejected",
          "2 errors of 2 kinds", "1 x rcpt 550 5.1.0: ", "busiest worker 0 %"}) {
        INFO(text);
        CHECK(text.find(wanted) != std::string::npos);
    }
    CHECK(text.find("█") != std::string::npos);
    CHECK(text_of(of.on(80, 24, false)).find("█") == std::string::npos);
}

TEST_CASE("picture: fits every screen, and has no octet of a peer that a terminal obeys") {
    for (const std::size_t errors : {0U, 1U, 40U})
        for (const std::size_t words : {0U, 1U, 9U})
            for (const std::size_t seconds : {0U, 1U, 500U})
                for (const std::size_t columns : {0U, 1U, 20U, 40U, 80U, 200U})
                    for (const std::size_t rows : {0U, 1U, 5U, 12U, 24U, 60U}) {
                        const auto lines = shown(errors, seconds, words).on(columns, rows);
                        CHECK(lines.size() <= rows);
                        for (const line& each : lines)
                            CHECK(width_of(each) <= columns);
                        const std::string text = text_of(lines);
                        CHECK(test::harm_in(text) == "");
                    }
}

TEST_CASE("picture: curves are as wide as the screen, for all of a run or for what there is") {
    const auto widest = [](const std::vector<line>& lines) {
        std::size_t columns = 0;
        for (const line& one : lines)
            if (text_of({one}).find("█") != std::string::npos)
                columns = std::max(columns, width_of(one));
        return columns;
    };
    shown of(0, 15, 0);
    of.state.elapsed = 15s;
    of.state.remaining = 15s;
    CHECK(widest(of.on(80, 24)) == 30);  // two columns a second, and room for as many again
    of.state.remaining = std::nullopt;
    CHECK(widest(of.on(80, 24)) == 75);
    of.state.remaining = 10min;
    CHECK(widest(of.on(80, 24)) == 75);
    CHECK(widest(of.on(120, 40)) == 10 + 7 * 15);
    CHECK(widest(shown(0, 500, 0).on(200, 60)) == 200);
}

TEST_CASE("picture: a wide screen says what the run is to do, and has a scale") {
    shown of(0, 30, 0);
    stats::run_description run = of.report.description();
    run.options["server"] = "127.0.0.1:2525";
    run.options["protocol"] = "smtp";
    run.options["rate"] = "50/s";
    run.labels.title = "The new disk";
    of.report = stats::run_report(run);
    const std::string text = text_of(of.on(120, 40));
    INFO(text);
    CHECK(text.find("smtp to 127.0.0.1:2525, at 50/s (closed loop)\n") != text.npos);
    CHECK(text.find("postal  42s, 18s left  The new disk\n") != text.npos);
    CHECK(text.find("pausing: nothing to do yet\n") != text.npos);
    CHECK(text.find("\n     29.0 ") != text.npos);
    CHECK(text.find("\n  29.0 ms ") != text.npos);
    CHECK(text.find("\n        0 ") != text.npos);
    CHECK(text_of(of.on(80, 24)).find("127.0.0.1") == std::string::npos);
}

TEST_CASE("picture: no text of a run is an order to the terminal") {
    stats::run_description run;
    run.program = test::hostile_text;
    run.session_states = {test::hostile_text};
    shown of(0, 30, 1);
    of.report = stats::run_report(run);
    of.state.sessions = {7};
    const std::string text = text_of(of.on(2000, 60));
    CHECK(test::harm_in(text) == "");
    CHECK(text.find("\\x1b[2J") != std::string::npos);
}

TEST_CASE("picture: a curve's columns are as high as their values") {
    using values = std::vector<std::optional<double>>;
    CHECK(screen::curve(values{0.0, 4.0, 8.0, std::nullopt, 16.0}, 2, true) ==
          std::vector<std::string>{"    █", " ▄█ █"});
    CHECK(screen::curve(values{0.0, 0.0}, 2, true) == std::vector<std::string>{"  ", "  "});
    CHECK(screen::curve(values{1.0, 1e9}, 1, true) == std::vector<std::string>{"▁█"});
    CHECK(screen::curve(values{1.0, 2.0}, 1, false) == std::vector<std::string>{":#"});
    CHECK(screen::curve({}, 3, true) == std::vector<std::string>{"", "", ""});
}

TEST_CASE("picture: a search says which trial goes on, and why") {
    shown some(0, 20, 0);
    CHECK(text_of(some.on(80, 24)).find("trial") == std::string::npos);
    some.state.trial = stats::live_trial{12, 412.3, "412/s for 20 s: between 400 and 424"};
    CHECK(text_of(some.on(80, 24)).find("trial 12  412/s for 20 s: between 400 and 424\n") !=
          std::string::npos);
    CHECK(some.on(80, 24).size() <= 24);
}

TEST_CASE("picture: what was sampled last has a line, where there is room") {
    shown some(0, 20, 0);
    CHECK(text_of(some.on(80, 24)).find("samples") == std::string::npos);
    some.report.latest_samples = {{"postfix", "messages", 2342, true},
                                  {"postfix active", "messages", 120, false},
                                  {"postfix hold", "messages", 0, false},
                                  {"errors", "", 0, false}};
    const std::string text = text_of(some.on(80, 24));
    CHECK(text.find("samples  postfix 2,342  postfix active 120  errors 0\n") != std::string::npos);
    CHECK(some.on(80, 24).size() <= 24);
    CHECK(text_of(some.on(80, 8)).find("samples") == std::string::npos);
    some.report.latest_samples.front().name = test::hostile_text;
    for (const line& each : some.on(80, 24))
        CHECK(width_of(each) <= 80);
}
