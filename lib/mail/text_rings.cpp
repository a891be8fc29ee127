// SPDX-License-Identifier: GPL-3.0-or-later
// See text_rings.hpp.
#include "mail/text_rings.hpp"

#include "mail/transfer_encoding.hpp"
#include "proto/base64.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>

namespace postal::mail {
namespace {

constexpr std::uint64_t rings_salt = 0x6d756c746970;
constexpr std::size_t text_octets = std::size_t{4} << 10U;
constexpr std::size_t html_octets = std::size_t{6} << 10U;
constexpr std::size_t noise_octets = std::size_t{128} << 10U;
// What ends a text: of the lines before it nothing is known, so that each of its ends is a line.
constexpr std::string_view last_line =
    "with this line the text is as long as it has to be and so ends what it says\r\n";
static_assert(last_line.size() == base64_ring::line_octets - 1);

bool may_begin(std::string_view line) noexcept {
    return !line.starts_with('.') && !line.starts_with('-') && !line.starts_with("From ");
}

void put_last_lines(std::uint64_t octets, body_parts& into) {
    while (octets > last_line.size()) {
        const std::size_t one = last_line.size() - (octets == last_line.size() + 1 ? 1 : 0);
        into.put(last_line.substr(last_line.size() - one));
        octets -= one;
    }
    into.put(last_line.substr(last_line.size() - static_cast<std::size_t>(octets)));
}

void fill_plain(const word_source& words, base::random_source& random, unit_ring& into) {
    std::string line;
    while (into.octets() < text_octets) {
        line.clear();
        words.add_words(random, 40 + random.below(30), line);
        into.add(to_quoted_printable(line + "\r\n"));
    }
}

// Each line of a paragraph but the last ends in a blank (RFC 3676 4.2).
void fill_flowed(const word_source& words, base::random_source& random, unit_ring& into) {
    std::string paragraph;
    while (into.octets() < text_octets) {
        paragraph.clear();
        for (std::uint64_t soft = random.below(3); soft > 0; --soft) {
            words.add_words(random, 70, paragraph);
            paragraph += " \r\n";
        }
        words.add_words(random, 20 + random.below(50), paragraph);
        into.add(paragraph + "\r\n");
    }
}

void fill_html(const word_source& words, base::random_source& random, unit_ring& into) {
    struct element {
        std::string_view begin, end;
    };
    constexpr std::array<element, 6> elements{
        {{"<p>", "</p>"},
         {"<p style=\"margin:0 0 1em\">", "</p>"},
         {"<div><b>", "</b></div>"},
         {"<ul><li>", "</li></ul>"},
         {"<blockquote>", "</blockquote>"},
         {"<p><a href=\"https://www.example.com/?q=1&amp;r=2\">", "</a></p>"}}};
    std::string line;
    while (into.octets() < html_octets) {
        const element& around = elements[random.below(elements.size())];
        line = around.begin;
        words.add_words(random, 30 + random.below(50), line);
        line += around.end;
        into.add(to_quoted_printable(line + "\r\n"));
    }
}

void fill_coded(const word_source& words, base::random_source& random, base64_ring& into) {
    constexpr std::size_t longest = base64_ring::decoded_octets - 2;
    std::string line;
    while (into.octets() < text_octets) {
        line.clear();
        words.add_words(random, longest, line);
        line.resize(longest, '.');
        into.add(line + "\r\n");
    }
}

void fill_table(const std::vector<word_source>& all, base::random_source& random, unit_ring& into) {
    std::string row;
    while (into.octets() < text_octets) {
        row = fmt::format("{};\"", random.below(100'000));
        all[random.below(all.size())].add_words(random, 20, row);
        row += fmt::format("\";{};{:02}\r\n", random.below(10'000), random.below(100));
        into.add(to_quoted_printable(row));
    }
}

void fill_noise(base::random_source& random, base64_ring& into) {
    std::string line(base64_ring::decoded_octets, '\0');
    while (into.octets() < noise_octets) {
        for (char& octet : line)
            octet = static_cast<char>(random.next() >> 56U);
        into.add(line);
    }
}

}  // namespace

bool unit_ring::add(std::string_view unit) {
    assert(unit.ends_with("\r\n"));
    for (std::size_t at = 0; at < unit.size(); at = unit.find("\r\n", at) + 2) {
        if (!may_begin(unit.substr(at))) return false;
    }
    text_ += unit;
    ends_.push_back(text_.size());
    return true;
}

void unit_ring::cut(base::random_source& random, std::uint64_t octets, body_parts& into) const {
    assert(octets >= least_octets);
    const std::size_t unit = random.below(ends_.size());
    std::size_t begin = unit == 0 ? 0 : ends_[unit - 1];
    std::uint64_t left = octets - least_octets;  // the rest may not be one octet
    while (left >= text_.size() - begin) {
        into.put(std::string_view(text_).substr(begin));
        left -= text_.size() - begin;
        begin = 0;
    }
    const auto behind = std::upper_bound(ends_.begin(), ends_.end(), begin + left);
    const std::size_t end = behind == ends_.begin() ? 0 : std::max(begin, *(behind - 1));
    into.put(std::string_view(text_).substr(begin, end - begin));
    put_last_lines(begin + left - end + least_octets, into);
}

void base64_ring::add(std::string_view decoded) {
    assert(decoded.size() == decoded_octets);
    text_ += proto::to_base64(decoded);
    text_ += "\r\n";
}

void base64_ring::cut(base::random_source& random, std::uint64_t lines, body_parts& into) const {
    std::size_t begin = random.below(text_.size() / line_octets) * line_octets;
    while (lines > (text_.size() - begin) / line_octets) {
        into.put(std::string_view(text_).substr(begin));
        lines -= (text_.size() - begin) / line_octets;
        begin = 0;
    }
    into.put(std::string_view(text_).substr(begin, static_cast<std::size_t>(lines) * line_octets));
}

text_rings::text_rings(std::uint64_t seed) {
    base::random_source random(base::mix(seed, rings_salt, 1));
    std::vector<word_source> all;
    for (const language& one : languages())
        all.emplace_back(one);
    for (std::size_t i = 0; i < language_count; ++i) {
        fill_plain(all[i], random, in[i].plain);
        fill_html(all[i], random, in[i].html);
        fill_coded(all[i], random, in[i].coded);
    }
    fill_flowed(all[0], random, flowed);
    fill_table(all, random, table);
    fill_noise(random, noise);
}

}  // namespace postal::mail
