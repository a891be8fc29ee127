// SPDX-License-Identifier: GPL-3.0-or-later
// Implementation notes: a scan goes on where the last input ended, so each octet is looked at once.
// `begin` is where the token in hand starts in this input (0 when it began in an earlier one, whose
// octets are in kept_), `at` is what is looked at. Limits are kept by cutting the input before the
// scan, so that a token is refused at the same octet however the input was cut by the network.
#include "proto/imap/parser.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>

#include "base/release.hpp"
#include "base/text.hpp"

namespace postal::proto {
namespace {

constexpr std::uint64_t max_number = std::numeric_limits<std::int64_t>::max();
// What a session may keep for the next unfinished token.
constexpr std::size_t usual_token = 4096;

constexpr unsigned char octet(char c) noexcept {
    return static_cast<unsigned char>(c);
}

// RFC 3501 9, ATOM-CHAR, but wider: "\", "*", "%", "]" and octets above 0x7f belong to flags,
// sequence sets and mailboxes of real servers.
constexpr auto atom_octets = [] {
    std::array<bool, 256> table{};
    for (std::size_t i = 0x21; i < table.size(); ++i)
        table[i] = i != 0x7f;
    for (const char c : std::string_view("(){\"["))
        table[octet(c)] = false;
    return table;
}();

// What ends a run within a quoted string.
constexpr auto quoted_stops = [] {
    std::array<bool, 256> table{};
    for (const char c : std::string_view("\"\\\r\n\0", 5))
        table[octet(c)] = true;
    return table;
}();

bool is_line_octet(char c) noexcept {
    return c != '\r' && c != '\n' && c != '\0';
}

}  // namespace

void imap_parser::reset() noexcept {
    *this = imap_parser{};
}

void imap_parser::take_text() noexcept {
    if (state_ == state::between) state_ = state::text;
}

imap_token imap_parser::next(std::string_view input) {
    if (kept_given_) forget_token();
    if (state_ == state::literal) return take_literal(input);
    if (state_ == state::broken) return break_off(why_);
    const std::size_t room = std::min(max_line - line_octets_, max_token - token_octets_);
    const imap_token token = scan(input.substr(0, room));
    if (token.kind == imap_token_kind::need_more) {
        if (input.size() > room) return break_off("line_too_long");
        token_octets_ += token.consumed;
    } else {
        token_octets_ = 0;
    }
    const bool over = token.kind == imap_token_kind::end || token.kind == imap_token_kind::text;
    line_octets_ = over ? 0 : line_octets_ + token.consumed;
    return token;
}

imap_token imap_parser::scan(std::string_view input) {
    switch (state_) {
        case state::between:
            return begin_token(input);
        case state::after_cr:
            return scan_line_end(input, 0);
        case state::quoted:
        case state::escape:
            return scan_quoted(input, 0);
        case state::size:
        case state::size_plus:
        case state::size_end:
        case state::size_cr:
            return scan_size(input, 0);
        case state::text:
            return scan_text(input);
        default:
            return scan_atom(input, 0);
    }
}

imap_token imap_parser::begin_token(std::string_view input) {
    std::size_t at = 0;
    while (at < input.size() && input[at] == ' ')
        ++at;
    if (at == input.size()) return {.consumed = at};
    switch (input[at]) {
        case '(':
            if (++depth_ > max_depth) return break_off("nested_too_deep");
            return {.consumed = at + 1, .kind = imap_token_kind::list_open};
        case ')':
            if (depth_ == 0) return break_off("unbalanced");
            --depth_;
            return {.consumed = at + 1, .kind = imap_token_kind::list_close};
        case '"':
            state_ = state::quoted;
            return scan_quoted(input, at + 1);
        case '{':
            begin_size();
            return scan_size(input, at + 1);
        case '\r':
        case '\n':
            return scan_line_end(input, at);
        default:
            if (!atom_octets[octet(input[at])] && input[at] != '[') {
                return break_off("control_character");
            }
            state_ = state::atom;
            return scan_atom(input, at);
    }
}

imap_token imap_parser::scan_line_end(std::string_view input, std::size_t at) {
    if (at < input.size() && input[at] == '\r' && state_ != state::after_cr) {
        state_ = state::after_cr;
        ++at;
    }
    if (at == input.size()) return {.consumed = at};
    if (input[at] != '\n') return break_off("bare_cr");
    if (depth_ != 0) return break_off("unbalanced");
    state_ = state::between;
    return {.consumed = at + 1, .kind = imap_token_kind::end};
}

// Within the brackets of BODY[...] everything belongs to the atom, also a bracket that is quoted.
imap_parser::state imap_parser::after_section_octet(char c) const noexcept {
    if (!is_line_octet(c)) return state::broken;
    if (state_ == state::section_escape) return state::section_quoted;
    if (state_ == state::section_quoted) {
        if (c == '\\') return state::section_escape;
        return c == '"' ? state::section : state::section_quoted;
    }
    if (c == '"') return state::section_quoted;
    return c == ']' ? state::atom : state::section;
}

imap_token imap_parser::scan_atom(std::string_view input, std::size_t at) {
    const std::size_t begin = at;
    while (at < input.size()) {
        if (state_ != state::atom) {
            state_ = after_section_octet(input[at]);
            if (state_ == state::broken) return break_off("open_section");
        } else if (input[at] == '[') {
            state_ = state::section;
        } else if (!atom_octets[octet(input[at])]) {
            return end_atom(input, begin, at);
        }
        ++at;
    }
    kept_.append(input.substr(begin));
    return {.consumed = at};
}

imap_token imap_parser::end_atom(std::string_view input, std::size_t begin, std::size_t at) {
    const std::string_view text = take(input.substr(begin, at - begin));
    if (text == "~" && input[at] == '{') {  // literal8, RFC 3516 4.1
        forget_token();
        begin_size();
        return scan_size(input, at + 1);
    }
    state_ = state::between;
    imap_token token{.consumed = at, .kind = imap_token_kind::atom, .text = text};
    if (!base::is_digit(text[0])) return token;
    const char* end = text.data() + text.size();
    const auto read = std::from_chars(text.data(), end, token.number);
    if (read.ec == std::errc{} && read.ptr == end && token.number <= max_number) {
        token.kind = imap_token_kind::number;
    }
    return token;
}

imap_token imap_parser::scan_quoted(std::string_view input, std::size_t at) {
    while (at < input.size()) {
        if (state_ == state::escape) {
            if (!is_line_octet(input[at])) return break_off("open_string");
            kept_ += input[at++];
            state_ = state::quoted;
            continue;
        }
        const std::size_t begin = at;
        while (at < input.size() && !quoted_stops[octet(input[at])])
            ++at;
        const std::string_view run = input.substr(begin, at - begin);
        if (at < input.size() && input[at] == '"') {
            state_ = state::between;
            return {.consumed = at + 1, .kind = imap_token_kind::quoted, .text = take(run)};
        }
        kept_.append(run);
        if (at == input.size()) break;
        if (input[at++] != '\\') return break_off("open_string");
        state_ = state::escape;
    }
    return {.consumed = at};
}

void imap_parser::begin_size() noexcept {
    state_ = state::size;
    literal_left_ = 0;
    digits_seen_ = false;
}

// The next state within "{n+}" CR LF; `literal` when the content begins behind this octet.
imap_parser::state imap_parser::after_size_octet(char c) const noexcept {
    switch (state_) {
        case state::size:
            if (c == '}') return digits_seen_ ? state::size_end : state::broken;
            return c == '+' && digits_seen_ ? state::size_plus : state::broken;
        case state::size_plus:
            return c == '}' ? state::size_end : state::broken;
        case state::size_end:
            if (c == '\r') return state::size_cr;
            [[fallthrough]];
        default:
            return c == '\n' ? state::literal : state::broken;
    }
}

imap_token imap_parser::scan_size(std::string_view input, std::size_t at) {
    for (; at < input.size(); ++at) {
        const char c = input[at];
        if (state_ == state::size && base::is_digit(c)) {
            const auto digit = static_cast<std::uint64_t>(c - '0');
            if (literal_left_ > (max_number - digit) / 10) return break_off("literal_too_large");
            literal_left_ = literal_left_ * 10 + digit;
            digits_seen_ = true;
            continue;
        }
        state_ = after_size_octet(c);
        if (state_ == state::broken) return break_off("bad_literal");
        if (state_ != state::literal) continue;
        return {.consumed = at + 1,
                .kind = imap_token_kind::literal_begin,
                .text = {},
                .number = literal_left_};
    }
    return {.consumed = at};
}

imap_token imap_parser::take_literal(std::string_view input) noexcept {
    if (literal_left_ == 0) {
        state_ = state::between;
        return {.consumed = 0, .kind = imap_token_kind::literal_end};
    }
    if (input.empty()) return {};
    const std::size_t size = std::min<std::uint64_t>(input.size(), literal_left_);
    literal_left_ -= size;
    return {
        .consumed = size, .kind = imap_token_kind::literal_piece, .text = input.substr(0, size)};
}

imap_token imap_parser::scan_text(std::string_view input) {
    const std::size_t end = std::min(input.find('\n'), input.size());
    if (input.substr(0, end).find('\0') != std::string_view::npos) return break_off("nul");
    if (end == input.size()) {
        kept_.append(input);
        return {.consumed = end};
    }
    std::string_view text = take(input.substr(0, end));
    if (text.starts_with(' ')) text.remove_prefix(1);
    if (text.ends_with('\r')) text.remove_suffix(1);
    state_ = state::between;
    return {.consumed = end + 1, .kind = imap_token_kind::text, .text = text};
}

// The whole token, of which `piece` is the end.
std::string_view imap_parser::take(std::string_view piece) {
    if (kept_.empty()) return piece;
    kept_.append(piece);
    kept_given_ = true;
    return kept_;
}

void imap_parser::forget_token() noexcept {
    kept_given_ = false;
    kept_.clear();
    if (kept_.capacity() > usual_token) base::release(kept_);
}

imap_token imap_parser::break_off(base::error_name why) noexcept {
    state_ = state::broken;
    why_ = why;
    return {.consumed = 0, .kind = imap_token_kind::broken, .text = why};
}

}  // namespace postal::proto
