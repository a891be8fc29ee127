// SPDX-License-Identifier: GPL-3.0-or-later
#include "proto/smtp/esmtp_parameters.hpp"

#include <algorithm>
#include <array>

#include "base/text.hpp"
#include "proto/address.hpp"

namespace postal::proto {
namespace {

constexpr std::string_view hex_digits = "0123456789ABCDEF";

bool is_letter_or_digit(char c) noexcept {
    return base::is_digit(c) || (base::ascii_lower(c) >= 'a' && base::ascii_lower(c) <= 'z');
}

bool is_keyword_octet(char c) noexcept {
    return is_letter_or_digit(c) || c == '-';
}

// RFC 5321 4.1.2: any CHAR excluding "=", SP, and control characters.
bool is_value_octet(char c) noexcept {
    return c > ' ' && c < '\x7f' && c != '=';
}

// RFC 3461 4: stands for itself.
bool is_xchar(char c) noexcept {
    return c > ' ' && c < '\x7f' && c != '+' && c != '=';
}

bool is_upper_hex(char c) noexcept {
    return hex_digits.find(c) != std::string_view::npos;
}

}  // namespace

std::string_view esmtp_keyword(std::string_view parameter) noexcept {
    const std::size_t equals = std::min(parameter.find('='), parameter.size());
    const std::string_view keyword = parameter.substr(0, equals);
    if (keyword.empty() || keyword.front() == '-') return {};
    if (!std::all_of(keyword.begin(), keyword.end(), is_keyword_octet)) return {};
    if (equals == parameter.size()) return keyword;
    const std::string_view value = parameter.substr(equals + 1);
    const bool fine = !value.empty() && std::all_of(value.begin(), value.end(), is_value_octet);
    return fine ? keyword : std::string_view{};
}

bool is_xtext(std::string_view text) noexcept {
    for (std::size_t at = 0; at < text.size(); ++at) {
        if (is_xchar(text[at])) continue;
        if (text[at] != '+' || text.size() - at < 3) return false;
        if (!is_upper_hex(text[at + 1]) || !is_upper_hex(text[at + 2])) return false;
        at += 2;
    }
    return true;
}

void append_xtext(std::string& out, std::string_view text) {
    for (const char c : text) {
        if (is_xchar(c)) {
            out += c;
            continue;
        }
        const auto octet = static_cast<unsigned char>(c);
        out += '+';
        out += hex_digits[octet >> 4U];
        out += hex_digits[octet & 15U];
    }
}

// RFC 4954 5: longer ones need not be taken.
bool is_auth_value(std::string_view value) noexcept {
    std::array<char, most_auth_octets> mailbox{};
    std::size_t size = 0;
    if (value == "<>") return true;
    if (value.size() > mailbox.size() || !is_xtext(value)) return false;
    for (std::size_t at = 0; at < value.size(); ++at) {
        char octet = value[at];
        if (octet == '+') {
            octet = static_cast<char>(hex_digits.find(value[at + 1]) * 16 +
                                      hex_digits.find(value[at + 2]));
            at += 2;
        }
        mailbox[size++] = octet;
    }
    return parse_mailbox({mailbox.data(), size}, bare_local_part::allowed).ok();
}

bool is_notify_value(std::string_view value) noexcept {
    constexpr std::array<std::string_view, 3> events{"SUCCESS", "FAILURE", "DELAY"};
    if (base::iequals(value, "NEVER")) return true;
    std::array<bool, events.size()> seen{};
    while (true) {
        const std::size_t comma = std::min(value.find(','), value.size());
        std::size_t which = 0;
        while (which < events.size() && !base::iequals(value.substr(0, comma), events[which]))
            ++which;
        if (which == events.size() || seen[which]) return false;
        seen[which] = true;
        if (comma == value.size()) return true;
        value.remove_prefix(comma + 1);
    }
}

bool is_orcpt_value(std::string_view value) noexcept {
    const std::size_t semicolon = value.find(';');
    if (semicolon == std::string_view::npos || value.size() > most_orcpt_octets) return false;
    const std::string_view type = value.substr(0, semicolon);
    return !type.empty() && std::all_of(type.begin(), type.end(), is_keyword_octet) &&
           semicolon + 1 < value.size() && is_xtext(value.substr(semicolon + 1));
}

bool is_ret_value(std::string_view value) noexcept {
    return base::iequals(value, "FULL") || base::iequals(value, "HDRS");
}

bool is_envid_value(std::string_view value) noexcept {
    return !value.empty() && value.size() <= most_envid_octets && is_xtext(value);
}

bool is_by_value(std::string_view value) noexcept {
    constexpr std::size_t most_digits = 9;
    const std::size_t semicolon = value.find(';');
    if (semicolon == std::string_view::npos) return false;
    std::string_view time = value.substr(0, semicolon);
    std::string_view mode = value.substr(semicolon + 1);
    const bool negative = time.starts_with('-');
    if (negative) time.remove_prefix(1);
    if (time.empty() || time.size() > most_digits) return false;
    if (!std::all_of(time.begin(), time.end(), base::is_digit)) return false;
    if (!mode.empty() && base::ascii_lower(mode.back()) == 't') mode.remove_suffix(1);
    if (base::iequals(mode, "N")) return true;
    // RFC 2852 4: what is to be returned must have some time.
    return base::iequals(mode, "R") && !negative && time.find_first_not_of('0') != time.npos;
}

bool is_mt_priority_value(std::string_view value) noexcept {
    if (value.size() == 2 && value.front() == '-') {
        return value.back() >= '1' && value.back() <= '9';
    }
    return value.size() == 1 && base::is_digit(value.front());
}

}  // namespace postal::proto
