// SPDX-License-Identifier: GPL-3.0-or-later
// Writes text and numbers into memory that is known to be large enough: the hot path of making
// headers.
//
// The caller reserves an upper bound, writes, and looks at end(). Nothing is checked and nothing
// fails. most_digits says what a decimal number takes at most.
#pragma once

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace postal::mail {

class text_writer {
  public:
    static constexpr std::size_t most_digits = 20;

    explicit text_writer(char* at) noexcept : at_(at) {}

    void put(std::string_view text) noexcept {
        if (text.empty()) return;  // memcpy may not be given a null pointer
        std::memcpy(at_, text.data(), text.size());
        at_ += text.size();
    }
    void put(char octet) noexcept { *at_++ = octet; }
    void decimal(std::uint64_t value) noexcept {
        at_ = std::to_chars(at_, at_ + most_digits, value).ptr;
    }
    // The lowest digits, with leading zeros.
    void padded(std::uint64_t value, std::size_t digits) noexcept {
        for (std::size_t i = digits; i-- > 0; value /= 10) {
            at_[i] = static_cast<char>('0' + value % 10);
        }
        at_ += digits;
    }
    void hex(std::uint8_t octet) noexcept {
        constexpr char digits[] = "0123456789abcdef";
        *at_++ = digits[octet >> 4U];
        *at_++ = digits[octet & 15U];
    }
    // 16 digits.
    void hex(std::uint64_t value) noexcept {
        for (unsigned shift = 64; shift > 0; shift -= 8) {
            hex(static_cast<std::uint8_t>(value >> (shift - 8)));
        }
    }
    [[nodiscard]] char* end() const noexcept { return at_; }

  private:
    char* at_;
};

// How many characters decimal() writes.
[[nodiscard]] constexpr std::size_t decimal_digits(std::uint64_t value) noexcept {
    std::size_t digits = 1;
    for (; value >= 10000; value /= 10000)
        digits += 4;
    return digits + (value >= 10 ? 1U : 0U) + (value >= 100 ? 1U : 0U) + (value >= 1000 ? 1U : 0U);
}

}  // namespace postal::mail
