// SPDX-License-Identifier: GPL-3.0-or-later
// The options that postal and rabid have in common, and the plan that they make.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "base/units.hpp"
#include "cli/options.hpp"
#include "cli/parse.hpp"
#include "cli/run_options.hpp"
#include "client/auth.hpp"
#include "client/load_plan.hpp"
#include "load/pace.hpp"
#include "load/run_share.hpp"
#include "mail/user_list.hpp"
#include "net/allowed_targets.hpp"
#include "net/transcript.hpp"
#include "program/origin_options.hpp"
#include "program/search_options.hpp"
#include "program/start_time.hpp"
#include "program/tls_options.hpp"
#include "sampling/sampler.hpp"
#include "stats/run_description.hpp"

namespace postal::program {

struct client_options {
    std::string servers;
    std::string user_list;
    std::string local_addresses;             // -l; empty: the kernel chooses
    unsigned sessions = 1;                   // of each rank; postal's for each server, too
    std::optional<unsigned> sessions_total;  // in place of these, of all ranks together
    std::optional<wall_time> start_at;       // nothing: at once
    double connect_rate = 2000;              // sessions opened a second at the start
    net::allowed_targets allowed{};          // --target-is-mine
    client::auth_options auth{};
    std::optional<std::uint64_t> seed;
    std::optional<base::rate> rate;
    bool open_loop = false;
    load::arrival arrival = load::arrival::constant;
    std::vector<load::ramp_stage> stages;
    std::optional<std::chrono::nanoseconds> give_up;  // nothing: see prepare(); 0: never
    bool fail_fast = false;                           // the first error ends the run
    bool dry_run = false;                             // there is none
    bool dry_run_message = false;                     // nor here, of postal: the first message
    bool resolve = false;                             // and names are looked up all the same
    std::string ledger;                               // a file; empty: none
    program::client_tls tls{};
    program::origin_choice origin{};  // --proxy-protocol, --xclient
    net::transcript_options transcripts{};
    cli::run_options run{};
    search_choice search{};                          // --find-rate
    sampling::choice samples{};                      // --queue, --sample-command
    std::shared_ptr<sampling::sampler> sampler{};    // of these, where prepare() has opened it
    std::vector<cli::effective_option> effective{};  // for the record
};

// What one run has in common, whoever has a part in it, and which part is ours.
struct run_identity {
    std::uint64_t seed = 0;  // where no --seed is given
    std::uint64_t run = 0;   // its number, in messages and ledgers
    load::run_share share{};
};
// Of a process that runs alone: random numbers, and the whole.
run_identity fresh_identity();

// --sessions-total and --start-at; `each` is the option that the first stands in for.
cli::option sessions_total_option(client_options& target, std::string_view each);
cli::option start_at_option(client_options& target);

// What only shows when all options are known.
base::expected<void> check(const client_options& chosen);

// Whether names stay as they are: nothing is connected to, and nobody asked for their addresses.
inline bool leaves_names(const client_options& chosen) noexcept {
    return (chosen.dry_run || chosen.dry_run_message) && !chosen.resolve;
}

// The sessions of this process, over all servers: its part of --sessions-total, or `otherwise`.
base::expected<unsigned> own_sessions(const client_options& chosen, const load::run_share& share,
                                      unsigned otherwise);

// When to give servers up, once it is known whether tickets are an end.
void plan_give_up(client::load_plan& into, const client_options& chosen);

// Everything in the plan that these options say, but for sessions, tickets, timeouts and the start.
// A run without an end gets that of its stages. One that only ends when all its tickets are used is
// given up when nothing moves.
base::expected<void> prepare(client::load_plan& into, client_options& chosen,
                             const run_identity& who = fresh_identity());

// The last of it: when to start. Of ranks the first alone decides. Fails when that is over.
base::expected<void> plan_start(client::load_plan& into, const client_options& chosen);

// What the record says of them.
void describe(const client::load_plan& plan, const client_options& chosen,
              stats::run_description& into);
// Of a rank's own record: what is asked of it is its share.
stats::run_description describe_share(stats::run_description whole, const load::run_share& share);

// Each fails with one line, which begins with the option. Servers are a comma-separated list, and
// resolved, and must be allowed; with a `+` only to see that they are, and anew for each
// connection. Those whose names are left have no address.
base::expected<std::vector<mail::user>> load_list(const std::string& path, std::string_view option);
// Standard input can be read once, and by a process that runs alone.
struct named_list {
    std::string_view option;
    const std::string& path;
};
base::expected<void> check_lists(const std::vector<named_list>& lists);
base::expected<std::vector<client::target>> find_servers(const std::string& text,
                                                         std::string_view option,
                                                         std::uint16_t port,
                                                         const client_options& chosen);

}  // namespace postal::program
