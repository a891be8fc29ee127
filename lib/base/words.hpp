// SPDX-License-Identifier: GPL-3.0-or-later
// Enumerators that files and people know by words: beside the type stands words_of(any of it),
// which has a word for each, in their order.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <span>
#include <string_view>
#include <type_traits>

namespace postal::base {

template <class Enum>
concept worded = std::is_enum_v<Enum> && requires(Enum one) {
    { words_of(one) } -> std::convertible_to<std::span<const std::string_view>>;
};

template <worded Enum>
constexpr std::string_view name_of(Enum one) {
    return words_of(one)[static_cast<std::size_t>(one)];
}

// The same back; the first of them for a word that is none.
template <worded Enum>
constexpr Enum named(std::string_view word) {
    const auto words = words_of(Enum{});
    const auto found = std::find(words.begin(), words.end(), word);
    return found == words.end() ? Enum{} : static_cast<Enum>(found - words.begin());
}

}  // namespace postal::base
