// The command line of postal: one row an option, bound to plain variables.
//
// parse_options() fills an `options` from the command line and the configuration file, and checks
// what can be checked without looking outside (files and addresses are the plan's business). A
// failure is one line that names the option.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/units.hpp"
#include "cli/parse.hpp"
#include "cli/run_options.hpp"
#include "client/auth.hpp"
#include "load/pace.hpp"
#include "mail/body_kind.hpp"
#include "mail/digest.hpp"
#include "mail/message_factory.hpp"
#include "mail/size_spec.hpp"
#include "net/transcript.hpp"
#include "postal/envelope_options.hpp"
#include "program/origin_options.hpp"
#include "program/tls_options.hpp"

namespace postal {

enum class offer { automatic, off };  // use a server's extension when it offers it, or never

struct recipient_range {
    unsigned least = 1;
    unsigned most = 1;
};

// How long each phase may take; RFC 5321 4.5.3.2 names the same phases.
struct phase_timeouts {
    std::chrono::nanoseconds connect = std::chrono::seconds(60);
    std::chrono::nanoseconds tls = std::chrono::seconds(60);  // the handshake
    std::chrono::nanoseconds greeting = std::chrono::seconds(60);
    std::chrono::nanoseconds command = std::chrono::seconds(60);
    std::chrono::nanoseconds data = std::chrono::seconds(60);         // to take the message
    std::chrono::nanoseconds final_reply = std::chrono::seconds(60);  // after it
};

struct options {
    std::string servers;
    std::string user_list;
    std::string sender_list;      // -f; empty: the user list
    std::string local_addresses;  // -l; empty: the kernel chooses

    unsigned sessions = 1;                   // -t, for each server
    std::int64_t messages_a_connection = 1;  // -c; -1 without end, 0 none
    bool lmtp = false;
    offer pipelining = offer::automatic;
    offer chunking = offer::off;
    unsigned in_flight = 1;
    recipient_range recipients;
    std::string helo;  // empty: this host's name
    dsn_request dsn;
    passed_parameters mail_parameters;
    passed_parameters rcpt_parameters;
    client::auth_options auth;
    std::string auth_users;  // empty: those who mail is from
    phase_timeouts timeouts;
    double connect_rate = 2000;  // sessions opened a second at the start

    std::uint64_t largest_octets = 10 * 1024;  // -m
    std::uint64_t smallest_octets = 0;         // -M
    std::optional<mail::size_spec> sizes;      // --size, in place of -m and -M
    mail::body_mix bodies;
    std::string corpus;
    mail::digest_kind digest = mail::digest_kind::xxh3;
    mail::subject_blanks subject = mail::subject_blanks::none;
    std::optional<std::uint64_t> seed;

    std::optional<base::rate> rate;
    bool open_loop = false;
    load::arrival arrival = load::arrival::constant;
    std::vector<load::stage> stages;
    std::optional<std::uint64_t> messages;

    std::string ledger;  // a file; empty: none

    program::client_tls tls;
    program::origin_choice origin;  // --proxy-protocol, --xclient

    net::transcript_options transcripts{};  // -z, -Z, -a

    cli::run_options run;
};

// done when --help or --version was asked for and printed.
base::expected<cli::outcome> parse_options(options& into, int argc, char** argv);

}  // namespace postal
