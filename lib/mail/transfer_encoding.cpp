// See transfer_encoding.hpp.
#include "mail/transfer_encoding.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>

namespace postal::mail {
namespace {

constexpr std::string_view alphabet =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

}  // namespace

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
    std::string out;
    out.reserve(text.size() / 4 * 3);
    unsigned bits = 0;
    unsigned count = 0;
    for (const char each : text.substr(0, text.find('='))) {
        const std::size_t value = alphabet.find(each);
        if (value == std::string_view::npos) continue;
        bits = (bits << 6U | static_cast<unsigned>(value)) & 0xffffU;
        count += 6;
        if (count < 8) continue;
        count -= 8;
        out += static_cast<char>(bits >> count & 0xffU);
    }
    return out;
}

}  // namespace postal::mail
