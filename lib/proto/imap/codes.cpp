// SPDX-License-Identifier: GPL-3.0-or-later
#include "proto/imap/codes.hpp"

#include <algorithm>
#include <charconv>

#include "base/text.hpp"

namespace postal::proto {
namespace {

template <class Value>
struct word_row {
    std::string_view word;
    Value is;
};

template <class Value, std::size_t Size>
Value find(const word_row<Value> (&rows)[Size], std::string_view word, Value otherwise) noexcept {
    for (const word_row<Value>& one : rows) {
        if (base::iequals(one.word, word)) return one.is;
    }
    return otherwise;
}

constexpr word_row<imap_condition> conditions[] = {
    {"OK", imap_condition::ok},           {"NO", imap_condition::no},
    {"BAD", imap_condition::bad},         {"BYE", imap_condition::bye},
    {"PREAUTH", imap_condition::preauth},
};

constexpr word_row<imap_code> codes[] = {
    {"APPENDUID", imap_code::append_uid},
    {"CAPABILITY", imap_code::capability},
    {"CLOSED", imap_code::closed},
    {"HIGHESTMODSEQ", imap_code::highest_modseq},
    {"NOMODSEQ", imap_code::no_modseq},
    {"NOTIFICATIONOVERFLOW", imap_code::notification_overflow},
    {"OVERQUOTA", imap_code::over_quota},
    {"PERMANENTFLAGS", imap_code::permanent_flags},
    {"TRYCREATE", imap_code::try_create},
    {"UIDNEXT", imap_code::uid_next},
    {"UIDVALIDITY", imap_code::uid_validity},
};

// A number of RFC 3501's nz-number at the front, taken away from it; 0 when there is none.
std::uint32_t take_number(std::string_view& text) noexcept {
    std::uint32_t number = 0;
    const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
    if (read.ec != std::errc{}) return 0;
    text.remove_prefix(static_cast<std::size_t>(read.ptr - text.data()));
    return number;
}

}  // namespace

imap_condition imap_condition_of(std::string_view word) noexcept {
    return find(conditions, word, imap_condition::none);
}

imap_response_text read_imap_text(std::string_view line) noexcept {
    const std::size_t close = line.find(']');
    if (!line.starts_with('[') || close == std::string_view::npos) return {.text = line};
    imap_response_text read{.code = imap_code::other, .text = line.substr(close + 1)};
    if (read.text.starts_with(' ')) read.text.remove_prefix(1);
    const std::string_view inside = line.substr(1, close - 1);
    const std::size_t blank = std::min(inside.find(' '), inside.size());
    read.code = find(codes, inside.substr(0, blank), imap_code::other);
    read.arguments = inside.substr(std::min(blank + 1, inside.size()));
    const char* begin = read.arguments.data();
    std::from_chars(begin, begin + read.arguments.size(), read.number);
    return read;
}

bool imap_set_reader::next(imap_range& range) noexcept {
    if (left_.empty() || !good_) return false;
    imap_range read;
    read.first = read.last = take_number(left_);
    if (left_.starts_with(':')) {
        left_.remove_prefix(1);
        read.last = take_number(left_);
    }
    good_ = read.first != 0 && read.last != 0;
    if (!left_.empty()) good_ = good_ && left_[0] == ',' && left_.size() > 1;
    if (!good_) return false;
    if (!left_.empty()) left_.remove_prefix(1);
    // RFC 3501 9, seq-range: the order of the two is of no meaning.
    range = {std::min(read.first, read.last), std::max(read.first, read.last)};
    return true;
}

}  // namespace postal::proto
