// SPDX-License-Identifier: GPL-3.0-or-later
// How often each account of a list comes: all alike, or a few much more often than most, as
// mailboxes of real users do.
//
//   weights = "uniform" / ( "zipf:" exponent )         ; exponent from 0.1 to 5
//
// By Zipf's law the k-th account of the list comes k^exponent times as seldom as the first. A draw
// costs the same however many accounts there are (Walker's alias method, as Vose builds its table);
// the same seed draws the same. Nothing fails but parsing, with one line.
#pragma once

#include "base/random.hpp"
#include "base/result.hpp"

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace postal::mail {

struct account_weights {
    double exponent = 0;  // of Zipf's law; 0: all alike

    [[nodiscard]] bool alike() const noexcept { return exponent == 0; }
};

[[nodiscard]] base::expected<account_weights> parse_account_weights(std::string_view text);

class account_draw {
  public:
    // Which accounts of the whole list are drawn from: all, or each `step`-th from `first` on.
    struct part {
        std::uint64_t first = 0;
        std::uint64_t step = 1;
    };
    account_draw() = default;  // of none
    account_draw(std::size_t accounts, account_weights how) : account_draw(accounts, how, part{}) {}
    account_draw(std::size_t accounts, account_weights how, part of);

    // From 0; of no accounts it is 0.
    [[nodiscard]] std::uint32_t draw(base::random_source& random) const noexcept;
    [[nodiscard]] bool alike() const noexcept { return columns_.empty(); }

  private:
    // Of all that fall on an account's column the share, of 2^32, that is its own; others go on.
    struct column {
        std::uint64_t own = 0;
        std::uint32_t other = 0;
    };
    std::size_t accounts_ = 0;
    std::vector<column> columns_;  // none: all alike
};

}  // namespace postal::mail
