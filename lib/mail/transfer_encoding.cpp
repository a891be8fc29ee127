// See transfer_encoding.hpp.
#include "mail/transfer_encoding.hpp"

#include "proto/base64.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstdint>

namespace postal::mail {
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
