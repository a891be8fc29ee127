// Hash and equality of text without regard to ASCII case, for unordered containers: what is looked
// up by a view need be neither copied nor folded first. Nothing here fails.
#pragma once

#include "base/text.hpp"

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace postal::base {

// FNV-1a over the folded octets.
struct folded_hash {
    using is_transparent = void;
    [[nodiscard]] constexpr std::size_t operator()(std::string_view text) const noexcept {
        std::uint64_t hash = 14695981039346656037U;
        for (const char c : text) {
            hash = (hash ^ static_cast<unsigned char>(ascii_lower(c))) * 1099511628211U;
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
