// SPDX-License-Identifier: GPL-3.0-or-later
// Everything that a run needs to know, looked up and loaded before anything is sent.
//
// make_plan() turns options into a plan: users, servers and their addresses, the source of
// messages, the schedule, the stop rules. It is the last place that refuses bad input, with one
// line each; what it gives is shared by all threads and only read, but for the tickets and what is
// said once.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "client/hints.hpp"
#include "client/load_plan.hpp"
#include "mail/account_weights.hpp"
#include "mail/corpus_factory.hpp"
#include "mail/message_factory.hpp"
#include "mail/user_list.hpp"
#include "postal/options.hpp"
#include "postal/sample_file.hpp"
#include "stats/run_description.hpp"

namespace postal::sender {

struct plan {
    explicit plan(options given, const program::run_identity& who = {})
        : chosen(std::move(given)), identity(who), load(chosen.messages, who.share) {}

    options chosen;
    program::run_identity identity;
    client::load_plan load;
    std::vector<client::target> targets;
    std::vector<mail::user> recipients;
    std::vector<mail::user> senders;
    std::vector<mail::user> auth_users;  // with --auth-users
    mail::account_draw draw_recipient, draw_sender, draw_login;
    std::shared_ptr<const mail::message_plan> generated;  // one of these two
    std::shared_ptr<const mail::corpus_plan> corpus;
    std::string helo;
    std::unique_ptr<sample_file> samples;  // with --samples, from the start of a run on
    // --dsn and a server without DSN: said once a run.
    std::atomic<bool> said_no_dsn = false;

    // Whose accounts sessions log in to.
    const std::vector<mail::user>& accounts() const noexcept {
        return auth_users.empty() ? senders : auth_users;
    }

    std::unique_ptr<mail::message_source> make_source() const;
};

base::expected<std::unique_ptr<plan>> make_plan(
    options given, const program::run_identity& who = program::fresh_identity());

// What its sessions say, for hints.
client::spoken spoken_in(const plan& plan) noexcept;

// What the record says of it; of ranks it is that of the whole run.
stats::run_description describe(const plan& plan, int argc, char** argv);

}  // namespace postal::sender
