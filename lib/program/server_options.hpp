// SPDX-License-Identifier: GPL-3.0-or-later
// The options that bhm and lmtp-deliver have in common, and what becomes of them.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "cli/options.hpp"
#include "cli/parse.hpp"
#include "cli/run_options.hpp"
#include "net/ip_address.hpp"
#include "net/transcript.hpp"
#include "program/tls_options.hpp"
#include "proto/smtp/server.hpp"
#include "sampling/choice.hpp"
#include "serve/acceptor.hpp"
#include "serve/worker_context.hpp"
#include "stats/run_description.hpp"

namespace postal::program {

inline constexpr const char* server_notes =
    "Runs until interrupted, unless --duration ends it.\n"
    "Ends with 0 done, 1 bad parameters, 2 system error, 3 threshold missed.";

struct server_options {
    std::vector<std::string> listen;
    unsigned sessions = 1000;
    // Unless it is given, loopback is left out, and for programs that measure there is none.
    std::optional<unsigned> sessions_per_address{};
    unsigned usual_sessions_per_address = 0;
    std::uint64_t min_data_rate = 500;
    std::chrono::nanoseconds message_time = std::chrono::hours(1);
    std::uint32_t max_errors = 20;
    std::uint32_t max_idle_commands = 100;
    std::uint64_t max_held = std::uint64_t{1} << 30U;
    std::chrono::nanoseconds client_timeout = std::chrono::minutes(5);  // of silence
    std::uint64_t max_message = std::uint64_t{10240} * 1024;
    std::uint32_t max_recipients = 1000;
    proto::bare_newlines newlines = proto::bare_newlines::reject;
    std::string ledger;  // a file; empty: none
    server_tls tls{};
    std::vector<net::address_range> proxies;  // --proxy-trusted
    net::transcript_options transcripts{};    // -z, -Z, -a
    cli::run_options run{};
    sampling::choice samples{};                      // --queue, --sample-command
    std::vector<cli::effective_option> effective{};  // for the record
};

cli::option sessions_option(server_options& target);
// The largest message: more than 0, a bare number in kilobytes as in the original.
cli::option max_size_option(server_options& target, std::string usual);
cli::option max_recipients_option(server_options& target);
cli::option bare_newline_option(server_options& target);
// What clients may do, and how much of everything.
cli::group limits_group(server_options& target);

// What only shows when all options are known.
base::expected<void> check(const server_options& chosen);

// Everything in the rules that these options say. Local users are known by their bare names too.
base::expected<void> prepare(serve::session_rules& into, const server_options& chosen);

// Where --listen and --listen-tls say.
base::expected<void> add_places(std::vector<serve::listening_endpoint>& into,
                                const server_options& chosen, std::uint16_t port,
                                std::uint16_t tls_port,
                                std::optional<net::socket_rights> rights = {});

// What the record says of them, and metrics of what the rules hold.
void describe(const server_options& chosen, const serve::session_rules& rules,
              stats::run_description& into);

}  // namespace postal::program
