// SPDX-License-Identifier: GPL-3.0-or-later
// Which messages a session reads, and which it then deletes: -c and -d, at random.
#pragma once

#include <cstdint>
#include <vector>

#include "base/random.hpp"
#include "rabid/examiner.hpp"
#include "rabid/options.hpp"

namespace postal::rabid {

// Which of `there` messages to read, by number from 1, ascending: a share of them at random, and at
// most so many (-d, -c).
std::vector<std::uint32_t> pick_messages(const options& chosen, std::uint32_t there,
                                         base::random_source& random);

// Whether this one, which was read, is to be deleted (-d, --delete-foreign).
bool pick_deletion(const options& chosen, examination_result what, base::random_source& random);

}  // namespace postal::rabid
