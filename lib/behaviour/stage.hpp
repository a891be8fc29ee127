// The moments at which a behaviour may have its say, named as in a behaviour's file.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string_view>

namespace postal::behaviour {

enum class stage : std::uint8_t {
    connect,   // a client was let in, before anything else
    banner,    // the greeting
    ehlo,      // EHLO, HELO, LHLO
    starttls,  // STARTTLS
    auth,      // AUTH, before its exchange begins
    mail,      // MAIL
    rcpt,      // RCPT
    data,      // DATA, before the content
    chunk,     // a BDAT that is not the last of its message
    end,       // the whole message: its final reply, over LMTP each recipient's
    rset,      // RSET
    quit       // QUIT
};

inline constexpr std::size_t stage_count = 12;

inline constexpr std::array<std::string_view, stage_count> stage_names{
    "connect", "banner", "ehlo",  "starttls", "auth", "mail",
    "rcpt",    "data",   "chunk", "end",      "rset", "quit"};

constexpr std::string_view to_text(stage one) noexcept {
    return stage_names[static_cast<std::size_t>(one)];
}

constexpr std::optional<stage> stage_of(std::string_view name) noexcept {
    for (std::size_t i = 0; i < stage_count; ++i) {
        if (stage_names[i] == name) return static_cast<stage>(i);
    }
    return std::nullopt;
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
