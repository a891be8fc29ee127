// SPDX-License-Identifier: GPL-3.0-or-later
// Trimming, splitting, printing and comparing of text.
//
// printable() walks UTF-8 sequences as RFC 3629 section 4 defines them (the table below is its
// grammar) and escapes everything that is not one or that could forge what a terminal shows.
// Linear in the length of the text, and stops at the limit: a line of 64 MB costs no more than one
// of 200 octets. Nothing here fails.
#include "base/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <utility>

namespace postal::base {
namespace {

unsigned char octet(std::string_view text, std::size_t i) {
    return static_cast<unsigned char>(text[i]);
}

bool is_continuation(std::string_view text, std::size_t i) {
    return i < text.size() && (octet(text, i) & 0xc0U) == 0x80U;
}

// RFC 3629 section 4: the leading octet, the length, and the range of the second octet, which is
// what keeps out overlong forms, surrogates and everything above U+10FFFF.
struct utf8_form {
    unsigned char first_lead, last_lead;
    std::size_t length;
    unsigned char first_second, last_second;
};

constexpr std::array<utf8_form, 8> utf8_forms{{{0xc2, 0xdf, 2, 0x80, 0xbf},
                                               {0xe0, 0xe0, 3, 0xa0, 0xbf},
                                               {0xe1, 0xec, 3, 0x80, 0xbf},
                                               {0xed, 0xed, 3, 0x80, 0x9f},
                                               {0xee, 0xef, 3, 0x80, 0xbf},
                                               {0xf0, 0xf0, 4, 0x90, 0xbf},
                                               {0xf1, 0xf3, 4, 0x80, 0xbf},
                                               {0xf4, 0xf4, 4, 0x80, 0x8f}}};

// Characters that are valid and still forge what a terminal shows: C1 controls (U+0080..U+009F),
// bidirectional overrides and isolates (U+202A..U+202E, U+2066..U+2069). And U+FFFE and U+FFFF,
// which are no characters, and which XML does not allow.
bool deceives(std::string_view sequence) {
    if (sequence.size() == 2) return octet(sequence, 0) == 0xc2 && octet(sequence, 1) < 0xa0;
    if (sequence.starts_with("\xef\xbf")) return octet(sequence, 2) >= 0xbe;
    if (sequence.size() != 3 || octet(sequence, 0) != 0xe2) return false;
    const unsigned char second = octet(sequence, 1);
    const unsigned char third = octet(sequence, 2);
    return (second == 0x80 && third >= 0xaa && third <= 0xae) ||
           (second == 0x81 && third >= 0xa6 && third <= 0xa9);
}

std::string escaped(std::string_view octets) {
    std::string text;
    for (const char c : octets) {
        const std::size_t letter = std::string_view("\r\n\t").find(c);
        text += letter == std::string_view::npos
                    ? fmt::format("\\x{:02x}", static_cast<unsigned char>(c))
                    : std::string{'\\', "rnt"[letter]};
    }
    return text;
}

// The number of letters to insert, remove, change or swap with a neighbour to get from one word to
// the other.
std::size_t edit_distance(std::string_view a, std::string_view b) {
    std::vector<std::size_t> before_last(b.size() + 1), last(b.size() + 1), row(b.size() + 1);
    std::iota(last.begin(), last.end(), std::size_t{0});
    for (std::size_t i = 1; i <= a.size(); ++i) {
        row[0] = i;
        for (std::size_t j = 1; j <= b.size(); ++j) {
            const std::size_t changed = a[i - 1] == b[j - 1] ? 0 : 1;
            row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + changed});
            const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
            if (swapped) row[j] = std::min(row[j], before_last[j - 2] + 1);
        }
        before_last.swap(last);
        last.swap(row);
    }
    return last[b.size()];
}

}  // namespace

std::string lower(std::string_view text) {
    std::string result(text);
    for (char& c : result)
        c = ascii_lower(c);
    return result;
}

std::string_view trim(std::string_view text) noexcept {
    constexpr std::string_view blank = " \t\r\n";
    const std::size_t first = text.find_first_not_of(blank);
    if (first == std::string_view::npos) return {};
    return text.substr(first, text.find_last_not_of(blank) - first + 1);
}

std::vector<std::string_view> split(std::string_view text, char separator) {
    std::vector<std::string_view> pieces;
    while (true) {
        const std::size_t end = text.find(separator);
        pieces.push_back(text.substr(0, end));
        if (end == std::string_view::npos) return pieces;
        text.remove_prefix(end + 1);
    }
}

std::vector<std::string_view> fields(std::string_view text) {
    std::vector<std::string_view> found;
    std::size_t at = 0;
    while (true) {
        while (at < text.size() && is_blank(text[at]))
            ++at;
        const std::size_t start = at;
        while (at < text.size() && !is_blank(text[at]))
            ++at;
        if (at == start) return found;
        found.push_back(text.substr(start, at - start));
    }
}

std::string join(const std::vector<std::string>& pieces, std::string_view between) {
    return fmt::format("{}", fmt::join(pieces, between));
}

std::size_t columns_of(std::string_view text) noexcept {
    return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) {
        return (static_cast<unsigned char>(c) & 0xC0) != 0x80;
    }));
}

