// SPDX-License-Identifier: GPL-3.0-or-later
// Everything that a run needs, looked up and loaded before anybody is let in.
//
// make_plan() is the last place that refuses bad input, with one line each. What it gives is shared
// by all threads and only read.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "lmtp-deliver/argv_template.hpp"
#include "lmtp-deliver/exit_statuses.hpp"
#include "lmtp-deliver/message_file.hpp"
#include "lmtp-deliver/options.hpp"
#include "lmtp-deliver/transaction.hpp"
#include "os/limits.hpp"
#include "os/system_user.hpp"
#include "serve/acceptor.hpp"
#include "serve/worker_context.hpp"
#include "stats/run_description.hpp"

namespace postal::lmtp_deliver {

// The home and name that a delivery's agent finds in its environment.
struct home_and_user {
    std::string home;
    std::string user;
};

struct plan {
    options chosen;
    argv_template agent;
    std::string program;  // the agent's path
    exit_statuses exits;
    std::optional<os::system_user> run_as;  // --user
    home_and_user own_home;                 // of --user, else of this process, never root's
    bool is_root = false;                   // agents may be, or become, other users
    bool root_allowed = false;              // agents may run as root
    std::string root_because;           // why the template allows that; empty: it is none that does
    std::vector<std::string> settings;  // of --env-file and --env, the later one counts
    std::vector<os::limit> limits;
    std::vector<serve::listening_endpoint> places;
    serve::session_rules rules;
    storage_rules storage;
    std::string host_name;

    // Whether HOME or USER of an agent follow from its recipient's account.
    bool asks_for_accounts() const;
    bool runs_agents_as_root() const noexcept;
    // NAME=VALUE each, for one delivery.
    std::vector<std::string> environment(const expansion& values, const home_and_user& of) const;

    // Whether every agent gets headers of its own in front of the message.
    bool head_for_each(const transaction& of) const noexcept {
        return chosen.headers.delivered_to && of.recipients.size() > 1;
    }
};

base::expected<std::unique_ptr<plan>> make_plan(options given);

stats::run_description describe(const plan& plan, int argc, char** argv);

}  // namespace postal::lmtp_deliver
