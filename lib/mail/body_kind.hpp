// SPDX-License-Identifier: GPL-3.0-or-later
// What a generated body is made of, and the mix of kinds that a run sends.
//
// Each kind isolates one thing that breaks mail servers, so that a failure names its cause:
//   ascii       printable ASCII, lines of at most 78 characters, no line begins with a dot
//   8bit        UTF-8 text (RFC 6152 8BITMIME needed, MIME headers added)
//   dots        many lines that begin with dots or are only dots (RFC 5321 4.5.2)
//   long-lines  lines of 998 octets and CRLF, the most that RFC 5321 4.5.3.1.6 allows
//   crlf-edge   trailing blanks, lines of only blanks, empty lines, empty bodies, no final CRLF
//   multipart   MIME trees with text, HTML and attachments (multipart.hpp), all of it 7-bit
//   corpus      real mail; never part of a mix
//
// A mix is written "ascii=90,8bit=10" or just "dots"; weights are relative and need not sum to 100.
// Parsing fails with one line that names the offending piece and the kinds there are.
#pragma once

#include "base/random.hpp"
#include "base/result.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace postal::mail {

enum class body_kind : std::uint8_t {
    ascii,
    eight_bit,
    dots,
    long_lines,
    crlf_edge,
    multipart,
    corpus
};

// All but corpus; and the first of them, each of which has lines of one sort.
inline constexpr std::size_t generated_kinds = 6;
inline constexpr std::size_t line_kinds = 5;

// The name on the command line and in the identity header.
[[nodiscard]] std::string_view name_of(body_kind kind) noexcept;
[[nodiscard]] std::optional<body_kind> kind_of(std::string_view name) noexcept;

class body_mix {
  public:
    // All ascii.
    body_mix() noexcept : body_mix(body_kind::ascii) {}
    explicit body_mix(body_kind only) noexcept;

    [[nodiscard]] static base::expected<body_mix> parse(std::string_view text);

    [[nodiscard]] body_kind pick(base::random_source& random) const noexcept {
        if (single_) return first_;
        return pick_weighted(random.uniform());
    }

    // Whether pick() can give it.
    [[nodiscard]] bool has(body_kind kind) const noexcept;

    // As parse() reads it.
    [[nodiscard]] std::string text() const;

  private:
    [[nodiscard]] body_kind pick_weighted(double uniform) const noexcept;
    void settle() noexcept;

    std::array<double, generated_kinds> weights_{};
    std::array<double, generated_kinds> cumulative_{};
    body_kind first_ = body_kind::ascii;
    bool single_ = true;
};

}  // namespace postal::mail
