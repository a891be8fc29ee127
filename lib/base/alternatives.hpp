// SPDX-License-Identifier: GPL-3.0-or-later
// What may be given, for a sentence: "a", "a or b", "a, b or c".
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace postal::base {

template <class Words>
[[nodiscard]] std::string alternatives(const Words& words) {
    std::string text;
    std::size_t left = std::size(words);
    for (const std::string_view each : words) {
        if (!text.empty()) text += left == 1 ? " or " : ", ";
        text += each;
        --left;
    }
    return text;
}

}  // namespace postal::base
