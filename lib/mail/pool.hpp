// SPDX-License-Identifier: GPL-3.0-or-later
// A ring of random CRLF lines that bodies are cut from, made once and shared by all threads.
//
// The text is a function of (seed, kind) alone and about 256 KiB long, so that it stays in the
// processor's second-level cache. A body is the pool from the start of some line, round the ring as
// often as its size needs, cut at exactly the wanted octet and ended by a short tail (see cut()).
// Where lines begin with dots the pool holds a second, dot-stuffed copy, so that a slice is
// contiguous in both forms.
//
// Nothing fails. Every slice of the text up to a cut is free of bare CR, bare LF and broken UTF-8.
// Limits: the layout of version 1 is frozen: a change here changes what old identity headers mean.
#pragma once

#include "mail/body_source.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace postal::mail {

inline constexpr std::size_t long_line = 998;  // RFC 5321 4.5.3.1.6: 1000 with CRLF

class pool final : public body_source {
  public:
    pool(std::uint64_t seed, body_kind kind);

    [[nodiscard]] body_kind kind() const noexcept override { return kind_; }
    [[nodiscard]] std::size_t fields_octets() const noexcept override { return fields_.size(); }
    [[nodiscard]] std::string_view text() const noexcept { return raw_; }

    // One octet is a line without its CRLF, whatever the kind.
    void cut(base::random_source& random, std::uint64_t octets, body_parts& into) const override;

  private:
    struct position {
        std::size_t raw = 0;
        std::size_t stuffed = 0;
    };

    void add_line(std::string_view line);
    void add(std::size_t begin, std::size_t end, body_parts& into) const;
    void add_tail(std::size_t missing, body_parts& into) const;
    [[nodiscard]] std::size_t stuffed_at(std::size_t raw_offset) const noexcept;
    [[nodiscard]] std::size_t safe_end(std::size_t begin, std::size_t end) const noexcept;

    body_kind kind_;
    std::string_view fields_;
    std::string raw_;
    std::string stuffed_;          // empty when equal to raw_
    std::vector<position> lines_;  // where each line starts
};

// Dot-stuffed (RFC 5321 4.5.2), CRLF lines; a CRLF is supplied when the last line has none.
[[nodiscard]] std::string dot_stuffed(std::string_view text);

}  // namespace postal::mail
