// SPDX-License-Identifier: GPL-3.0-or-later
// See transfer_encoding.hpp.
#include "mail/transfer_encoding.hpp"

#include "proto/base64.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstdint>

#include <fmt/format.h>

namespace postal::mail {
namespace {

constexpr std::size_t longest_encoded_line = 76;  // RFC 2045 6.7 (5)

// A blank that ends a line would be lost on the way.
bool stays(char c, bool ends_line) noexcept {
    if (c == ' ' || c == '\t') return !ends_line;
    return c > ' ' && c <= '~' && c != '=';
}

void append_encoded_line(std::string_view line, std::string& to) {
    std::size_t used = 0;
    for (std::size_t i = 0; i < line.size(); ++i) {
        const bool plain = stays(line[i], i + 1 == line.size());
        const std::size_t wanted = plain ? 1 : 3;
        if (used + wanted >= longest_encoded_line) {  // with room for the soft line break's "="
            to += "=\r\n";
            used = 0;
        }
        if (plain) {
            to += line[i];
        } else {
            to += fmt::format("={:02X}", static_cast<unsigned char>(line[i]));
        }
        used += wanted;
    }
}

}  // namespace

std::string to_quoted_printable(std::string_view text) {
    std::string out;
    out.reserve(text.size() + text.size() / 8);
    while (!text.empty()) {
        const std::size_t end = text.find("\r\n");
        append_encoded_line(text.substr(0, end), out);
        if (end == std::string_view::npos) break;
        out += "\r\n";
        text.remove_prefix(end + 2);
    }
    return out;
}

std::string from_quoted_printable(std::string_view text) {
    std::string out;
    out.reserve(text.size());
    while (!text.empty()) {
        const std::size_t equals = text.find('=');
        out += text.substr(0, equals);
        if (equals == std::string_view::npos) break;
        text.remove_prefix(equals);
        // A soft line break, perhaps with blanks that somebody has added.
        const std::size_t behind = std::min(text.find_first_not_of(" \t", 1), text.size());
        std::uint8_t octet = 0;
        const std::string_view digits = text.substr(1, 2);
        const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), octet, 16);
        if (text.substr(behind).starts_with("\r\n")) {
            text.remove_prefix(behind + 2);
        } else if (digits.size() == 2 && read.ptr == digits.data() + 2) {
            out += static_cast<char>(octet);
            text.remove_prefix(3);
        } else {
            out += '=';
            text.remove_prefix(1);
        }
    }
    return out;
}

std::string from_base64(std::string_view text) {
    std::string digits;
    for (const char each : text.substr(0, text.find('='))) {
        const bool alphanumeric = std::isalnum(static_cast<unsigned char>(each)) != 0;
        if (alphanumeric || each == '+' || each == '/') digits += each;
    }
    const std::size_t whole = digits.size() / 4 * 4;
    std::string rest = digits.substr(whole);
    digits.resize(whole);
    std::string out = *proto::from_base64(digits);
    if (rest.size() < 2) return out;
    rest.resize(4, '=');
    return out + proto::from_base64(rest).value_or("");
}

}  // namespace postal::mail
