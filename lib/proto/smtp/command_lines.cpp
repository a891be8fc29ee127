// SPDX-License-Identifier: GPL-3.0-or-later
#include "proto/smtp/command_lines.hpp"

#include <algorithm>
#include <cstring>

#include "base/text.hpp"

namespace postal::proto {
namespace {

bool is_control(char c) noexcept {
    const auto octet = static_cast<unsigned char>(c);
    return (octet < 0x20 && octet != '\t') || octet == 0x7f;
}

// Eight octets at once for a first look, the last eight once more if need be; it may also find a
// TAB or, by a carry, too much.
bool may_have_control(std::string_view line) noexcept {
    if (line.size() < 8) return std::any_of(line.begin(), line.end(), is_control);
    constexpr std::uint64_t ones = 0x0101010101010101;
    constexpr std::uint64_t tops = 0x80 * ones;
    std::uint64_t found = 0;
    const auto look = [&](const char* octets) {
        std::uint64_t eight = 0;
        std::memcpy(&eight, octets, 8);
        const std::uint64_t not_del = eight ^ (0x7f * ones);
        found |= ((eight - 0x20 * ones) & ~eight) | ((not_del - ones) & ~not_del);
    };
    const char* const last = line.data() + line.size() - 8;
    for (const char* octets = line.data(); octets < last; octets += 8)
        look(octets);
    look(last);
    return (found & tops) != 0;
}

}  // namespace

bool has_control(std::string_view line) noexcept {
    return may_have_control(line) && std::any_of(line.begin(), line.end(), is_control);
}

bool command_lines::begins(std::string_view verb, std::string_view input) const noexcept {
    for (std::size_t i = 0; i < verb.size(); ++i) {
        if (i >= text_.size() + input.size()) return false;
        const char c = i < text_.size() ? text_[i] : input[i - text_.size()];
        if (base::ascii_lower(c) != base::ascii_lower(verb[i])) return false;
    }
    return true;
}

command_lines::taken command_lines::take(std::string_view input, std::size_t longest) {
    const std::size_t found = input.find('\n');
    const bool ends = found != std::string_view::npos;
    const std::string_view piece = ends ? input.substr(0, found + 1) : input;
    if (text_.size() + piece.size() > longest) return {.too_long = true};
    if (ends && text_.empty()) return {.consumed = piece.size(), .line = piece};
    text_.append(piece);
    whole_ = ends;
    return {.consumed = piece.size(), .line = ends ? std::string_view(text_) : std::string_view()};
}

void command_lines::let_go() noexcept {
    if (whole_) clear();
}

void command_lines::throw_away() noexcept {
    last_discarded_ = text_.empty() ? '\0' : text_.back();
    discarded_ = text_.size();
    text_.clear();
}

command_lines::discarded command_lines::discard(std::string_view input, bool ends_at_lf) noexcept {
    for (std::size_t at = 0; at < input.size(); ++at) {
        const bool ends = input[at] == '\n' && (last_discarded_ == '\r' || ends_at_lf);
        last_discarded_ = input[at];
        if (!ends) continue;
        last_discarded_ = 0;
        return {.consumed = at + 1, .ended = true};
    }
    discarded_ += input.size();
    return {.consumed = input.size(), .endless = discarded_ > most_of_a_line};
}

}  // namespace postal::proto
