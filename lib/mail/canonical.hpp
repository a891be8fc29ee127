// SPDX-License-Identifier: GPL-3.0-or-later
// The form of a message that its digest covers: what a relay must not change.
//
// Header fields From, To, Subject, Date, Message-ID in this order, each as
// "name-in-lower-case:value CRLF", the value unfolded, runs of blanks made one blank, trimmed (RFC
// 6376 3.4.2 "relaxed"); an absent field contributes nothing; of a repeated one the last counts,
// since relays add on top (RFC 6376 5.4.2). Then one CRLF, then the body exactly, with CRLF line
// ends and with a final CRLF supplied when it is missing (an empty body stays empty).
//
// Flow: header_section h = scan_headers(text)            text is the header section, any line ends
//       body_digester d; d.begin(kind, canonical text); d.feed(body octets, any splits)...;
//       d.finish()
// Nothing fails: lines that are no header fields are passed over.
// Limits: obsolete syntax (blanks before the colon) is accepted, comments are not understood.
#pragma once

#include "mail/digest.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace postal::mail {

enum class covered : std::uint8_t { from, to, subject, date, message_id };
inline constexpr std::size_t covered_fields = 5;

// Which of the five a digest was made over, one bit each: bit 0 is from.
using coverage = std::uint8_t;
inline constexpr coverage all_covered = 0x1f;

// What scan_headers() found; views into the text, values still folded.
struct header_section {
    std::array<std::string_view, covered_fields> values{};
    coverage present = 0;
    std::string_view identity;  // value of the first X-Postal-Id
    bool has_identity = false;
};

// text: header fields, without the blank line that ends them; LF or CRLF.
[[nodiscard]] header_section scan_headers(std::string_view text) noexcept;

// The value of the first field of that name, of a folded one the first line, without blanks around;
// empty when there is none. section: header fields.
[[nodiscard]] std::string_view find_value(std::string_view section, std::string_view name) noexcept;

// Offset just behind the blank line that ends the header section; npos when there is none. The
// blank line ends in LF, CRLF, or CRCRLF, as a relay makes that takes CRLF for LF.
[[nodiscard]] std::size_t header_end(std::string_view text, std::size_t from = 0) noexcept;

// Appends the canonical header text of those fields that are in mask and present, and the CRLF.
void append_canonical(const header_section& section, coverage mask, std::string& out);

// What line ends a body comes with. lf: Maildir files, whose lines end in LF; each becomes CRLF.
enum class line_ends : std::uint8_t { crlf, lf };

class body_digester {
  public:
    void begin(digest_kind kind, std::string_view canonical_headers,
               line_ends ends = line_ends::crlf);
    void feed(std::string_view octets) noexcept;
    [[nodiscard]] digest_value finish() noexcept;

  private:
    void feed_lf(std::string_view octets) noexcept;

    hasher hasher_;
    line_ends ends_ = line_ends::crlf;
    bool any_ = false;
    char last_ = 0;
    char before_last_ = 0;
};

}  // namespace postal::mail
