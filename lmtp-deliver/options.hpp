// SPDX-License-Identifier: GPL-3.0-or-later
// The command line of lmtp-deliver: one row an option, bound to plain variables.
//
// parse_options() checks what can be checked without looking outside; files, programs, users and
// limits of the system are the plan's business. A failure is one line that names the option.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <sys/types.h>

#include "cli/parse.hpp"
#include "lmtp-deliver/agent_log.hpp"
#include "mail/canonical.hpp"
#include "program/server_options.hpp"

namespace postal::lmtp_deliver {

struct added_headers {
    bool return_path = false;
    bool delivered_to = false;
    bool received = false;
};

// --check: print the argv of one delivery and run nothing.
struct check_request {
    bool wanted = false;
    std::string from;
    std::string to;
};

struct options : program::server_options {
    options() {
        max_message = std::uint64_t{50} << 20U;
        usual_sessions_per_address = 50;
    }

    std::optional<mode_t> socket_mode;
    std::string socket_owner;

    std::string agent;   // a template, or the name of one
    std::string agents;  // the file of named templates
    unsigned max_deliveries = 0;
    std::optional<unsigned> max_per_recipient;
    std::uint32_t max_queued = 10'000;
    std::chrono::nanoseconds timeout = std::chrono::minutes(5);
    std::chrono::nanoseconds queue_timeout{0};  // 0: longest_wait() says
    std::string user;
    bool allow_root_agent = false;
    std::string directory = "/";
    std::vector<std::string> environment;  // NAME=VALUE
    std::string environment_file;
    std::string limits;
    std::string exit_statuses;

    mail::line_ends line_ends = mail::line_ends::lf;
    std::uint64_t memory_limit = std::uint64_t{1} << 20U;
    std::string temporary;
    std::uint64_t least_free = std::uint64_t{100} << 20U;
    added_headers headers;

    std::string detail_delimiter = "+";
    std::string null_sender;
    bool allow_leading_dash = false;
    bool allow_slash = false;

    check_request check;
    log_target log = log_target::standard_error;

    // What was given, or what follows from other options.
    unsigned agents_of_a_recipient() const noexcept {
        return max_per_recipient.value_or((max_deliveries + 1) / 2);
    }
    // With the time for an agent and its end it stays below the 600 s for which Postfix waits.
    std::chrono::nanoseconds longest_wait() const noexcept;
};

// done when --help or --version was asked for and printed.
base::expected<cli::parse_result> parse_options(options& into,
                                                const std::vector<std::string>& words);

}  // namespace postal::lmtp_deliver
