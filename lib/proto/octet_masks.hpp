// SPDX-License-Identifier: GPL-3.0-or-later
// octet_masks: where CR, LF and "." stand in a stretch of octets, as bit masks of 64 octets each;
// and whether CR and LF only come together, which needs no masks and a third of the time.
//
// The one place that is written for the processor: AVX2 where it has it (found out once, at run
// time), SSE2 on other x86-64, plain C++ elsewhere; all give the same masks. Bit i is octet i.
// Never fails.
#pragma once

#include <cstddef>
#include <cstdint>

namespace postal::proto {

inline constexpr std::size_t mask_block = 64;

// Not initialised: a scan has an array of them, and clearing it would cost as much as filling it.
struct octet_masks {
    std::uint64_t cr;
    std::uint64_t lf;
    std::uint64_t dot;
};

// Reads blocks * mask_block octets.
using find_octet_masks = void (*)(const char* octets, std::size_t blocks, octet_masks* masks);

// The fastest for this processor.
find_octet_masks octet_mask_finder() noexcept;

// Whether each of blocks * mask_block octets is an LF if, and only if, the one before it is a CR;
// reads the one before the first, too.
using check_line_ends = bool (*)(const char* octets, std::size_t blocks);

check_line_ends line_end_checker() noexcept;

// Those that need nothing, for comparison.
void find_octet_masks_plainly(const char* octets, std::size_t blocks, octet_masks* masks);
bool check_line_ends_plainly(const char* octets, std::size_t blocks);

}  // namespace postal::proto
