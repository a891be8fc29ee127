// SPDX-License-Identifier: GPL-3.0-or-later
// The head is compared at the start of a text, the tail at its end; the pieces between are looked
// for in the rest, each behind the one before. The first place is always good enough, since a star
// takes whatever lies in front.
#include "behaviour/pattern.hpp"

#include "base/text.hpp"

namespace postal::behaviour {

pattern::piece::piece(std::string_view folded) : text(folded), borders(folded.size()) {
    std::uint32_t held = 0;
    for (std::size_t i = 1; i < text.size(); ++i) {
        while (held > 0 && text[held] != text[i])
            held = borders[held - 1];
        if (text[held] == text[i]) ++held;
        borders[i] = held;
    }
}

std::size_t pattern::piece::end_in(std::string_view where) const noexcept {
    std::size_t held = 0;
    for (std::size_t i = 0; i < where.size(); ++i) {
        const char c = base::ascii_lower(where[i]);
        while (held > 0 && text[held] != c)
            held = borders[held - 1];
        if (text[held] == c) ++held;
        if (held == text.size()) return i + 1;
    }
    return std::string_view::npos;
}

pattern::pattern(std::string_view text) {
    const std::string folded = base::lower(text);
    const std::vector<std::string_view> pieces = base::split(folded, '*');
    head_ = pieces.front();
    any_star_ = pieces.size() > 1;
    if (!any_star_) return;
    tail_ = pieces.back();
    for (std::size_t i = 1; i + 1 < pieces.size(); ++i) {
        if (!pieces[i].empty()) between_.emplace_back(pieces[i]);
    }
}

bool pattern::matches(std::string_view text) const noexcept {
    if (!any_star_) return base::iequals(head_, text);
    if (text.size() < head_.size() + tail_.size()) return false;
    if (!base::iequals(head_, text.substr(0, head_.size()))) return false;
    text.remove_prefix(head_.size());
    if (!base::iequals(tail_, text.substr(text.size() - tail_.size()))) return false;
    text.remove_suffix(tail_.size());
    for (const piece& one : between_) {
        const std::size_t end = one.end_in(text);
        if (end == std::string_view::npos) return false;
        text.remove_prefix(end);
    }
    return true;
}

std::optional<std::string> domain_of_pattern(std::string_view text) {
    const std::size_t at = text.rfind('@');
    if (at == std::string_view::npos) return std::nullopt;
    const std::string_view domain = text.substr(at + 1);
    if (domain.empty() || domain.find('*') != std::string_view::npos) return std::nullopt;
    // The end of an address literal, which may have an @ of its own (RFC 5321 4.1.3).
    if (domain.back() == ']' && domain.front() != '[') return std::nullopt;
    return base::lower(domain);
}

}  // namespace postal::behaviour
