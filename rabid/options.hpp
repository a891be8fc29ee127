// SPDX-License-Identifier: GPL-3.0-or-later
// The command line of rabid: one row an option, bound to plain variables.
//
// parse_options() checks what can be checked without looking outside; files and names of servers
// are the plan's business. A failure is one line that names the option.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/parse.hpp"
#include "mail/account_weights.hpp"
#include "program/client_options.hpp"

namespace postal::rabid {

// How an IMAP session that watches hears of mail.
enum class notified_by : std::uint8_t { idle, noop, notify };

struct options : program::client_options {
    std::string imap_servers;         // --imap; empty: SERVER, at port 143
    std::string store;                // in the ledger; empty: the servers as given
    unsigned imap_percent = 0;        // -i
    std::int64_t most_messages = -1;  // -c; -1: all
    unsigned download_percent = 100;  // -d
    unsigned delete_percent = 100;
    bool strip_domain = false;                              // -u
    std::uint64_t max_message = std::uint64_t{256} << 20U;  // octets
    bool qmail_pop = false;                                 // -b
    bool delete_foreign = false;
    bool shared_accounts = false;
    mail::account_weights weights{};
    bool pipelining = true;
    bool apop = false;
    bool compress = false;
    std::string profile = "original";
    std::string populate;  // words or a file; empty: nothing is filled
    static constexpr std::uint64_t usual_population_seed = 1;
    std::optional<std::uint64_t> connections;
    std::optional<std::uint64_t> rounds;  // visits to each account
    std::chrono::nanoseconds timeout = std::chrono::minutes(1);
    std::chrono::nanoseconds watch{0};  // 0: no watching
    notified_by watch_by = notified_by::idle;
    std::vector<std::string> watch_folders;  // beside INBOX
};

// done when --help or --version was asked for and printed.
base::expected<cli::parse_result> parse_options(options& into,
                                                const std::vector<std::string>& words);

}  // namespace postal::rabid
