// SPDX-License-Identifier: GPL-3.0-or-later
// Implementation notes: one pass from left to right, each piece of the grammar is a function that
// returns how many octets it took (0: not there). Character classes come from one constexpr table.
#include "proto/address.hpp"

#include <array>

#include "base/text.hpp"

namespace postal::proto {
namespace {

enum character_class : std::uint8_t {
    atext = 1,        // RFC 5322 3.2.3
    quoted_text = 2,  // qtextSMTP
    let_dig_hyp = 4,  // inside a label; the underscore too, see the header
    let_dig = 8,      // at both ends of a label
    dcontent = 16     // inside a general address literal
};

constexpr bool is_alnum(unsigned c) {
    return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
}

constexpr std::array<std::uint8_t, 256> make_classes() {
    std::array<std::uint8_t, 256> table{};
    constexpr std::string_view specials = "!#$%&'*+-/=?^_`{|}~";
    for (unsigned c = 0x20; c < 0x7f; ++c) {
        unsigned bits = 0;
        if (is_alnum(c)) bits |= atext | let_dig | let_dig_hyp;
        if (specials.find(static_cast<char>(c)) != std::string_view::npos) bits |= atext;
        if (c == '-') bits |= let_dig_hyp;
        if (c == '_') bits |= let_dig | let_dig_hyp;
        if (c != '"' && c != '\\') bits |= quoted_text;
        if (c > 0x20 && (c < '[' || c > ']')) bits |= dcontent;
        table[c] = static_cast<std::uint8_t>(bits);
    }
    return table;
}

constexpr auto classes = make_classes();

constexpr unsigned byte(char c) {
    return static_cast<unsigned char>(c);
}
constexpr bool is(char c, character_class wanted) {
    return (classes[byte(c)] & wanted) != 0;
}

// One character of the class, or one non-ASCII character; octets taken.
std::size_t one(std::string_view text, character_class wanted, bool& non_ascii) {
    if (text.empty()) return 0;
    if (byte(text[0]) < 0x80) return is(text[0], wanted) ? 1 : 0;
    const std::size_t taken = base::utf8_sequence(text);
    if (taken != 0) non_ascii = true;
    return taken;
}

// Where a run of such characters that begins at `at` ends.
std::size_t run_of(std::string_view text, std::size_t at, character_class wanted, bool& non_ascii) {
    for (;;) {
        while (at < text.size() && is(text[at], wanted)) {
            ++at;
        }
        if (at == text.size() || byte(text[at]) < 0x80) return at;
        const std::size_t taken = one(text.substr(at), wanted, non_ascii);
        if (taken == 0) return at;
        at += taken;
    }
}

std::size_t dot_string(std::string_view text, bool& non_ascii) {
    std::size_t at = 0;
    for (;;) {
        const std::size_t atom_start = at;
        at = run_of(text, at, atext, non_ascii);
        if (at == atom_start) return 0;
        if (at == text.size() || text[at] != '.') return at;
        ++at;
    }
}

std::size_t quoted_string(std::string_view text, bool& non_ascii) {
    std::size_t at = 1;
    while (at < text.size() && text[at] != '"') {
        if (text[at] == '\\') {
            if (at + 1 >= text.size() || byte(text[at + 1]) < 0x20 || byte(text[at + 1]) > 0x7e)
                return 0;
            at += 2;
            continue;
        }
        const std::size_t taken = one(text.substr(at), quoted_text, non_ascii);
        if (taken == 0) return 0;
        at += taken;
    }
    return at < text.size() ? at + 1 : 0;
}

std::size_t domain_name(std::string_view text, bool& non_ascii) {
    std::size_t at = 0;
    for (;;) {
        const std::size_t label_start = at;
        at = run_of(text, at, let_dig_hyp, non_ascii);
        const std::size_t length = at - label_start;
        if (length == 0 || length > 63 || text[label_start] == '-' || text[at - 1] == '-') return 0;
        if (at == text.size() || text[at] != '.') return at;
        ++at;
    }
}

bool is_ipv4(std::string_view text) {
    for (int part = 0; part < 4; ++part) {
        if (part != 0) {
            if (text.empty() || text[0] != '.') return false;
            text.remove_prefix(1);
        }
        unsigned value = 0;
        std::size_t digits = 0;
        while (digits < text.size() && text[digits] >= '0' && text[digits] <= '9' && digits < 4) {
            value = value * 10 + byte(text[digits++]) - '0';
        }
        if (digits == 0 || digits > 3 || value > 255) return false;
        text.remove_prefix(digits);
    }
    return text.empty();
}

bool is_hex(char c) {
    return (c >= '0' && c <= '9') || (base::ascii_lower(c) >= 'a' && base::ascii_lower(c) <= 'f');
}

// RFC 5321 4.1.3: groups of hex, at most one "::", an IPv4 address may stand for the last two
// groups.
bool is_ipv6(std::string_view text) {
    int groups = 0;
    bool compressed = false;
    bool need_group = true;  // a single ':' has just been read
    if (text.substr(0, 2) == "::") {
        compressed = true;
        need_group = false;
        text.remove_prefix(2);
    }
    while (!text.empty()) {
        std::size_t digits = 0;
        while (digits < text.size() && digits < 5 && is_hex(text[digits]))
            ++digits;
        if (digits < text.size() && text[digits] == '.') {
            return is_ipv4(text) && (compressed ? groups + 2 <= 7 : groups + 2 == 8);
        }
        if (digits == 0 || digits > 4) return false;
        ++groups;
        need_group = false;
        text.remove_prefix(digits);
        if (text.empty()) break;
        if (text[0] != ':') return false;
        text.remove_prefix(1);
        need_group = true;
        if (!text.empty() && text[0] == ':') {
            if (compressed) return false;
            compressed = true;
            need_group = false;
            text.remove_prefix(1);
        }
    }
    return !need_group && (compressed ? groups <= 7 : groups == 8);
}

std::size_t address_literal(std::string_view text) {
    const std::size_t close = text.find(']');
    if (close == std::string_view::npos) return 0;
    const std::string_view inside = text.substr(1, close - 1);
    if (is_ipv4(inside)) return close + 1;
    const std::size_t colon = inside.find(':');
    if (colon == std::string_view::npos || colon == 0 || colon + 1 == inside.size()) return 0;
    const std::string_view tag = inside.substr(0, colon);
    const std::string_view value = inside.substr(colon + 1);
    if (base::iequals(tag, "IPv6")) return is_ipv6(value) ? close + 1 : 0;
    for (const char c : tag) {
        if (!is_alnum(byte(c)) && c != '-') return 0;
    }
    for (const char c : value) {
        if (!is(c, dcontent)) return 0;
    }
    return tag.back() == '-' ? 0 : close + 1;
}

std::size_t domain_or_literal(std::string_view text, bool& non_ascii) {
    if (text.empty()) return 0;
    return text[0] == '[' ? address_literal(text) : domain_name(text, non_ascii);
}

// "@a,@b:", which is checked and thrown away; octets taken, npos when it is broken.
std::size_t source_route(std::string_view text) {
    std::size_t at = 0;
    bool ignored = false;
    while (at < text.size() && text[at] == '@') {
        const std::size_t taken = domain_or_literal(text.substr(at + 1), ignored);
        if (taken == 0) return std::string_view::npos;
        at += 1 + taken;
        if (at == text.size()) return std::string_view::npos;
        if (text[at] == ':') return at + 1;
        if (text[at] != ',') return std::string_view::npos;
        ++at;
    }
    return at == 0 ? 0 : std::string_view::npos;
}

path_result refused_path(std::string_view reason) {
    return {.value = {}, .refusal = reason};
}

// A mailbox from the start of `text`; value.length says where it ended.
path_result mailbox_at(std::string_view text, bare_local_part bare) {
    path found;
    found.quoted = !text.empty() && text[0] == '"';
    const std::size_t local =
        found.quoted ? quoted_string(text, found.non_ascii) : dot_string(text, found.non_ascii);
    if (local == 0) return refused_path("The local part is malformed");
    if (local > max_local_part) return refused_path("The local part is longer than 64 octets");
    found.local_part = text.substr(0, local);
    found.length = local;
    if (local == text.size() || text[local] != '@') {
        if (bare != bare_local_part::allowed && !base::iequals(found.local_part, "postmaster")) {
            return refused_path("The address has no domain");
        }
        found.mailbox = found.local_part;
        return {.value = found, .refusal = {}};
    }
    const std::size_t domain = domain_or_literal(text.substr(local + 1), found.non_ascii);
    if (domain == 0) return refused_path("The domain is malformed");
    if (domain > max_domain) return refused_path("The domain is longer than 255 octets");
    found.domain = text.substr(local + 1, domain);
    found.length = local + 1 + domain;
    found.mailbox = text.substr(0, found.length);
    return {.value = found, .refusal = {}};
}

}  // namespace

path_result parse_path(std::string_view input, path_rules rules) noexcept {
    if (input.empty() || input[0] != '<') return refused_path("The address must stand in <>");
    if (input.size() > 1 && input[1] == '>') {
        if (rules.role == path_role::forward)
            return refused_path("The forward path must not be empty");
        path found;
        found.null = true;
        found.length = 2;
        return {.value = found, .refusal = {}};
    }
    const std::size_t route = source_route(input.substr(1));
    if (route == std::string_view::npos) return refused_path("The source route is malformed");
    path_result result = mailbox_at(input.substr(1 + route), rules.bare);
    if (!result.ok()) return result;
    const std::size_t close = 1 + route + result.value.length;
    if (close >= input.size() || input[close] != '>')
        return refused_path("The address is malformed");
    if (result.value.length + 2 > max_path)
        return refused_path("The path is longer than 256 octets");
    result.value.length = close + 1;
    return result;
}

path_result parse_mailbox(std::string_view input, bare_local_part bare) noexcept {
    path_result result = mailbox_at(input, bare);
    if (result.ok() && result.value.length != input.size())
        return refused_path("The address is malformed");
    return result;
}

bool is_host_name(std::string_view name) {
    return parse_mailbox("x@" + std::string(name), bare_local_part::postmaster_only).ok();
}

std::string unquoted_local_part(const path& of) {
    if (!of.quoted) return std::string(of.local_part);
    const std::string_view inside = of.local_part.substr(1, of.local_part.size() - 2);
    std::string text;
    for (std::size_t i = 0; i < inside.size(); ++i) {
        if (inside[i] == '\\') ++i;  // the parser has seen the octet behind it
        text += inside[i];
    }
    return text;
}

std::string unquoted_mailbox(const path& of) {
    std::string text = unquoted_local_part(of);
    if (!of.domain.empty()) text.append("@").append(of.domain);
    return text;
}

}  // namespace postal::proto
