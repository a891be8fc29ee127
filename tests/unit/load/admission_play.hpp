// SPDX-License-Identifier: GPL-3.0-or-later
// Who may begin and when, under a clock that the tests set: some workers that share a stock.
#pragma once

#include <catch2/catch.hpp>

#include <cmath>
#include <deque>

#include "load/admission.hpp"

namespace admission_play {

using namespace postal;
using namespace std::chrono_literals;
using load::admission;
using load::arrival;
using load::pacing;
using load::pass;
using load::rate_curve;
using load::run_tickets;
using load::steady_time;
using load::ticket;

const steady_time start = steady_time(1h);

inline pacing constant(double a_second) {
    return {load::schedule(rate_curve::constant({a_second}), arrival::constant, 1)};
}

inline pacing poisson(double a_second) {
    return {load::schedule(rate_curve::constant({a_second}), arrival::poisson, 1)};
}

inline pacing open_loop(pacing how) {
    how.open_loop = true;
    return how;
}

// The rules of some workers that share a stock.
struct workers {
    workers(std::optional<std::uint64_t> most, const pacing& how, std::size_t count = 1)
        : stock(most) {
        for (std::size_t i = 0; i < count; ++i)
            each.emplace_back(stock, start, how);
    }
    admission& operator[](std::size_t index) { return each[index]; }

    // What one asks at that time after the start.
    ticket ask(std::size_t index, std::chrono::nanoseconds after) {
        return each[index].try_pass(start + after);
    }
    bool goes(std::size_t index, std::chrono::nanoseconds after) {
        return ask(index, after).what == pass::go;
    }
    // Who is let through then.
    admission::place* served(std::size_t index, std::chrono::nanoseconds after) {
        return each[index].let_through(start + after);
    }

    run_tickets stock;
    std::deque<admission> each;
};

// Seconds, to the microsecond.
inline double after_start(steady_time time) {
    return std::round(std::chrono::duration<double>(time - start).count() * 1e6) / 1e6;
}

}  // namespace admission_play
