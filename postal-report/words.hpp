// SPDX-License-Identifier: GPL-3.0-or-later
// What a program calls what it counts: postal's messages are accepted, rabid's are read, and
// lmtp-deliver's are delivered by an agent. Programs that are not known have postal's words.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "postal-report/record.hpp"
#include "stats/shown.hpp"

namespace postal::report {

// "accepted", "read", "delivered": what became of a message that counts.
std::string_view counted_word(const record& one);
// The same of several; "accepted" where their programs differ.
std::string_view counted_word(const std::vector<record>& records);

// Of an outcome, half a sentence.
std::string_view outcome_meaning(const record& one, const counter& outcome);

// Whether such a program can count it at all; where it nevertheless did, it is shown.
bool is_counted(const record& one, const counter& shown);

}  // namespace postal::report
