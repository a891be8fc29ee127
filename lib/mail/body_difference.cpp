// SPDX-License-Identifier: GPL-3.0-or-later
// See body_difference.hpp. A cause (or a cut, or what was added) that explains the whole rest
// wins; else the cause that explains most of what follows.
#include "mail/body_difference.hpp"

#include "mail/eighth_bit.hpp"
#include "mail/line_causes.hpp"

#include <algorithm>
#include <optional>

namespace postal::mail {
namespace {

constexpr std::size_t least_agreed = 8;  // octets behind a cause, to believe in it

std::uint64_t line_number(std::string_view text, std::size_t at) noexcept {
    const auto end = text.begin() + static_cast<std::ptrdiff_t>(line_start(text, at));
    return 1 + static_cast<std::uint64_t>(std::count(text.begin(), end, '\n'));
}

difference by_cause(const both& compared, const line_cause& cause) {
    difference found;
    found.kind = cause.kind;
    found.octet = compared.at + 1;
    found.line = line_number(compared.made, compared.at);
    found.name = cause.name;
    if (cause.kind == difference_kind::eight_bit_stripped) {
        const std::size_t at = first_stripped(compared);
        found.octet = at + 1;
        found.from = static_cast<std::uint8_t>(compared.made[at]);
        found.to = static_cast<std::uint8_t>(found.from & 0x7fU);
    }
    return found;
}

// Cut off there, perhaps with the CRLF that a POP3 server supplies before its final dot.
std::optional<difference> by_cut(const both& compared) {
    std::size_t there = compared.received.size();
    if (!compared.made.starts_with(compared.received)) {
        if (!compared.received.ends_with("\r\n")) return std::nullopt;
        there -= 2;
        if (!compared.made.starts_with(compared.received.substr(0, there))) return std::nullopt;
    }
    if (there >= compared.made.size()) return std::nullopt;
    difference found;
    found.kind = difference_kind::truncated;
    found.octet = there + 1;
    return found;
}

// What relays put into lines that are too long for them (RFC 5321 4.5.3.1.6): Postfix CRLF and a
// blank, Sendmail "!" before that.
struct line_break {
    std::string_view inserted;
    std::string_view name;
};
constexpr line_break line_breaks[] = {{"!\r\n ", "\"!\", CRLF and a blank"},
                                      {"\r\n ", "CRLF and a blank"},
                                      {"\r\n\t", "CRLF and a tab"},
                                      {"\r\n", "CRLF"}};

// How many breaks there are, when they are all that differs; else 0.
std::uint64_t count_breaks(const both& compared, std::string_view inserted) noexcept {
    std::string_view made = compared.made.substr(compared.at);
    std::string_view received = compared.received.substr(compared.at);
    std::uint64_t breaks = 0;
    while (received.starts_with(inserted) && !made.empty()) {
        ++breaks;
        received.remove_prefix(inserted.size());
        const std::size_t same = common_prefix(made, received);
        made.remove_prefix(same);
        received.remove_prefix(same);
    }
    const bool whole = (made.empty() || made == "\r\n") && (received.empty() || received == "\r\n");
    return whole ? breaks : 0;
}

// A line that ends there anyhow is not broken.
std::optional<difference> by_wrapping(const both& compared) {
    const std::size_t begin = line_start(compared.made, compared.at);
    if (compared.at == begin || compared.made.substr(compared.at).starts_with("\r\n"))
        return std::nullopt;
    for (const line_break& each : line_breaks) {
        const std::uint64_t breaks = count_breaks(compared, each.inserted);
        if (breaks == 0) continue;
        difference found;
        found.kind = difference_kind::wrapped;
        found.octet = compared.at + 1;
        found.line = line_number(compared.made, compared.at);
        found.column = compared.at - begin;
        found.octets = breaks;
        found.name = each.name;
        return found;
    }
    return std::nullopt;
}

std::optional<difference> by_addition(const both& compared) {
    std::string_view made = compared.made;
    if (!compared.received.starts_with(made)) {
        if (!made.ends_with("\r\n")) return std::nullopt;
        made.remove_suffix(2);
        if (made.empty() || !compared.received.starts_with(made)) return std::nullopt;
    }
    difference found;
    found.kind = difference_kind::extra;
    found.octet = made.size() + 1;
    found.octets = compared.received.size() - made.size();
    return found;
}

difference by_change(const both& compared) {
    difference found;
    found.kind = difference_kind::changed;
    found.octet = compared.at + 1;
    found.from = static_cast<std::uint8_t>(compared.made[compared.at]);
    found.to = static_cast<std::uint8_t>(compared.received[compared.at]);
    const std::size_t most = std::min(compared.made.size(), compared.received.size());
    for (std::size_t i = compared.at; i < most; ++i)
        found.octets += compared.made[i] != compared.received[i] ? 1U : 0U;
    return found;
}

std::size_t size_without_newline(std::string_view text) noexcept {
    return text.size() - (text.ends_with("\r\n") ? 2 : 0);
}

// Same size, and less than half of the rest differs: octets were changed in their places.
bool is_changed_in_place(const both& compared, const difference& change) noexcept {
    if (size_without_newline(compared.made) != size_without_newline(compared.received)) {
        return false;
    }
    return change.octets == 1 || 2 * change.octets < compared.made.size() - compared.at;
}

// No cause explains all: the one that explains most of what follows the place.
difference by_most_explained(const both& compared) {
    difference found;
    found.octet = compared.at + 1;
    std::size_t reached = compared.at + least_agreed;
    for (const line_cause& cause : line_causes()) {
        for (const scope where : {scope::this_line, scope::from_here}) {
            const explanation each = cause.explain(compared, where);
            if (each.reached <= reached) continue;
            reached = each.reached;
            found = by_cause(compared, cause);
        }
    }
    const std::size_t behind = compared.at + 1;
    const std::size_t same =
        common_prefix(compared.made.substr(behind), compared.received.substr(behind));
    if (behind + same <= reached) return found;
    found = by_change(compared);
    found.octets = 1;
    return found;
}

}  // namespace

difference compare_bodies(std::string_view made, std::string_view received) {
    const both compared{made, received, common_prefix(made, received)};
    for (const line_cause& cause : line_causes()) {
        for (const scope where : {scope::this_line, scope::from_here}) {
            if (cause.explain(compared, where).complete) return by_cause(compared, cause);
        }
    }
    if (const auto cut = by_cut(compared)) return *cut;
    if (const auto wrapping = by_wrapping(compared)) return *wrapping;
    if (const auto addition = by_addition(compared)) return *addition;
    const difference change = by_change(compared);
    return is_changed_in_place(compared, change) ? change : by_most_explained(compared);
}

}  // namespace postal::mail
