// The command line of bhm: one row an option, bound to plain variables.
//
// parse_options() checks what can be checked without looking outside; files, addresses and limits
// of the system are the plan's business. A failure is one line that names the option.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "cli/parse.hpp"
#include "cli/run_options.hpp"
#include "net/ip_address.hpp"
#include "net/transcript.hpp"
#include "program/tls_options.hpp"
#include "proto/smtp/server.hpp"
#include "sasl/mechanism.hpp"

namespace postal::bhm {

struct options {
    std::string user_list;     // empty: every recipient is valid
    std::string bind_address;  // -b; empty: all
    std::uint16_t port = 25;   // -p
    bool port_given = false;
    std::vector<std::string> listen;
    unsigned sessions = 1000;                  // -t
    std::uint64_t max_message = 10240 * 1024;  // -m
    std::uint32_t max_recipients = 1000;
    proto::dialect dialect = proto::dialect::smtp;
    proto::bare_newlines newlines = proto::bare_newlines::reject;
    proto::stage_actions actions{};
    std::chrono::nanoseconds timeout = std::chrono::minutes(5);
    sasl::mechanism_set auth{};
    bool requires_auth = false;
    bool auth_insecure = false;
    bool verify = true;
    std::string ledger;      // a file; empty: none
    std::string host_names;  // -r
    program::server_tls tls{};
    std::vector<net::address_range> proxies;  // --proxy-trusted
    net::transcript_options transcripts{};    // -z, -Z, -a
    cli::run_options run{};
    std::vector<cli::effective_option> effective{};  // for the record
};

// done when --help or --version was asked for and printed.
base::expected<cli::parse_result> parse_options(options& into,
                                                const std::vector<std::string>& words);

}  // namespace postal::bhm