namespace {

// Where the word that begins at `from` ends.
std::size_t end_of_word(std::string_view text, std::size_t from, std::size_t room) {
    const std::size_t blank = std::min(text.find(' ', from), text.size());
    const std::size_t open = text.substr(0, blank).find('[', from);
    const std::size_t shut = open == text.npos ? text.npos : text.find(']', open);
    if (shut != text.npos && shut > blank) {
        const std::size_t end = std::min(text.find(' ', shut), text.size());
        if (columns_of(text.substr(from, end - from)) <= room) return end;
    }
    const std::string_view word = text.substr(from, blank - from);
    const std::size_t comma = columns_of(word) <= room ? word.npos : word.rfind(',', room - 1);
    return comma == word.npos ? blank : from + comma + 1;
}

// A line's beginning that stays as it is, and the column at which what does not fit goes on.
struct line_shape {
    std::size_t kept;
    std::size_t indent;
};

line_shape shape_of(std::string_view line) {
    constexpr std::size_t furthest = 24;
    const std::size_t first = std::min(line.find_first_not_of(' '), line.size());
    const std::size_t gap = line.find("  ", first);
    const std::size_t text = gap == line.npos ? line.npos : line.find_first_not_of(' ', gap);
    if (text == line.npos || text > furthest) return {first, first + 2};
    return {text, columns_of(line.substr(0, text))};
}

}  // namespace

void append_wrapped(std::string& out, std::string_view text, std::size_t at, std::size_t indent,
                    std::size_t width) {
    const std::size_t room = std::max(width, indent + 1) - indent;
    bool begun = false;
    while (!text.empty()) {
        const std::size_t word = std::min(text.find_first_not_of(' '), text.size());
        const std::size_t end = end_of_word(text, word, room);
        const std::size_t columns = columns_of(text.substr(0, end));
        if (std::exchange(begun, true) && at + columns > width) {
            out.append(1, '\n').append(indent, ' ').append(text.substr(word, end - word));
            at = indent + columns - word;
        } else {
            out.append(text.substr(0, end));
            at += columns;
        }
        text.remove_prefix(end);
    }
}

std::string wrapped(std::string_view text, std::size_t width) {
    std::string out;
    for (const std::string_view line : split(text, '\n')) {
        const auto [kept, indent] = shape_of(line);
        out.append(line.substr(0, kept));
        append_wrapped(out, line.substr(kept), columns_of(line.substr(0, kept)), indent, width);
        out += '\n';
    }
    out.pop_back();
    return out;
}

std::string shell_line(const std::vector<std::string>& words, bool (*is_plain)(char)) {
    std::string line;
    for (const std::string& word : words) {
        if (!line.empty()) line += ' ';
        if (!word.empty() && std::all_of(word.begin(), word.end(), is_plain)) {
            line += word;
            continue;
        }
        line += '\'';
        for (const char c : word)
            c == '\'' ? line.append("'\\''") : line.append(1, c);
        line += '\'';
    }
    return line;
}

std::size_t utf8_sequence(std::string_view text) noexcept {
    if (text.empty()) return 0;
    const unsigned char lead = octet(text, 0);
    if (lead < 0x80) return 1;
    for (const auto& form : utf8_forms) {
        if (lead < form.first_lead || lead > form.last_lead) continue;
        if (text.size() < form.length) return 0;
        if (octet(text, 1) < form.first_second || octet(text, 1) > form.last_second) return 0;
        for (std::size_t i = 2; i < form.length; ++i) {
            if (!is_continuation(text, i)) return 0;
        }
        return form.length;
    }
    return 0;
}

bool is_valid_utf8(std::string_view text) noexcept {
    while (!text.empty()) {
        const std::size_t length = utf8_sequence(text);
        if (length == 0) return false;
        text.remove_prefix(length);
    }
    return true;
}

std::string printable(std::string_view text, std::size_t limit) {
    std::string result;
    std::size_t room_for_dots = 0;  // how much of result may stay when dots must follow
    while (!text.empty()) {
        const std::size_t length = utf8_sequence(text);
        const std::string_view piece = text.substr(0, length == 0 ? 1 : length);
        const bool control = length == 1 && (octet(piece, 0) < 0x20 || octet(piece, 0) == 0x7f);
        const bool shown = length != 0 && !control && !deceives(piece);
        result += shown ? std::string(piece) : escaped(piece);
        if (result.size() > limit) {
            result.resize(room_for_dots);
            return result.append(std::min<std::size_t>(3, limit - room_for_dots), '.');
        }
        if (result.size() + 3 <= limit) room_for_dots = result.size();
        text.remove_prefix(piece.size());
    }
    return result;
}

std::string_view nearest(std::string_view mistyped, const std::vector<std::string>& known) {
    std::string_view best;
    std::size_t best_distance = std::max<std::size_t>(2, mistyped.size() / 3) + 1;
    for (const auto& name : known) {
        // The start of a long name is near, whatever it lacks: --dur is --duration.
        const bool is_start = mistyped.size() >= 4 && name.starts_with(mistyped);
        // What differs by so much in length alone need not be looked at: it may be a whole file.
        const auto [shorter, longer] = std::minmax({mistyped.size(), name.size()});
        if (!is_start && 2 * (longer - shorter) >= longer) continue;
        const std::size_t distance = is_start ? 1 : edit_distance(mistyped, name);
        // Where half of it would change it is another word.
        const bool is_other = 2 * distance >= std::max(mistyped.size(), name.size());
        if (distance >= best_distance || is_other) continue;
        best_distance = distance;
        best = name;
    }
    return best;
}

}  // namespace postal::base
