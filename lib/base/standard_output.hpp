// SPDX-License-Identifier: GPL-3.0-or-later
// Standard output of programs that print a result and end.
//
// What is printed is buffered, so a failure may show at any later call; the first one is kept, for
// errno says something else by the time that main() looks.
#pragma once

#include <string_view>

namespace postal::base {

// False when standard output has failed: no more is written then.
bool print(std::string_view text) noexcept;

// Writes what is buffered; 0, or the errno of the first write that failed.
[[nodiscard]] int flush_standard_output() noexcept;

}  // namespace postal::base
