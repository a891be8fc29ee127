// How wide a terminal is.
#pragma once

#include <cstddef>
#include <optional>

namespace postal::os {

// Of the terminal behind a descriptor, or what COLUMNS says of it; nothing where it is none.
[[nodiscard]] std::optional<std::size_t> terminal_columns(int descriptor) noexcept;

// What COLUMNS says, if it says a number.
[[nodiscard]] std::optional<std::size_t> asked_columns() noexcept;

}  // namespace postal::os
