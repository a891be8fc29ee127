// SPDX-License-Identifier: GPL-3.0-or-later
// IMAP commands by kind, as records name them: the words of RFC 9051, with UID forms among those
// without.
//
// A kind is the verb without UID; its number is the index of stats::tally::commands. Nothing fails.
#pragma once

#include <string>
#include <vector>

#include "proto/imap/commands.hpp"
#include "stats/command_counts.hpp"

namespace postal::rabid {

proto::imap_verb kind_of(proto::imap_verb verb) noexcept;
stats::command_end end_of(proto::imap_condition condition) noexcept;
// By kind; none is empty.
std::vector<std::string> command_kinds();

}  // namespace postal::rabid
