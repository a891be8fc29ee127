// SPDX-License-Identifier: GPL-3.0-or-later
// How wide a terminal is.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

namespace postal::os {

// Of the terminal behind a descriptor, or what COLUMNS says of it; nothing where it is none.
[[nodiscard]] std::optional<std::size_t> terminal_columns(int descriptor) noexcept;

// The text, whose lines go on below themselves where the descriptor is a terminal that is too
// narrow for them; in a pipe or a file they stay whole.
[[nodiscard]] std::string fitted(std::string text, int descriptor);

// What COLUMNS says, if it says a number.
[[nodiscard]] std::optional<std::size_t> asked_columns() noexcept;

}  // namespace postal::os
