// SPDX-License-Identifier: GPL-3.0-or-later
// Rows and setters that several programs of the suite have in common, so that an option means the
// same in each of them, and what their run descriptions have in common.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/options.hpp"
#include "cli/parse.hpp"
#include "cli/run_options.hpp"
#include "mail/account_weights.hpp"
#include "net/allowed_targets.hpp"
#include "net/transcript.hpp"
#include "stats/run_description.hpp"

namespace postal::program {

// Machines of one's own, beyond those that are taken for such: --target-is-mine.
cli::option target_is_mine_option(net::allowed_targets& target);

// How fast a client opens its sessions at the start, a second.
cli::option connect_rate_option(double& target);

// When a run in which nothing moves is over; `end` is the option after which that is so by default.
cli::option give_up_option(std::optional<std::chrono::nanoseconds>& target, std::string_view end);

// How often each account of a list comes: --account-weights.
cli::option account_weights_option(mail::account_weights& target);

// Whether the first error ends the run.
cli::option fail_fast_option(bool& target);

// --explain; its program has an `explain`.
cli::option explain_option();

// -z, -Z and -a.
cli::group transcript_group(net::transcript_options& target);

// Refuses a threshold that names a phase or a counter which the program does not have. The
// phase of messages is in the example of --help.
cli::threshold_rule known_threshold(std::vector<std::string> phases, std::size_t message_phase,
                                    std::vector<stats::counted_by> counts);

// What every run's description says of its options, host and command line.
struct described_run {
    std::string program;
    const cli::run_options& run;
    const std::vector<cli::effective_option>& effective;
    std::vector<std::string> argv;
};
stats::run_description describe(described_run what);

}  // namespace postal::program
