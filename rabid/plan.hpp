// SPDX-License-Identifier: GPL-3.0-or-later
// Everything that a run needs, looked up and loaded before the first connection.
//
// make_plan() is the last place that refuses bad input, with one line each. What it gives is shared
// by all threads; only the accounts and the tickets change, each under its own guard.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "client/hints.hpp"
#include "client/load_plan.hpp"
#include "mail/message_factory.hpp"
#include "rabid/accounts.hpp"
#include "rabid/options.hpp"
#include "rabid/population.hpp"
#include "rabid/profile.hpp"
#include "stats/run_description.hpp"

namespace postal::rabid {

struct plan {
    explicit plan(options given, const program::run_identity& who = {})
        : chosen(std::move(given)), identity(who), load(chosen.connections, who.share) {}

    // Of all ranks, where that is an end.
    [[nodiscard]] std::optional<std::uint64_t> most_connections() const;

    [[nodiscard]] std::vector<client::target> all_servers() const {
        std::vector<client::target> made = pop3;
        made.insert(made.end(), imap.begin(), imap.end());
        return made;
    }

    options chosen;
    program::run_identity identity;
    client::load_plan load;  // its tickets are connections
    std::vector<client::target> pop3;
    std::vector<client::target> imap;
    std::unique_ptr<accounts> users;  // of this share
    std::size_t accounts_of_all = 0;
    profile behaviour;                                  // of IMAP sessions
    std::shared_ptr<const mail::message_plan> appends;  // what APPEND puts into mailboxes
    std::unique_ptr<population> populates;              // null without --populate
    std::uint64_t started_us = 0;                       // since the epoch
};

base::expected<std::unique_ptr<plan>> make_plan(
    options given, const program::run_identity& who = program::fresh_identity());

// Microseconds since the epoch, for what stands in messages and ledgers.
std::uint64_t now_us();

// What its sessions say, for hints.
client::spoken spoken_in(const plan& plan) noexcept;

// What was asked for and means nothing.
std::vector<std::string> remarks_on(const plan& plan);

// What the record says of it; of ranks it is that of the whole run.
stats::run_description describe(const plan& plan, int argc, char** argv);

}  // namespace postal::rabid
