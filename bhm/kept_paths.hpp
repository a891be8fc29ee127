// SPDX-License-Identifier: GPL-3.0-or-later
// Paths that stay: those of the state machine are views into what the client says now.
//
// The mailboxes stand one behind the other, so that a path takes its octets and 12 more. No I/O;
// nothing fails but for memory. Limits: mailboxes of 64 KiB, 4 GiB of them.
#pragma once

#include "proto/address.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace postal::bhm {

class kept_paths {
  public:
    // One of them; the default is a path of which nothing was kept.
    class place {
      public:
        place() = default;

      private:
        friend kept_paths;
        std::uint32_t begin_ = 0;
        std::uint16_t octets_ = 0;
        std::uint16_t local_octets_ = 0;
        bool quoted_ = false;
        bool non_ascii_ = false;
        bool null_ = false;
    };

    [[nodiscard]] place keep(const proto::path& one);
    // Until the next keep() or clear().
    [[nodiscard]] proto::path at(const place& where) const noexcept;
    // Room for a few stays.
    void clear();

  private:
    std::vector<char> octets_;
};

}  // namespace postal::bhm
