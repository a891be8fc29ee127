// SPDX-License-Identifier: GPL-3.0-or-later
// Everything that a run needs, looked up and loaded before anybody is let in.
//
// make_plan() is the last place that refuses bad input, with one line each. What it gives is shared
// by all threads and only read.
#pragma once

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "behaviour/engine.hpp"
#include "bhm/delivery_plan.hpp"
#include "bhm/host_names.hpp"
#include "bhm/options.hpp"
#include "bhm/recipients.hpp"
#include "bhm/retries.hpp"
#include "serve/acceptor.hpp"
#include "serve/worker_context.hpp"
#include "stats/run_description.hpp"

namespace postal::bhm {

struct plan {
    options chosen;
    std::vector<serve::listening_endpoint> places;
    recipients valid;
    host_names names;
    // What EHLO says of AUTH, by what the connection is.
    struct auth_words {
        std::string plain;     // without TLS
        std::string over_tls;  // what is not there without it
        // With TLS, by whether tls-exporter is known and by whether the client has shown a
        // certificate that is right.
        std::array<std::array<std::string, 2>, 2> secure;
    } auth;
    serve::session_rules rules;
    std::unique_ptr<behaviour::engine> engine;  // null without --behaviour and --speed
    bool rules_name_listeners = false;
    deferrals defers;
    std::unique_ptr<waiting_recipients> retries;  // null where nobody is refused for now on purpose
    // Octets a second that a session of this number reads; 0: as they come.
    std::uint64_t speed_of(std::uint64_t session) const;
    std::uint64_t seed() const { return chosen.seed.value_or(run >> 11U); }
    delivery_plan delivery;
    std::uint64_t run = 0;  // in the ledger
};

base::expected<std::unique_ptr<plan>> make_plan(options given);

stats::run_description describe(const plan& plan, int argc, char** argv);

}  // namespace postal::bhm
