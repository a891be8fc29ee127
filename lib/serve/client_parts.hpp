// SPDX-License-Identifier: GPL-3.0-or-later
// All that a server has of one client, for those who share it: the dialogue with him, his arrival
// and departure, and the session that has them do it.
//
// A plain struct; the time in it is when what goes on now has begun. Nothing here fails.
#pragma once

#include <chrono>
#include <string_view>

#include "load/watched.hpp"
#include "net/connection.hpp"
#include "proto/smtp/server.hpp"
#include "serve/accepted_client.hpp"
#include "serve/client_input.hpp"
#include "serve/mail_program.hpp"
#include "serve/outcomes.hpp"
#include "serve/patience.hpp"
#include "serve/reply_sender.hpp"
#include "serve/suspension.hpp"
#include "serve/visitor.hpp"
#include "serve/worker_context.hpp"

namespace postal::serve {

struct client_parts {
    // Leaves the socket in `who`; all others outlive it.
    client_parts(worker_context& worker, accepted_client& who, std::string_view host_name,
                 mail_program& asked, load::watched& session)
        : context(worker),
          program(asked),
          watched(session),
          connection(worker.own.context()),
          from(who, worker.rules, connection),
          machine(worker.rules.server, host_name),
          input(worker.input, from.transcript()),
          output(worker, connection, from.transcript()),
          time(worker.rules, from.trusted()),
          counted(worker, machine, asked),
          waits(worker.own.context()) {}

    stats::tally& tally() noexcept { return context.own.tally(); }
    load::steady_time read_clock() noexcept { return time.it_is(std::chrono::steady_clock::now()); }
    // Whatever is waited for now, he must not be silent for too long.
    void wait_for_client() noexcept { watched.set_deadline(time.of_silence()); }
    void end() noexcept { waits.begin(suspension::what::session_over); }
    bool over() const noexcept { return waits.is(suspension::what::session_over); }
    void note(std::string_view what) {
        if (auto* shown = from.transcript()) shown->note(what);
    }

    worker_context& context;
    mail_program& program;
    load::watched& watched;
    net::connection connection;
    visitor from;
    proto::smtp_server machine;
    client_input input;
    reply_sender output;
    patience time;
    outcomes counted;
    suspension waits;
};

}  // namespace postal::serve
