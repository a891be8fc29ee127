// How a difference is named and told: difference.hpp.
#include "mail/difference.hpp"

#include <fmt/format.h>

#include <array>

namespace postal::mail {

std::string_view name_of(difference_kind kind) noexcept {
    constexpr std::array<std::string_view, 13> names{"none",
                                                     "truncated",
                                                     "changed",
                                                     "8bit-stripped",
                                                     "recoded",
                                                     "dot-added",
                                                     "dot-lost",
                                                     "line-ends-changed",
                                                     "trailing-blanks-cut",
                                                     "header-rewritten",
                                                     "extra",
                                                     "unreadable-identity",
                                                     "other"};
    return names[static_cast<std::size_t>(kind)];
}

std::string to_text(const difference& found) {
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
            return fmt::format("body recoded as {}", found.name);
        case difference_kind::dot_added:
            return fmt::format("dot added at line {}", found.line);
        case difference_kind::dot_lost:
            return fmt::format("dot lost at line {}", found.line);
        case difference_kind::line_ends_changed:
            return fmt::format("line endings changed from CRLF to {} at line {}", found.name,
                               found.line);
        case difference_kind::trailing_blanks_cut:
            return fmt::format("trailing blanks cut at line {}", found.line);
        case difference_kind::header_rewritten:
            return fmt::format("header {} rewritten", found.name);
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

}  // namespace postal::mail
