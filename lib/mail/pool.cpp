// SPDX-License-Identifier: GPL-3.0-or-later
// See pool.hpp. Each kind of line has one function that writes one line without its CRLF; lines of
// all kinds but long_lines have at most 75 octets, so that the up to 3 octets that cut() adds keep
// them within 78.
#include "mail/pool.hpp"

#include "base/release.hpp"
#include "base/text.hpp"
#include "mail/languages.hpp"

#include <algorithm>
#include <array>

namespace postal::mail {
namespace {

constexpr std::size_t pool_octets = std::size_t{256} << 10U;
constexpr std::size_t most_filled = 75;
constexpr std::uint64_t layout = 1;             // part of the seed: another layout, another text
constexpr std::string_view filler = "zzz\r\n";  // what cut() takes its tails from
constexpr std::string_view new_line = "\r\nzz\r\n";  // the same for lines that cannot grow

constexpr std::string_view mime_fields =
    "MIME-Version: 1.0\r\nContent-Type: text/plain; charset=utf-8\r\n"
    "Content-Transfer-Encoding: 8bit\r\n";

using base::random_source;

bool is_continuation(char c) noexcept {
    return (static_cast<unsigned char>(c) & 0xc0U) == 0x80U;
}

// Random printable ASCII; begins with a letter (no dot, no blank, no "From "), ends with no blank.
void add_printable(random_source& random, std::size_t length, std::string& line) {
    if (length == 0) return;
    line += static_cast<char>('a' + random.below(26));
    for (std::size_t i = 1; i < length; ++i) {
        const bool blank = i + 1 < length && random.below(7) == 0;
        line += blank ? ' ' : static_cast<char>('!' + random.below(94));
    }
}

void ascii_line(random_source& random, std::string& line) {
    add_printable(random, 20 + random.below(most_filled - 20 + 1), line);
}

struct script {
    std::uint32_t first;
    std::uint32_t count;
};
// Latin, Latin-1 letters, Greek, Cyrillic, Hiragana, CJK, emoji: one to four octets a character.
constexpr std::array<script, 7> scripts{
    {{'a', 26}, {0xe0, 23}, {0x3b1, 25}, {0x430, 32}, {0x3042, 80}, {0x4e00, 5000}, {0x1f600, 80}}};

void utf8_line(random_source& random, std::string& line) {
    constexpr std::size_t longest_word = 9 * 4;
    while (line.size() + 1 + longest_word <= most_filled) {
        if (!line.empty()) line += ' ';
        const script& chosen = scripts[random.below(scripts.size())];
        for (std::uint64_t letters = 1 + random.below(9); letters > 0; --letters) {
            append_utf8(chosen.first + static_cast<std::uint32_t>(random.below(chosen.count)),
                        line);
        }
    }
}

void dots_line(random_source& random, std::string& line) {
    constexpr std::array<std::string_view, 8> starts{".", "..", ".", "...", ". ", "..", ".", ""};
    constexpr std::uint64_t only_dots = 3;  // so many of 8 lines are nothing but the start
    line += starts[random.below(starts.size())];
    if (line.empty() || line == ". " || random.below(8) >= only_dots) {
        add_printable(random, 1 + random.below(60), line);
    }
}

void long_lines_line(random_source& random, std::string& line) {
    add_printable(random, long_line, line);
}

void crlf_edge_line(random_source& random, std::string& line) {
    constexpr std::array<std::string_view, 6> blanks{"", " ", "\t", "   ", " \t ", "\t\t"};
    const std::string_view chosen = blanks[random.below(blanks.size())];
    switch (random.below(4)) {
        case 0:  // empty or only blanks
            line += chosen;
            break;
        case 1:  // blanks in front
            line += chosen;
            add_printable(random, 1 + random.below(60), line);
            break;
        case 2:  // blanks behind
            add_printable(random, 1 + random.below(60), line);
            line += chosen;
            break;
        default:
            ascii_line(random, line);
    }
}

using line_maker = void (*)(random_source&, std::string&);
constexpr std::array<line_maker, line_kinds> makers{ascii_line, utf8_line, dots_line,
                                                    long_lines_line, crlf_edge_line};

}  // namespace

pool::pool(std::uint64_t seed, body_kind kind)
    : kind_(kind), fields_(kind == body_kind::eight_bit ? mime_fields : std::string_view{}) {
    const auto index = static_cast<std::size_t>(kind) % line_kinds;
    random_source random(base::mix(seed, index, layout));
    raw_.reserve(pool_octets + long_line + 2);
    std::string line;
    while (raw_.size() < pool_octets) {
        line.clear();
        makers[index](random, line);
        add_line(line);
    }
    if (kind_ != body_kind::dots) base::release(stuffed_);
}

void pool::add_line(std::string_view line) {
    lines_.push_back({raw_.size(), kind_ == body_kind::dots ? stuffed_.size() : raw_.size()});
    raw_ += line;
    raw_ += "\r\n";
    if (kind_ != body_kind::dots) return;
    if (line.starts_with('.')) stuffed_ += '.';
    stuffed_ += line;
    stuffed_ += "\r\n";
}

void pool::cut(base::random_source& random, std::uint64_t octets, body_parts& into) const {
    into.final_newline = true;
    into.fields = fields_;
    if (octets == 0) return;
    if (octets == 1 || (kind_ == body_kind::crlf_edge && random.below(4) == 0)) {
        into.final_newline = false;
    }
    std::size_t begin = lines_[random.below(lines_.size())].raw;
    std::uint64_t left = octets - (into.final_newline ? 2 : 0);
    while (left > raw_.size() - begin) {
        add(begin, raw_.size(), into);
        left -= raw_.size() - begin;
        begin = 0;
    }
    const std::size_t end = begin + static_cast<std::size_t>(left);
    const std::size_t safe = safe_end(begin, end);
    add(begin, safe, into);
    add_tail(end - safe, into);
}

// Where the text may end, at or before end, so that what add_tail() puts behind it makes a whole
// line: not within CRLF or UTF-8, and not behind CRLF, which would leave an empty last line.
std::size_t pool::safe_end(std::size_t begin, std::size_t end) const noexcept {
    if (end == begin) return end;
    const bool may_grow = kind_ != body_kind::long_lines;
    if (raw_[end - 1] == '\n') return end - (may_grow ? 2 : 4);
    if (raw_[end - 1] == '\r') return end - (may_grow ? 1 : 3);
    while (end > begin && end < raw_.size() && is_continuation(raw_[end]))
        --end;
    return end;
}

// As many octets as safe_end() gave up, and the final CRLF. A full line of long_lines cannot take
// them: there 3 are "\r\nz" and 4 "\r\nzz".
void pool::add_tail(std::size_t missing, body_parts& into) const {
    const std::string_view whole =
        kind_ == body_kind::long_lines && missing > 0 ? new_line : filler;
    std::string_view tail = whole;
    if (whole.data() == filler.data()) {
        tail.remove_prefix(3 - missing);
    } else if (missing == 3) {
        tail = "\r\nz\r\n";
    }
    if (!into.final_newline) tail.remove_suffix(2);
    if (!tail.empty()) into.raw.push_back(tail);
    const std::string_view stuffed_tail = into.final_newline ? tail : filler.substr(3 - missing);
    if (!stuffed_tail.empty()) into.stuffed.push_back(stuffed_tail);
}

void pool::add(std::size_t begin, std::size_t end, body_parts& into) const {
    if (begin == end) return;
    const std::string_view slice(raw_.data() + begin, end - begin);
    into.raw.push_back(slice);
    if (stuffed_.empty()) {
        into.stuffed.push_back(slice);
        return;
    }
    const std::size_t from = stuffed_at(begin);
    into.stuffed.emplace_back(stuffed_.data() + from, stuffed_at(end) - from);
}

std::size_t pool::stuffed_at(std::size_t raw_offset) const noexcept {
    if (raw_offset == raw_.size()) return stuffed_.size();
    const auto behind = std::upper_bound(
        lines_.begin(), lines_.end(), raw_offset,
        [](std::size_t offset, const position& line) { return offset < line.raw; });
    const position& line = *(behind - 1);
    const std::size_t column = raw_offset - line.raw;
    return line.stuffed + column + (column > 0 && raw_[line.raw] == '.' ? 1 : 0);
}

std::string dot_stuffed(std::string_view text) {
    std::string stuffed;
    stuffed.reserve(text.size() + text.size() / 64 + 2);
    bool line_start = true;
    for (const char c : text) {
        if (line_start && c == '.') stuffed += '.';
        stuffed += c;
        line_start = c == '\n';
    }
    if (!text.empty() && !text.ends_with("\r\n")) stuffed += "\r\n";
    return stuffed;
}

}  // namespace postal::mail
