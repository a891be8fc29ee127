// Everything that a run needs to know, looked up and loaded before anything is sent.
//
// make_plan() turns options into a plan: users, servers and their addresses, the source of
// messages, the schedule, the stop rules. It is the last place that refuses bad input, with one
// line each; what it gives is shared by all threads and only read, but for the budget and what is
// said once.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "client/auth.hpp"
#include "client/origin.hpp"
#include "client/security.hpp"
#include "client/target.hpp"
#include "load/budget.hpp"
#include "load/pace.hpp"
#include "mail/corpus_factory.hpp"
#include "mail/message_factory.hpp"
#include "mail/user_list.hpp"
#include "net/endpoint.hpp"
#include "postal/options.hpp"
#include "stats/run_description.hpp"

namespace postal {

struct plan {
    explicit plan(options given) : chosen(std::move(given)), budget(chosen.messages) {}

    options chosen;
    std::vector<client::target> targets;
    client::security tls;
    client::origin origin;
    std::vector<net::address> local_addresses;
    std::vector<mail::user> recipients;
    std::vector<mail::user> senders;
    client::auth_plan auth;
    std::vector<mail::user> auth_users;                   // with --auth-users
    std::shared_ptr<const mail::message_plan> generated;  // one of these two
    std::shared_ptr<const mail::corpus_plan> corpus;
    std::optional<load::rate_curve> rate;
    load::budget budget;
    std::string helo;
    std::uint64_t seed = 0;
    std::uint64_t run = 0;
    unsigned sessions = 0;  // over all servers
    unsigned workers = 1;
    bool needs_8bit_mime = false;  // some message of the run does
    bool needs_smtputf8 = false;
    // --dsn and a server without DSN: said once a run.
    std::atomic<bool> said_no_dsn = false;

    // Whose accounts sessions log in to.
    const std::vector<mail::user>& accounts() const noexcept {
        return auth_users.empty() ? senders : auth_users;
    }

    std::unique_ptr<mail::message_source> make_source() const;
};

base::expected<std::unique_ptr<plan>> make_plan(options given);

// Raises the limit of open files as far as the run needs; a failure is the system's.
base::expected<void> claim_descriptors(const plan& plan);

// What the record says of it.
stats::run_description describe(const plan& plan, int argc, char** argv);

}  // namespace postal
