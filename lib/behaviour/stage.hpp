// SPDX-License-Identifier: GPL-3.0-or-later
// The stages at which a behaviour may have its say, named as in its file, and sets of them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string_view>

#include "proto/smtp/server_stage.hpp"

namespace postal::behaviour {

using stage = proto::server_stage;

// Of `other` no rule says anything.
inline constexpr auto stage_count = static_cast<std::size_t>(stage::other);

inline constexpr std::array<std::string_view, stage_count> stage_names{
    "connect", "banner", "ehlo",  "starttls", "auth", "mail",
    "rcpt",    "data",   "chunk", "end",      "rset", "quit"};

constexpr std::string_view name_of(stage one) noexcept {
    return stage_names[static_cast<std::size_t>(one)];
}

// Some of them.
class stage_set {
  public:
    constexpr stage_set() = default;
    constexpr stage_set(std::initializer_list<stage> some) noexcept {
        for (const stage one : some)
            *this |= one;
    }

    constexpr stage_set& operator|=(stage one) noexcept {
        bits_ = static_cast<std::uint16_t>(bits_ | 1U << static_cast<unsigned>(one));
        return *this;
    }
    constexpr stage_set& operator|=(stage_set others) noexcept {
        bits_ = static_cast<std::uint16_t>(bits_ | others.bits_);
        return *this;
    }
    friend constexpr stage_set operator|(stage_set some, stage_set others) noexcept {
        return some |= others;
    }
    [[nodiscard]] constexpr bool contains(stage one) const noexcept {
        return (bits_ >> static_cast<unsigned>(one) & 1U) != 0;
    }
    [[nodiscard]] constexpr bool contains_any(stage_set others) const noexcept {
        return (bits_ & others.bits_) != 0;
    }
    constexpr bool operator==(const stage_set&) const = default;

  private:
    std::uint16_t bits_ = 0;
};

}  // namespace postal::behaviour
