// SPDX-License-Identifier: GPL-3.0-or-later
// The leaves of a MIME tree (mime_tree.hpp): how large the contents of each are, and their pieces.
//
// Flow: parts.clear(); parts.add(one)...; if (parts.settle(random, octets)) parts.cut(...);
// The first text in 7bit or quoted-printable takes what is left; there must be one. Nothing fails
// and nothing is allocated. RFC 2045 6.7, 6.8.
#pragma once

#include "mail/text_rings.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace postal::mail {

// Contents are units, or lines of base64 between head and tail.
struct mime_part {
    const unit_ring* units = nullptr;
    const base64_ring* lines = nullptr;
    std::string_view head{};
    std::string_view tail{};
    std::uint64_t weight = 1;
    bool is_file = false;
    const char* at = nullptr;  // what stands before them ends here
    std::uint64_t octets = 0;

    [[nodiscard]] std::uint64_t least() const noexcept;
};

class mime_parts {
  public:
    void clear() noexcept { count_ = 0; }
    void add(const mime_part& what) noexcept;

    // Their sizes, so that together they have as many octets; false when they have more.
    bool settle(base::random_source& random, std::uint64_t octets) noexcept;

    // around: what stands before them, between and behind them, in one piece.
    void cut(base::random_source& random, std::string_view around, body_parts& into) const;

  private:
    static constexpr std::size_t most = 8;

    [[nodiscard]] std::span<mime_part> all() noexcept { return {parts_.data(), count_}; }
    // Gives how many it has given away.
    std::uint64_t share_out(std::uint64_t octets, bool files) noexcept;

    std::array<mime_part, most> parts_{};
    std::size_t count_ = 0;
};

}  // namespace postal::mail
