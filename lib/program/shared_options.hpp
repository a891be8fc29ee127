// Rows and setters that several programs of the suite have in common, so that an option means the
// same in each of them, and what their run descriptions have in common.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cli/options.hpp"
#include "cli/parse.hpp"
#include "cli/run_options.hpp"
#include "net/transcript.hpp"
#include "proto/smtp/server.hpp"
#include "stats/run_description.hpp"

namespace postal::program {

// The largest message: more than 0, a bare number in kilobytes as in the original.
cli::setter message_limit(std::uint64_t& target);

cli::option bare_newline_option(proto::bare_newlines& target);
cli::option max_recipients_option(std::uint32_t& target);
cli::option sessions_option(unsigned& target);

// How fast a client opens its sessions at the start, a second.
cli::option connect_rate_option(double& target);

// -z, -Z and -a.
cli::group transcript_group(net::transcript_options& target);

// Refuses a threshold that names a phase which the program does not have.
cli::setter known_threshold(std::vector<std::string> phases);

// What every run's description says of its options, host and command line.
struct described_run {
    std::string program;
    const cli::run_options& run;
    const std::vector<cli::effective_option>& effective;
    std::vector<std::string> argv;
};
stats::run_description describe(described_run what);

}  // namespace postal::program
