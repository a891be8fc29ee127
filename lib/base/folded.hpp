// SPDX-License-Identifier: GPL-3.0-or-later
// Hash and equality of text without regard to ASCII case, for unordered containers: what is looked
// up by a view need be neither copied nor folded first. Nothing here fails.
#pragma once

#include "base/text.hpp"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace postal::base {

// Eight octets at a time, the last of them once more if need be. The bit that tells capitals from
// small letters is set in each: what is equal has one hash, and of what is not little shares one.
struct folded_hash {
    using is_transparent = void;
    [[nodiscard]] std::size_t operator()(std::string_view text) const noexcept {
        std::uint64_t hash = text.size();
        const auto add = [&hash](const char* octets, std::size_t count) {
            std::uint64_t eight = 0;
            std::memcpy(&eight, octets, count);
            hash = (hash ^ (eight | 0x2020202020202020U)) * 0x9e3779b97f4a7c15U;
            hash ^= hash >> 32;
        };
        if (text.size() < 8) {
            if (!text.empty()) add(text.data(), text.size());
        } else {
            const char* const last = text.data() + text.size() - 8;
            for (const char* octets = text.data(); octets < last; octets += 8)
                add(octets, 8);
            add(last, 8);
        }
        return static_cast<std::size_t>(hash);
    }
};

struct folded_equal {
    using is_transparent = void;
    [[nodiscard]] constexpr bool operator()(std::string_view a, std::string_view b) const noexcept {
        return iequals(a, b);
    }
};

}  // namespace postal::base
