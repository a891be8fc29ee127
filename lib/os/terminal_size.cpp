// SPDX-License-Identifier: GPL-3.0-or-later
#include "os/terminal_size.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <charconv>
#include <cstdlib>
#include <string_view>
#include <utility>

#include "base/text.hpp"

namespace postal::os {

std::optional<std::size_t> asked_columns() noexcept {
    const char* const told = std::getenv("COLUMNS");
    const std::string_view text = told == nullptr ? "" : told;
    std::size_t columns = 0;
    std::from_chars(text.data(), text.data() + text.size(), columns);
    return columns > 0 ? std::optional(columns) : std::nullopt;
}

std::optional<std::size_t> terminal_columns(int descriptor) noexcept {
    if (::isatty(descriptor) != 1) return std::nullopt;
    if (const auto asked = asked_columns()) return asked;
    winsize now{};
    if (::ioctl(descriptor, TIOCGWINSZ, &now) != 0 || now.ws_col == 0) return std::nullopt;
    return now.ws_col;
}

std::string fitted(std::string text, int descriptor) {
    const auto columns = terminal_columns(descriptor);
    return columns ? base::wrapped(text, *columns) : std::move(text);
}

}  // namespace postal::os
