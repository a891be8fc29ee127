// SPDX-License-Identifier: GPL-3.0-or-later
// Small helpers on text that several modules need: ASCII case, trimming, splitting, printing
// safely.
//
// All are pure and none depends on the locale: mail protocols compare ASCII without case and leave
// every other octet alone (RFC 5321 2.4). Views returned point into the text that was given.
// Nothing here fails.
#pragma once

#include <concepts>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace postal::base {

[[nodiscard]] constexpr char ascii_lower(char c) noexcept {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

[[nodiscard]] constexpr bool is_digit(char c) noexcept {
    return c >= '0' && c <= '9';
}

// Blank in the sense of RFC 5234's WSP.
[[nodiscard]] constexpr bool is_blank(char c) noexcept {
    return c == ' ' || c == '\t';
}

[[nodiscard]] std::string lower(std::string_view text);

// Equal without regard to ASCII case.
[[nodiscard]] constexpr bool iequals(std::string_view a, std::string_view b) noexcept {
    if (a.size() != b.size()) return false;
    for (std::size_t i = 0; i < a.size(); ++i) {
        if (ascii_lower(a[i]) != ascii_lower(b[i])) return false;
    }
    return true;
}

// Without blanks, tabs, CR and LF at either end.
[[nodiscard]] std::string_view trim(std::string_view text) noexcept;

// At every separator; n separators give n + 1 pieces, which may be empty. They are views: a text
// that is gone behind the call has none.
[[nodiscard]] std::vector<std::string_view> split(std::string_view text, char separator);
template <std::same_as<std::string> Gone>
std::vector<std::string_view> split(Gone&& text, char separator) = delete;

// At runs of blanks and tabs; no empty pieces.
[[nodiscard]] std::vector<std::string_view> fields(std::string_view text);

[[nodiscard]] std::string join(const std::vector<std::string>& pieces, std::string_view between);

// What no shell minds in a word.
[[nodiscard]] constexpr bool is_shell_plain(char c) noexcept {
    return (ascii_lower(c) >= 'a' && ascii_lower(c) <= 'z') || is_digit(c) ||
           std::string_view("-_./:=,@%+").find(c) != std::string_view::npos;
}

// Words with a blank between, those with anything that is not plain in quotes as a shell reads
// them.
[[nodiscard]] std::string shell_line(const std::vector<std::string>& words,
                                     bool (*is_plain)(char) = is_shell_plain);

// Fit for a terminal and a log: control characters and octets that are not valid UTF-8 are written
// as \r, \n, \t or \xNN, and the result is cut before it exceeds limit octets, with "..." behind
// (the dots count; a limit below 3 gives dots only as far as they fit). C1 controls and
// bidirectional overrides are escaped as well, since they too can forge what a terminal shows.
[[nodiscard]] std::string printable(std::string_view text, std::size_t limit);

// True when every octet belongs to a well-formed UTF-8 sequence (RFC 3629).
[[nodiscard]] bool is_valid_utf8(std::string_view text) noexcept;

// The octets of the well-formed UTF-8 sequence at the start of text, 0 when there is none.
[[nodiscard]] std::size_t utf8_sequence(std::string_view text) noexcept;

// What a text takes on a terminal, one column for each code point: right for all but East Asian
// text.
[[nodiscard]] std::size_t columns_of(std::string_view text) noexcept;

// Appends a text whose first word comes to column `at`: words that would go beyond `width` go on in
// new lines, from column `indent` on. What stands in brackets is one word where a line has room for
// it; a word that is longer than a line is cut behind a comma, or stays whole.
void append_wrapped(std::string& out, std::string_view text, std::size_t at, std::size_t indent,
                    std::size_t width);

// Lines that are longer than `width` columns go on below themselves; behind a label (two blanks or
// more follow it) below their text.
[[nodiscard]] std::string wrapped(std::string_view text, std::size_t width);

// The known word nearest to a mistyped one, for "did you mean"; empty when none is near.
[[nodiscard]] std::string_view nearest(std::string_view mistyped,
                                       const std::vector<std::string>& known);

}  // namespace postal::base
