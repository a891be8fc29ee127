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

#include "base/units.hpp"
#include "cli/parse.hpp"
#include "cli/run_options.hpp"
#include "client/auth.hpp"
#include "load/pace.hpp"
#include "net/transcript.hpp"
#include "program/origin_options.hpp"
#include "program/tls_options.hpp"

namespace postal::rabid {

struct options {
    std::string servers;
    std::string user_list;
    std::string imap_servers;         // --imap; empty: SERVER, at port 143
    std::string local_addresses;      // -l
    unsigned sessions = 1;            // -p
    unsigned imap_percent = 0;        // -i
    std::int64_t most_messages = -1;  // -c; -1: all
    unsigned download_percent = 100;  // -d
    unsigned delete_percent = 100;
    bool strip_domain = false;  // -u
    bool qmail_pop = false;     // -b
    bool delete_foreign = false;
    bool shared_accounts = false;
    bool pipelining = true;
    bool apop = false;
    bool compress = false;
    client::auth_options auth{};
    std::string profile = "original";
    std::optional<std::uint64_t> connections;
    std::optional<base::rate> rate{base::rate{24'000.0 / 60}};  // -r, connections
    bool open_loop = false;
    load::arrival arrival = load::arrival::constant;
    std::vector<load::stage> stages;
    double connect_rate = 2000;  // at the start, a second
    std::optional<std::uint64_t> seed;
    std::chrono::nanoseconds timeout = std::chrono::minutes(1);
    std::string ledger;
    std::chrono::nanoseconds watch{0};  // 0: no watching
    program::client_tls tls{};
    program::origin_choice origin{};  // --proxy-protocol
    net::transcript_options transcripts{};
    cli::run_options run{};
    std::vector<cli::effective_option> effective{};  // for the record
};

// done when --help or --version was asked for and printed.
base::expected<cli::outcome> parse_options(options& into, int argc, const char* const* argv);

}  // namespace postal::rabid
