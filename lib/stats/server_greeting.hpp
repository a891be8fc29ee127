// SPDX-License-Identifier: GPL-3.0-or-later
// What a server said first in a run: its name and often its program, for people.
#pragma once

#include <string>

namespace postal::stats {

struct server_greeting {
    std::string server;  // as the command line names it
    std::string text;    // fit for a terminal
};

}  // namespace postal::stats
