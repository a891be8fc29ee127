// SPDX-License-Identifier: GPL-3.0-or-later
// The parts of a judgement: see judge.hpp. Each holds one kind of books against what happened.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <utility>
#include <vector>

#include "judge.hpp"
#include "verdict.hpp"

namespace simulation {

using message_number = mailboxes::message_number;
using rows_of_message = std::vector<const postal::ledger::sent_row*>;
using rows_by_message = std::map<message_number, rows_of_message, std::greater<>>;

// Sums of the counters, and the rows that they count.
void judge_counts(const evidence& what, const rows_by_message& rows, verdict& found);
// Each recipient's row says what follows from the replies that were heard. Gives how long each
// message that was accepted took, in nanoseconds.
std::vector<std::int64_t> judge_outcomes(const evidence& what, const rows_by_message& rows,
                                         verdict& found);
// What the servers count is what they did, and where nothing breaks what the senders count.
void judge_servers(const evidence& what, verdict& found);
void judge_times(const evidence& what, const rows_by_message& rows,
                 const std::vector<std::int64_t>& service_ns, verdict& found);
// The reconciler says what became of accepted mail, and nothing else.
void judge_ledger(const evidence& what, const rows_by_message& rows, verdict& found);

}  // namespace simulation
