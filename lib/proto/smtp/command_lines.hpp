// SPDX-License-Identifier: GPL-3.0-or-later
// A client's command lines, put together where they come in pieces, and what is left of those that
// are not run thrown away.
//
// Flow: let_go() before each look at the input; take() until it gives a line. Of one that is too
// long take() takes nothing: throw_away(), then discard() until it has ended. Allocates only for a
// line that comes in pieces. Nothing here fails but for memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace postal::proto {

// Of a line that is too long, what is waited through for its end.
inline constexpr std::size_t most_of_a_line = 256 * 1024;

// Control characters but TAB, and DEL: no command holds one (RFC 5321 4.1.2), NUL least of all.
[[nodiscard]] bool has_control(std::string_view line) noexcept;

class command_lines {
  public:
    // Whether a line has begun and not ended.
    bool begun() const noexcept { return !text_.empty() && !whole_; }
    // Whether the line in hand, which goes on in `input`, begins so, in either case.
    bool begins(std::string_view verb, std::string_view input) const noexcept;

    struct taken {
        std::size_t consumed = 0;
        std::string_view line{};  // with its LF, until let_go(); empty: it has not come whole
        bool too_long = false;
    };
    taken take(std::string_view input, std::size_t longest);
    // The line that was handed out is over.
    void let_go() noexcept;

    // The line in hand is not to be run.
    void throw_away() noexcept;
    // Nor is what stands behind the end of the line that was handed out.
    void throw_away_rest() noexcept { discarded_ = 0; }
    struct discarded {
        std::size_t consumed = 0;
        bool ended = false;
        bool endless = false;
    };
    // Up to what ends a line: LF where that alone is enough, else CRLF.
    discarded discard(std::string_view input, bool ends_at_lf) noexcept;

    void clear() noexcept {
        text_.clear();
        whole_ = false;
    }

  private:
    std::string text_{};         // of a line that has not come whole
    std::size_t discarded_ = 0;  // of a line that is thrown away
    char last_discarded_ = 0;
    bool whole_ = false;  // text_ is, and was handed out
};

}  // namespace postal::proto
