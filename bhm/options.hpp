// SPDX-License-Identifier: GPL-3.0-or-later
// The command line of bhm: one row an option, bound to plain variables.
//
// parse_options() checks what can be checked without looking outside; files, addresses and limits
// of the system are the plan's business. A failure is one line that names the option.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "behaviour/rule.hpp"
#include "bhm/delivery_options.hpp"
#include "cli/parse.hpp"
#include "program/server_options.hpp"
#include "proto/smtp/server.hpp"
#include "sasl/mechanism.hpp"

namespace postal::bhm {

struct options : program::server_options {
    std::string user_list;     // empty: every recipient is valid
    std::string bind_address;  // -b; empty: all
    std::uint16_t port = 25;   // -p
    bool port_given = false;
    proto::dialect dialect = proto::dialect::smtp;
    serve::stage_delays delays{};  // --delay
    sasl::mechanism_set auth{};
    bool requires_auth = false;
    bool auth_insecure = false;
    bool verify = true;
    std::string host_names;        // -r
    std::string behaviour_file;    // empty: none
    bool check_behaviour = false;  // only say what behaviour_file does to the envelope
    std::string envelope;          // for --check-behaviour
    std::optional<std::uint64_t> seed{};
    std::optional<behaviour::number_range> speed{};  // octets a second
    delivery_options delivery{};
};

// done when --help or --version was asked for and printed.
base::expected<cli::parse_result> parse_options(options& into,
                                                const std::vector<std::string>& words);

}  // namespace postal::bhm
