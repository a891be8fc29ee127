// SPDX-License-Identifier: GPL-3.0-or-later
// Classes of sizes of messages, each twice as wide as the one before: below 1K, 1K to 2K, and so on
// up to 64M and more; and one for messages of which the size is not recorded.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

namespace postal::ledger {

inline constexpr std::int64_t size_not_recorded = -1;
inline constexpr std::size_t size_class_count = 19;
inline constexpr std::size_t class_of_no_size = size_class_count - 1;

[[nodiscard]] constexpr std::size_t size_class_of(std::int64_t octets) noexcept {
    if (octets < 0) return class_of_no_size;  // of a tampered ledger, too
    const auto place =
        static_cast<std::size_t>(std::bit_width(static_cast<std::uint64_t>(octets) / 1024));
    return place < class_of_no_size ? place : class_of_no_size - 1;
}

// The least size of a class; 0 of the first.
[[nodiscard]] constexpr std::uint64_t least_octets(std::size_t which) noexcept {
    return which == 0 ? 0 : std::uint64_t{512} << which;
}

}  // namespace postal::ledger
