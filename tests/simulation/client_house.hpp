// SPDX-License-Identifier: GPL-3.0-or-later
// What all simulated sessions of postal have in common.
#pragma once

#include <functional>

#include "gate.hpp"
#include "network.hpp"
#include "postal/message_maker.hpp"
#include "postal/message_outcomes.hpp"
#include "record.hpp"
#include "scenario.hpp"
#include "timeline.hpp"
#include "transcript.hpp"

namespace simulation {

// A new connection, as its client gets it; without one where nobody listens.
struct dialled {
    connection* line = nullptr;
    connection_record* truth = nullptr;
};

struct client_house {
    const scenario& of;
    timeline& time;
    const postal::sender::plan& plan;
    postal::sender::message_maker& maker;
    postal::sender::message_outcomes& outcomes;
    simulation::gate& gate;
    const postal::stats::tally& counts;
    const transcript& shown;
    std::function<dialled(line_number)> dial;
    bool stopping = false;
    bool stopped_now = false;
};

}  // namespace simulation
