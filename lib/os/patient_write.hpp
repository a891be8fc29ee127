// SPDX-License-Identifier: GPL-3.0-or-later
// Writing to a descriptor that somebody else reads, or should.
//
// Each piece is written only when poll(2) says that there is room, so a pipe or terminal that
// nobody reads holds nothing up for longer than `patience`. What had no room by then is dropped.
// Never fails, and never raises SIGPIPE where that is ignored.
#pragma once

#include <chrono>
#include <string_view>

namespace postal::os {

// False when something was dropped.
bool write_patiently(int descriptor, std::string_view text, std::chrono::milliseconds patience);

}  // namespace postal::os
