// SPDX-License-Identifier: GPL-3.0-or-later
// Holds what the programs have counted and written down against what truly happened.
//
// Everything is compared exactly, and each check says in words what is wrong. What can be said
// where a server lies is less: then only what must be true whatever it says.
#pragma once

#include <deque>
#include <string>
#include <vector>

#include "books.hpp"
#include "mailboxes.hpp"
#include "record.hpp"
#include "scenario.hpp"
#include "stats/tally.hpp"

namespace simulation {

struct evidence {
    const scenario& of;
    const std::deque<connection_record>& connections;
    books& rows;
    const mailboxes& store;  // empty where nobody looks into mailboxes
    const postal::stats::tally& senders;
    const postal::stats::tally& servers;
};

// Nothing, if all is as it should be.
[[nodiscard]] std::vector<std::string> judge(const evidence& what);

}  // namespace simulation
