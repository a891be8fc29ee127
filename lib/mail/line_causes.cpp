// SPDX-License-Identifier: GPL-3.0-or-later
// See line_causes.hpp. Most causes rewrite a line; what that makes is compared with what came.
#include "mail/line_causes.hpp"

#include "mail/eighth_bit.hpp"

#include <algorithm>
#include <array>
#include <string>

namespace postal::mail {
namespace {

// A line of the body as made: its octets, and CRLF or, at the very end, nothing.
struct line_parts {
    std::string_view text;
    std::string_view ending;
};

using rewrite_line = void (*)(const line_parts& line, std::string& out);

void lose_dot(const line_parts& line, std::string& out) {
    out += line.text.substr(line.text.starts_with('.') ? 1 : 0);
    out += line.ending;
}

void add_dot(const line_parts& line, std::string& out) {
    if (line.text.starts_with('.')) out += '.';
    out += line.text;
    out += line.ending;
}

void cut_blanks(const line_parts& line, std::string& out) {
    out += line.text.substr(0, line.text.find_last_not_of(" \t") + 1);
    out += line.ending;
}

void end_in_lf(const line_parts& line, std::string& out) {
    out += line.text;
    out += line.ending.empty() ? "" : "\n";
}

void end_in_cr(const line_parts& line, std::string& out) {
    out += line.text;
    out += line.ending.empty() ? "" : "\r";
}

void end_in_cr_cr_lf(const line_parts& line, std::string& out) {
    out += line.text;
    out += line.ending.empty() ? "" : "\r\r\n";
}

template <rewrite_line Rewrite>
explanation rewritten(const both& compared, scope where) {
    const std::size_t begin = line_start(compared.made, compared.at);
    std::string_view made = compared.made.substr(begin);
    std::string_view received = compared.received.substr(begin);
    std::string line;
    bool first = true;
    bool explained = false;  // anything
    while (!made.empty()) {
        const std::size_t end = std::min(made.find("\r\n"), made.size());
        const std::string_view whole = made.substr(0, end + 2);
        made.remove_prefix(whole.size());
        line.clear();
        if (first || where == scope::from_here) {
            Rewrite({whole.substr(0, end), whole.substr(end)}, line);
        } else {
            line = whole;
        }
        if (first && line == whole) return {};
        first = false;
        const std::size_t same = common_prefix(line, received);
        received.remove_prefix(same);
        explained = explained || same > 0;
        if (same < line.size()) {
            const bool no_newline = explained && received.empty() && made.empty() &&
                                    is_line_end(std::string_view(line).substr(same));
            return {no_newline, compared.received.size() - received.size()};
        }
    }
    if (first) return {};
    return {received.empty() || is_line_end(received), compared.received.size() - received.size()};
}

constexpr std::array causes{
    line_cause{difference_kind::dot_lost, {}, rewritten<lose_dot>},
    line_cause{difference_kind::dot_added, {}, rewritten<add_dot>},
    line_cause{difference_kind::trailing_blanks_cut, {}, rewritten<cut_blanks>},
    line_cause{difference_kind::eight_bit_stripped, {}, eighth_bit_stripped},
    line_cause{difference_kind::line_ends_changed, "LF", rewritten<end_in_lf>},
    line_cause{difference_kind::line_ends_changed, "CR", rewritten<end_in_cr>},
    line_cause{difference_kind::line_ends_changed, "CRCRLF", rewritten<end_in_cr_cr_lf>},
};

}  // namespace

std::span<const line_cause> line_causes() noexcept {
    return causes;
}

bool is_line_end(std::string_view text) noexcept {
    return text == "\r\n" || text == "\n" || text == "\r";
}

std::size_t common_prefix(std::string_view a, std::string_view b) noexcept {
    return static_cast<std::size_t>(std::mismatch(a.begin(), a.end(), b.begin(), b.end()).first -
                                    a.begin());
}

std::size_t line_start(std::string_view text, std::size_t at) noexcept {
    const std::size_t before = at == 0 ? std::string_view::npos : text.rfind('\n', at - 1);
    return before == std::string_view::npos ? 0 : before + 1;
}

}  // namespace postal::mail
