// SPDX-License-Identifier: GPL-3.0-or-later
// Patterns of a behaviour's file: * stands for any text, none included, and all else for itself,
// without regard to ASCII case.
//
// A pattern is made once and then only read. Matching takes time that is linear in the text,
// however many stars there are and whatever a client sends, and allocates nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace postal::behaviour {

class pattern {
  public:
    explicit pattern(std::string_view text);

    [[nodiscard]] bool matches(std::string_view text) const noexcept;

  private:
    // What stands between two stars, found as Knuth, Morris and Pratt do (1977).
    struct piece {
        explicit piece(std::string_view folded);
        // Where its first occurrence in `where` ends; npos: there is none.
        [[nodiscard]] std::size_t end_in(std::string_view where) const noexcept;

        std::string text;
        // Of each start of the piece: how much of it is the start of the piece again at its end.
        std::vector<std::uint32_t> borders;
    };

    std::string head_;  // before the first star
    bool any_star_ = false;
    std::vector<piece> between_;
    std::string tail_;  // behind the last star
};

// The domain that a mailbox has wherever it matches, in lower case: example.com for
// "user@example.com" and "*@Example.com". Nothing where it may be one of several, or none, as for
// "*", "*@*.example.com" and "<>".
[[nodiscard]] std::optional<std::string> domain_of_pattern(std::string_view text);

}  // namespace postal::behaviour
