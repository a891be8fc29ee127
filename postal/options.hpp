// SPDX-License-Identifier: GPL-3.0-or-later
// The command line of postal: one row an option, bound to plain variables.
//
// parse_options() fills an `options` from the command line and the configuration file, and checks
// what can be checked without looking outside (files and addresses are the plan's business). A
// failure is one line that names the option.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/parse.hpp"
#include "mail/account_weights.hpp"
#include "mail/body_kind.hpp"
#include "mail/digest.hpp"
#include "mail/message_factory.hpp"
#include "mail/size_spec.hpp"
#include "postal/envelope_options.hpp"
#include "program/client_options.hpp"

namespace postal::sender {

enum class offer { automatic, off };  // use a server's extension when it offers it, or never

// What PIPELINING is used for where a server offers it.
enum class pipelining {
    automatic,  // one write for the envelope; as overlap with in_flight above 1
    overlap,    // the next envelope leaves together with the end of the message before it
    off
};

struct recipient_range {
    unsigned least = 1;
    unsigned most = 1;
};

struct options : program::client_options {
    std::vector<std::string> to;             // --to, in place of the user list
    std::string from;                        // --from, in place of -f; empty: who that says
    std::string sender_list;                 // -f; empty: the user list, or --to
    std::int64_t messages_a_connection = 1;  // -c; -1 without end, 0 none
    bool lmtp = false;
    std::optional<std::uint16_t> port;  // -p; of servers that name none
    sender::pipelining pipelining = sender::pipelining::automatic;
    offer chunking = offer::off;
    unsigned in_flight = 1;
    recipient_range recipients;
    mail::account_weights weights{};  // of senders, recipients and logins
    std::string helo;                 // empty: this host's name
    dsn_request dsn;
    passed_parameters mail_parameters;
    passed_parameters rcpt_parameters;
    std::string auth_users;  // empty: those who mail is from
    client::timeouts timeouts;

    std::uint64_t largest_octets = 10 * 1024;  // -m
    std::uint64_t smallest_octets = 0;         // -M
    std::optional<mail::size_spec> sizes;      // --size, in place of -m and -M
    mail::body_mix bodies;
    std::string corpus;
    mail::digest_kind digest = mail::digest_kind::xxh3;
    mail::subject_blanks subject = mail::subject_blanks::none;
    std::string subject_text;                // empty: words that are drawn
    std::vector<std::string> header_fields;  // --header
    std::optional<std::uint64_t> messages;
    std::string samples_file;  // --samples; a file; empty: none
};

// done when --help or --version was asked for and printed.
base::expected<cli::parse_result> parse_options(options& into,
                                                const std::vector<std::string>& words);

}  // namespace postal::sender
