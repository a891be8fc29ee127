// SPDX-License-Identifier: GPL-3.0-or-later
// Rings of encoded text that parts of a multipart body are cut from (multipart.hpp): made once for
// a seed, shared by all threads, about 300 KiB in all.
//
// No line begins with a dot or a hyphen, so that no line needs a dot doubled and none can be taken
// for a boundary; no line is longer than 76 octets (RFC 2045 6.7, 6.8). Nothing fails.
#pragma once

#include "mail/body_source.hpp"
#include "mail/languages.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace postal::mail {

// Units of whole lines, such as a paragraph, which are only cut between each other.
class unit_ring {
  public:
    static constexpr std::uint64_t least_octets = 2;

    // False, and nothing is added, when a line of it must not begin as it does.
    bool add(std::string_view unit);
    [[nodiscard]] std::size_t octets() const noexcept { return text_.size(); }

    // Exactly so many octets, at least the least: units, and a rest of plain lines of ASCII.
    void cut(base::random_source& random, std::uint64_t octets, body_parts& into) const;

  private:
    std::string text_;
    std::vector<std::size_t> ends_;
};

// Lines of base64, each of 57 octets that stand for themselves.
class base64_ring {
  public:
    static constexpr std::size_t line_octets = 78;  // with CRLF
    static constexpr std::size_t decoded_octets = 57;

    void add(std::string_view decoded);
    [[nodiscard]] std::size_t octets() const noexcept { return text_.size(); }

    void cut(base::random_source& random, std::uint64_t lines, body_parts& into) const;

  private:
    std::string text_;
};

struct text_rings {
    explicit text_rings(std::uint64_t seed);

    struct of_language {
        unit_ring plain;    // 7bit in English, else quoted-printable
        unit_ring html;     // quoted-printable
        base64_ring coded;  // text in UTF-8, whole lines of it
    };
    std::array<of_language, language_count> in{};
    unit_ring flowed;   // English, RFC 3676
    unit_ring table;    // rows of CSV, quoted-printable
    base64_ring noise;  // random octets
};

}  // namespace postal::mail
