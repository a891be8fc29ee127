// SPDX-License-Identifier: GPL-3.0-or-later
// Runs a program from its plan to its exit status: limits, workers, a server's listeners, console,
// ledger, summary, record. main() says what is special about its program and nothing else.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "cli/main.hpp"
#include "cli/run_options.hpp"
#include "ledger/writer.hpp"
#include "load/worker_pool.hpp"
#include "program/client_options.hpp"
#include "program/own_limit.hpp"
#include "program/ranks.hpp"
#include "program/run_console.hpp"
#include "program/server_options.hpp"
#include "serve/acceptor.hpp"
#include "stats/run_description.hpp"

namespace postal::program {

struct client_run {
    ranks& others;
    client::load_plan& plan;
    const client_options& chosen;
    stats::run_description description;
    ledger::role ledger_role = ledger::role::sender;
    std::uint64_t at_once = 1;   // messages that a session may have under way
    std::uint64_t messages = 0;  // the stop rule, for the live line's estimate; 0: none
    std::function<std::string(const stats::first_error&)> hint{};  // as in console_options
    std::vector<std::string> remarks{};                            // said before it begins
    // How the program is measured by itself before it searches; empty: it cannot be.
    std::function<alone_plan()> alone{};
    // Makes and spawns a worker's sessions (program::worker_sessions), in its thread. Without a
    // ledger the writer is null. What it gives is kept until the loop has ended.
    std::function<std::shared_ptr<void>(load::worker&, ledger::writer*)> begin;
    // Closes what the sessions wrote to; the run has failed when that has. Gives what there is to
    // say of it.
    using remarks_or_failure = base::expected<std::vector<std::string>>;
    std::function<remarks_or_failure()> close = [] { return remarks_or_failure(); };
    // Whether the servers did anything for us; asked of a run that is complete.
    std::function<bool(const stats::tally&)> achieved;
    // What the run was to leave behind, of all that was counted: `said` is told, and a run that
    // has not done it ends as one that missed a threshold.
    struct fulfilment {
        bool whole = true;
        std::string said{};
    };
    std::function<fulfilment(const stats::tally&)> fulfilled{};
};

// Refuses with one line what can be refused before anything is sent; then blocks until the run is
// over.
cli::exit_status run_clients(client_run what);

// What a server's worker context is made from.
struct server_worker {
    load::worker& own;
    ledger::writer* book;  // null without a ledger
};

// The session of a client of one worker; holds the worker context.
using worker_handler = std::function<boost::asio::awaitable<void>(serve::accepted_client)>;
using listeners = std::vector<net::listener>;

struct server_run {
    const server_options& chosen;
    const serve::session_rules& rules;
    stats::run_description description;
    console_options console;
    std::uint64_t ledger_run = 0;
    std::uint64_t descriptors_a_session;  // transcripts aside
    std::uint64_t descriptors_beside_sessions;
    // In the order in which they are called: makes a worker context; opens the listeners, in the
    // first worker's context; clients may come.
    std::function<base::expected<worker_handler>(const server_worker&)> begin;
    std::function<base::expected<listeners>(boost::asio::io_context&)> listen;
    std::function<void(load::worker& first)> ready = [](load::worker&) {};
};

// Refuses with one line what can be refused before anybody is let in; then blocks as above.
cli::exit_status run_servers(const server_run& what);

}  // namespace postal::program
