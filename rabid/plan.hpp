// Everything that a run needs, looked up and loaded before the first connection.
//
// make_plan() is the last place that refuses bad input, with one line each. What it gives is shared
// by all threads; only the accounts and the budget change, each under its own guard.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "client/auth.hpp"
#include "client/origin.hpp"
#include "client/security.hpp"
#include "client/target.hpp"
#include "ledger/rows.hpp"
#include "load/budget.hpp"
#include "load/pace.hpp"
#include "mail/message_factory.hpp"
#include "rabid/accounts.hpp"
#include "rabid/options.hpp"
#include "rabid/profile.hpp"
#include "stats/run_description.hpp"

namespace postal::rabid {

struct plan {
    explicit plan(options given) : chosen(std::move(given)), budget(chosen.connections) {}

    options chosen;
    std::vector<client::target> pop3;
    std::vector<client::target> imap;
    client::security tls;
    client::origin origin;
    std::vector<net::address> local_addresses;
    std::unique_ptr<accounts> users;
    client::auth_plan auth;
    profile behaviour;                                  // of IMAP sessions
    std::shared_ptr<const mail::message_plan> appends;  // what APPEND puts into mailboxes
    std::optional<load::rate_curve> rate;
    load::budget budget;  // of connections
    std::uint64_t seed = 0;
    std::uint64_t run = 0;
    std::uint64_t started_us = 0;  // since the epoch
    unsigned sessions = 0;
    unsigned workers = 1;
};

base::expected<std::unique_ptr<plan>> make_plan(options given);

// Raises the limit of open files as far as the run needs; a failure is the system's.
base::expected<void> claim_descriptors(const plan& plan);

// How the run stands in a ledger.
ledger::run_entry ledger_entry(const plan& plan, int argc, char** argv);

stats::run_description describe(const plan& plan, int argc, char** argv);

}  // namespace postal::rabid
