// SPDX-License-Identifier: GPL-3.0-or-later
// What all sessions of a run's servers have in common.
#pragma once

#include "agents.hpp"
#include "apparatus.hpp"
#include "books.hpp"
#include "mailboxes.hpp"
#include "scenario.hpp"
#include "serve/shared_output.hpp"
#include "serve/worker_context.hpp"
#include "timeline.hpp"
#include "transcript.hpp"

namespace simulation {

struct server_house {
    server_house(apparatus& with_what, const scenario& run, timeline& clock, books& ledger,
                 const transcript& events);

    apparatus& with;
    const scenario& of;
    timeline& time;
    books& rows;
    const transcript& shown;
    postal::serve::session_rules rules;
    postal::serve::shared_output output{};
    simulation::agents* agents = nullptr;  // null: the servers are bhm
    mailboxes* store = nullptr;            // null: nobody looks into mailboxes
};

}  // namespace simulation
