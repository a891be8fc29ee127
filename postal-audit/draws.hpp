// SPDX-License-Identifier: GPL-3.0-or-later
// Where the power is cut, and what a disk with a volatile cache then keeps of the writes since its
// last flush.
//
// A cut at n: n entries of the log were written, and not one more. Everything up to the last flush
// among them is on the disk; of what came later a draw says which writes and discards are. The
// first draw is none of them, the second all, each further one a random subset: a chance is drawn
// for the draw, uniform in 0 to 1, and each write survives with that chance, so that nearly none
// and nearly all are met as well as half.
//
// A draw follows from (seed, cut, its number) and the log alone, so that one can be had again by
// itself. Nothing here fails.
#pragma once

#include "audit/record.hpp"
#include "postal-audit/write_log.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace postal::audit {

// Neighbouring sectors of a write.
struct sector_run {
    std::uint64_t first = 0;  // counted from the write's own beginning
    std::uint64_t sectors = 0;
    bool operator==(const sector_run&) const = default;
};

struct survivor {
    std::size_t index = 0;         // of the entry in the log
    std::vector<sector_run> torn;  // only these, ascending, survived; empty: all of it
    bool operator==(const survivor&) const = default;
};

struct draw {
    std::uint64_t number = 0;  // from 0
    survival what = survival::none;
    std::vector<survivor> writes;  // ascending
    bool operator==(const draw&) const = default;
};

// `count` distinct numbers of entries from first_entry to last_entry, both included, each as likely
// as the others; ascending. All of them where there are no more; none beyond the log's end.
[[nodiscard]] std::vector<std::size_t> choose_cuts(const write_log& log, std::size_t first_entry,
                                                   std::size_t last_entry, std::size_t count,
                                                   std::uint64_t seed);

// The same cuts in an order that is as likely as any other, so that those an interrupted audit has
// made are a sample of all.
[[nodiscard]] std::vector<std::size_t> in_random_order(std::vector<std::size_t> cuts,
                                                       std::uint64_t seed);

// One draw at a cut. In a random one, a surviving write of two sectors or more is torn with a
// chance of torn_percent: runs of its sectors, at least one sector and not all, survive.
[[nodiscard]] draw draw_of(std::size_t cut, const write_log& log, std::uint64_t number,
                           std::uint64_t seed, unsigned torn_percent);

// The draws 0 to `draws` - 1 without those that equal an earlier one. Where nothing is at risk, one
// only: survival::all of no writes.
[[nodiscard]] std::vector<draw> draws_of(std::size_t cut, const write_log& log, std::uint64_t draws,
                                         std::uint64_t seed, unsigned torn_percent);

}  // namespace postal::audit
