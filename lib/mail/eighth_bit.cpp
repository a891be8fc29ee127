// SPDX-License-Identifier: GPL-3.0-or-later
// See eighth_bit.hpp.
#include "mail/eighth_bit.hpp"

#include <algorithm>

namespace postal::mail {
namespace {

constexpr char eighth_bit = '\x80';
constexpr std::size_t least_lost = 2;  // a single one may have been changed in another way

bool has_eighth_bit(char octet) noexcept {
    return (octet & eighth_bit) != 0;
}

bool is_line_end_octet(char octet) noexcept {
    return octet == '\r' || octet == '\n';
}

// The body as made, of which the bits are lost up to `end`.
struct stripped_text {
    std::string_view made;
    std::size_t end;

    std::size_t size() const noexcept { return made.size(); }
    char operator[](std::size_t at) const noexcept {
        return static_cast<char>(at < end ? made[at] & ~eighth_bit : made[at]);
    }
};

// A run of CR and LF octets, and how many line ends it can be: a CR before CR LF may be one of its
// own, or nothing.
struct line_ends_there {
    std::size_t end = 0;
    std::size_t least = 0;
    std::size_t most = 0;
};

template <class Text>
line_ends_there line_ends_at(const Text& text, std::size_t at) noexcept {
    line_ends_there run{at, 0, 0};
    std::size_t open = 0;  // CRs that no LF has followed yet
    for (; run.end < text.size() && is_line_end_octet(text[run.end]); ++run.end) {
        if (text[run.end] == '\r') {
            ++open;
            ++run.most;
            continue;
        }
        ++run.least;
        if (open == 0) ++run.most;
        open = 0;
    }
    run.least += open;
    return run;
}

// How many octets lose a bit there.
std::size_t lost_within(const stripped_text& text, std::size_t from, std::size_t to) noexcept {
    const std::size_t end = std::min(to, text.end);
    if (from >= end) return 0;
    const std::string_view part = text.made.substr(from, end - from);
    return static_cast<std::size_t>(std::count_if(part.begin(), part.end(), has_eighth_bit));
}

// At the end of a message one line end may have been supplied, or left out.
bool agree(const line_ends_there& a, const line_ends_there& b, bool both_at_end) noexcept {
    const std::size_t more_or_less = both_at_end ? 1 : 0;
    return a.least <= b.most + more_or_less && b.least <= a.most + more_or_less;
}

}  // namespace

explanation eighth_bit_stripped(const both& compared, scope where) {
    const std::string_view received = compared.received;
    stripped_text made{compared.made, compared.made.size()};
    if (where == scope::this_line)
        made.end = std::min(made.end, made.made.find("\r\n", compared.at));
    std::size_t at = compared.at;
    std::size_t there = compared.at;
    std::size_t lost = 0;
    while (at < made.size()) {
        const line_ends_there wanted = line_ends_at(made, at);
        if (const std::size_t within = lost_within(made, at, wanted.end); within > 0) {
            const line_ends_there found = line_ends_at(received, there);
            const bool at_end = wanted.end == made.size() && found.end == received.size();
            if (!agree(wanted, found, at_end)) break;
            lost += within;
            at = wanted.end;
            there = found.end;
            continue;
        }
        // A run as it was made, or a single octet.
        const std::size_t end = std::max(wanted.end, at + 1);
        for (; at < end && there < received.size(); ++at, ++there) {
            const bool loses = at < made.end && has_eighth_bit(made.made[at]);
            const bool kept_for_nul = loses && made.made[at] == '\x80' && received[there] == '\x80';
            if (made[at] != received[there] && !kept_for_nul) break;
            lost += loses && !kept_for_nul ? 1 : 0;
        }
        if (at < end) break;
    }
    const std::string_view made_rest = made.made.substr(at);
    const std::string_view received_rest = received.substr(there);
    const bool all = made_rest.empty() && (received_rest.empty() || is_line_end(received_rest));
    const bool no_newline = received_rest.empty() && is_line_end(made_rest);
    if (lost < least_lost) return {};
    return {all || no_newline, there};
}

std::size_t first_stripped(const both& compared) noexcept {
    const auto from = compared.made.begin() + static_cast<std::ptrdiff_t>(compared.at);
    const auto found = std::find_if(from, compared.made.end(), has_eighth_bit);
    return static_cast<std::size_t>(found - compared.made.begin());
}

}  // namespace postal::mail
