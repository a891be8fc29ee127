// SPDX-License-Identifier: GPL-3.0-or-later
#include "proto/smtp/reply_parser.hpp"

#include <algorithm>

#include "base/text.hpp"

namespace postal::proto {

namespace {

// The code of a well-formed reply line, or 0. RFC 5321 4.2: the first digit is 2 to 5, the second 0
// to 5; the second is not checked, because codes of other protocols' extensions are harmless here.
int code_of(std::string_view line) noexcept {
    if (line.size() < 3 || line[0] < '2' || line[0] > '5') return 0;
    if (!base::is_digit(line[1]) || !base::is_digit(line[2])) return 0;
    if (line.size() > 3 && line[3] != ' ' && line[3] != '-') return 0;
    return (line[0] - '0') * 100 + (line[1] - '0') * 10 + (line[2] - '0');
}

std::size_t digits_at(std::string_view text, std::size_t from) noexcept {
    std::size_t count = 0;
    while (from + count < text.size() && count < 3 && base::is_digit(text[from + count])) {
        ++count;
    }
    return count;
}

}  // namespace

void reply_parser::reset() noexcept {
    unfinished_.clear();
    text_ = {};
    problem_ = {};
    lines_ = 0;
    code_ = 0;
    in_reply_ = false;
    line_was_kept_ = false;
}

reply_event reply_parser::feed(std::string_view& bytes) {
    if (line_was_kept_) {
        unfinished_.clear();
        line_was_kept_ = false;
    }
    const std::size_t end = bytes.find('\n');
    if (end == std::string_view::npos) {
        if (unfinished_.size() + bytes.size() > max_line) return refuse("line_too_long", bytes);
        unfinished_.append(bytes);
        bytes = {};
        return reply_event::need_more;
    }
    std::string_view line = bytes.substr(0, end);
    bytes.remove_prefix(end + 1);
    if (unfinished_.size() + line.size() > max_line) return refuse("line_too_long", line);
    if (!unfinished_.empty()) {
        unfinished_.append(line);
        line = unfinished_;
        line_was_kept_ = true;
    }
    if (line.ends_with('\r')) line.remove_suffix(1);
    return take_line(line);
}

reply_event reply_parser::take_line(std::string_view line) noexcept {
    const int code = code_of(line);
    if (code == 0) return refuse("garbage", line);
    if (in_reply_ && code != code_) return refuse("mixed_codes", line);
    lines_ = in_reply_ ? lines_ + 1 : 1;
    if (lines_ > max_lines) return refuse("too_many_lines", line);
    code_ = code;
    text_ = line.substr(std::min<std::size_t>(4, line.size()));
    in_reply_ = line.size() > 3 && line[3] == '-';
    return in_reply_ ? reply_event::line : reply_event::reply;
}

reply_event reply_parser::refuse(base::error_name problem, std::string_view line) noexcept {
    problem_ = problem;
    text_ = line;
    return reply_event::malformed;
}

// class "." subject "." detail, as RFC 3463 2 has it.
std::string_view enhanced_status(std::string_view text) noexcept {
    if (text.size() < 5 || (text[0] != '2' && text[0] != '4' && text[0] != '5')) return {};
    if (text[1] != '.') return {};
    const std::size_t subject = digits_at(text, 2);
    const std::size_t dot = 2 + subject;
    if (subject == 0 || dot >= text.size() || text[dot] != '.') return {};
    const std::size_t detail = digits_at(text, dot + 1);
    const std::size_t end = dot + 1 + detail;
    if (detail == 0 || (end < text.size() && text[end] != ' ')) return {};
    return text.substr(0, end);
}

}  // namespace postal::proto
