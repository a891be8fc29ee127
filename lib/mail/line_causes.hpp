// SPDX-License-Identifier: GPL-3.0-or-later
// What a relay may have done to the lines of a body, one cause a row, and how far each explains
// what was received; a part of difference.hpp.
//
// Flow: both b{made, received, common_prefix(made, received)};
//       for each cause: cause.explain(b, scope::this_line), cause.explain(b, scope::from_here)
// Nothing fails; an explanation that is not complete says how far it reached. Each takes time in
// proportion to the body, and memory for its longest line.
#pragma once

#include "mail/difference.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace postal::mail {

struct both {
    std::string_view made;
    std::string_view received;
    std::size_t at = 0;  // where they part
};

// Whether it befell the line that differs first, or that one and all behind it.
enum class scope : std::uint8_t { this_line, from_here };

struct explanation {
    bool complete = false;    // all is as the cause leaves it, a missing final line end aside
    std::size_t reached = 0;  // how far it is, in received
};

struct line_cause {
    difference_kind kind;
    std::string_view name;  // what CRLF became, for line_ends_changed
    explanation (*explain)(const both& compared, scope where);
};

// In the order in which they are believed.
[[nodiscard]] std::span<const line_cause> line_causes() noexcept;

// CRLF, LF or CR, and nothing else.
[[nodiscard]] bool is_line_end(std::string_view text) noexcept;

// How many octets are the same from the start.
[[nodiscard]] std::size_t common_prefix(std::string_view a, std::string_view b) noexcept;

// Where the line of that octet begins.
[[nodiscard]] std::size_t line_start(std::string_view text, std::size_t at) noexcept;

}  // namespace postal::mail
