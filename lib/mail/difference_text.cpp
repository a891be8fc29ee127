// SPDX-License-Identifier: GPL-3.0-or-later
// How a difference is named and told: difference.hpp.
#include "mail/difference.hpp"

#include <fmt/format.h>

#include <array>

namespace postal::mail {

std::string_view name_of(difference_kind kind) noexcept {
    constexpr std::array<std::string_view, 14> names{"none",
                                                     "truncated",
                                                     "changed",
                                                     "8bit-stripped",
                                                     "recoded",
                                                     "dot-added",
                                                     "dot-lost",
                                                     "line-ends-changed",
                                                     "trailing-blanks-cut",
                                                     "header-rewritten",
                                                     "wrapped",
                                                     "extra",
                                                     "unreadable-identity",
                                                     "other"};
    return names[static_cast<std::size_t>(kind)];
}

namespace {

bool in_headers_too(const difference& found) noexcept {
    return found.kind == difference_kind::line_ends_changed && found.line == 1 &&
           found.header_line_ends == found.name;
}

std::string body_text(const difference& found) {
    switch (found.kind) {
        case difference_kind::none:
            return "not changed";
        case difference_kind::truncated:
            if (found.octet == 0) return "truncated within the headers";
            return fmt::format("truncated at byte {} of {}", found.octet, found.size);
        case difference_kind::changed: {
            auto text = fmt::format("byte {} changed from {:#04x} to {:#04x}", found.octet,
                                    found.from, found.to);
            if (found.octets > 1) text += fmt::format(", {} bytes in all", found.octets);
            return text;
        }
        case difference_kind::eight_bit_stripped:
            return fmt::format("8th bit stripped from byte {} on, {:#04x} became {:#04x}",
                               found.octet, found.from, found.to);
        case difference_kind::recoded:
        case difference_kind::header_rewritten:
            return {};
        case difference_kind::dot_added:
            return fmt::format("dot added at line {}", found.line);
        case difference_kind::dot_lost:
            return fmt::format("dot lost at line {}", found.line);
        case difference_kind::line_ends_changed:
            if (in_headers_too(found)) {
                return fmt::format("line endings changed from CRLF to {} in headers and body",
                                   found.name);
            }
            return fmt::format("line endings changed from CRLF to {} at line {}", found.name,
                               found.line);
        case difference_kind::trailing_blanks_cut:
            return fmt::format("trailing blanks cut at line {}", found.line);
        case difference_kind::wrapped: {
            auto text = fmt::format("line {} broken after {} bytes by {}", found.line, found.column,
                                    found.name);
            if (found.octets > 1) text += fmt::format(", {} breaks in all", found.octets);
            return text;
        }
        case difference_kind::extra:
            return fmt::format("{} bytes too many from byte {} on", found.octets, found.octet);
        case difference_kind::unreadable_identity:
            return "identity header unreadable";
        case difference_kind::other:
            break;
    }
    if (found.octet == 0) return "differs, and cannot be remade to say how";
    return fmt::format("differs from byte {} on", found.octet);
}

}  // namespace

std::string to_text(const difference& found) {
    std::string text;
    const auto add = [&](const std::string& part) {
        if (part.empty()) return;
        if (!text.empty()) text += "; ";
        text += part;
    };
    if (!found.encoding.empty()) add(fmt::format("body recoded as {}", found.encoding));
    add(body_text(found));
    if (!found.header_line_ends.empty() && !in_headers_too(found)) {
        add(fmt::format("line endings of the headers changed from CRLF to {}",
                        found.header_line_ends));
    }
    if (!found.fields.empty()) {
        const bool several = found.fields.find(" and ") != std::string::npos;
        add(fmt::format("header{} {} rewritten", several ? "s" : "", found.fields));
    }
    return text;
}

}  // namespace postal::mail
