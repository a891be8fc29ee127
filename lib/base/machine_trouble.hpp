// SPDX-License-Identifier: GPL-3.0-or-later
// Whether the machine is to blame for what failed: memory, disks, descriptors. Whoever called the
// program then gets status 2, and not the 1 of bad parameters, for the file that was named is right
// and the words that named it, too.
//
// Told by the failure's own message, which holds what the system said (system_message()), so that
// what failed before, and was lived with, counts for nothing.
#pragma once

#include <string_view>

namespace postal::base {

[[nodiscard]] bool is_machine_trouble(std::string_view message) noexcept;

}  // namespace postal::base
