// SPDX-License-Identifier: GPL-3.0-or-later
// What a generator could do by itself on this host, measured before a search: the program runs once
// more, as a child, in a closed loop without a pause against a server of the suite that throws away
// what it takes, a child as well, both on the processors that this process may use.
//
// The busiest worker's processor time is what is measured: a server that shares the processor with
// it slows both down, and what a message costs the worker stays.
#pragma once

#include "base/result.hpp"
#include "program/waiting.hpp"
#include "stats/capacity/record.hpp"

#include <chrono>
#include <string>
#include <vector>

namespace postal::program {

// The two command lines.
struct alone_plan {
    std::string server = "bhm";  // beside this program, or in PATH
    std::vector<std::string> server_options{};
    bool tls_at_once = false;  // it listens for clients that begin with TLS
    // What this program sends, and how: no target, end, pace or report.
    std::vector<std::string> options{};
    std::vector<std::string> behind_target{};  // its other words
    std::string left_out{};                    // what of a run it does not do: "AUTH, --ledger"
};

// That much besides the time that is measured: until sessions are open, and to start and end.
constexpr std::chrono::milliseconds beside_measuring{1500};

// Blocks for `time`, and usually for about a second more; until `end` at most. Fails, with one
// line, where it cannot be told: the server is not there, too little came through, or who waits was
// interrupted.
[[nodiscard]] base::expected<capacity::own_limit> measure_alone(
    const alone_plan& of, std::chrono::nanoseconds time, std::chrono::steady_clock::time_point end,
    waiting_in_order& wait);

}  // namespace postal::program
