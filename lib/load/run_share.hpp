// SPDX-License-Identifier: GPL-3.0-or-later
// Which part of a run is this process's: of R ranks, rank r has the messages and the sessions with
// the numbers n * R + r. A process that runs alone has them all.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace postal::load {

struct run_share {
    std::uint64_t rank = 0;
    std::uint64_t of = 1;

    // In the whole run, of what has this number here.
    constexpr std::uint64_t number(std::uint64_t own) const noexcept { return own * of + rank; }
    // How many of so many are ours.
    constexpr std::uint64_t part_of(std::uint64_t all) const noexcept {
        return all / of + (rank < all % of ? 1 : 0);
    }
    // The same of a number that grows without steps, as a rate asks for messages; the parts of all
    // ranks add up to it.
    double part_of_curve(double all) const noexcept {
        const auto ranks = static_cast<double>(of);
        const double rounds = std::floor(all / ranks);
        return rounds + std::clamp(all - rounds * ranks - static_cast<double>(rank), 0.0, 1.0);
    }
    constexpr bool whole() const noexcept { return of == 1; }
};

}  // namespace postal::load
