// SPDX-License-Identifier: GPL-3.0-or-later
#include "proto/base64.hpp"

#include <cstddef>
#include <cstdint>

namespace postal::proto {
namespace {

constexpr std::string_view digits =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

}  // namespace

std::string to_base64(std::string_view octets) {
    std::string out;
    out.reserve((octets.size() + 2) / 3 * 4);
    for (; !octets.empty(); octets.remove_prefix(octets.size() < 3 ? octets.size() : 3)) {
        std::uint32_t three = 0;
        for (std::size_t i = 0; i < 3; ++i) {
            three = three << 8 | (i < octets.size() ? static_cast<unsigned char>(octets[i]) : 0U);
        }
        for (std::size_t i = 0; i < 4; ++i) {
            out += i <= octets.size() ? digits[three >> (18 - 6 * i) & 63] : '=';
        }
    }
    return out;
}

std::optional<std::string> from_base64(std::string_view text) {
    if (text.size() % 4 != 0) return std::nullopt;
    const std::size_t padding = text.ends_with("==") ? 2 : text.ends_with('=') ? 1 : 0;
    text.remove_suffix(padding);
    std::string out;
    out.reserve(text.size() / 4 * 3 + 2);
    std::uint32_t held = 0;
    unsigned bits = 0;
    for (const char c : text) {
        const std::size_t value = digits.find(c);
        if (value == std::string_view::npos) return std::nullopt;
        held = held << 6 | static_cast<std::uint32_t>(value);
        bits += 6;
        if (bits < 8) continue;
        bits -= 8;
        out += static_cast<char>(static_cast<unsigned char>(held >> bits & 0xff));
        held &= (1U << bits) - 1;
    }
    if (held != 0) return std::nullopt;
    return out;
}

}  // namespace postal::proto
