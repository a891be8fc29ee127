// SPDX-License-Identifier: GPL-3.0-or-later
#include "proto/smtp/server_arguments.hpp"

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <span>

#include "base/text.hpp"
#include "proto/smtp/esmtp_parameters.hpp"

namespace postal::proto {
namespace {

argument_refusal refused_argument(const server_reply& reply) {
    return {reply};
}

std::string_view without_blanks(std::string_view text) {
    while (!text.empty() && base::is_blank(text.front()))
        text.remove_prefix(1);
    while (!text.empty() && base::is_blank(text.back()))
        text.remove_suffix(1);
    return text;
}

// Takes the next word off the front; empty at the end.
std::string_view next_word(std::string_view& text) {
    text = without_blanks(text);
    std::size_t end = 0;
    while (end < text.size() && !base::is_blank(text[end]))
        ++end;
    const std::string_view word = text.substr(0, end);
    text.remove_prefix(end);
    return word;
}

// 1 to 20 digits (RFC 1870 3, RFC 3030 2); a number beyond 64 bits is the largest there is, and
// `whole` says so.
bool parse_octets(std::string_view text, std::uint64_t& value, bool* whole = nullptr) {
    if (text.empty() || text.size() > 20) return false;
    value = 0;
    for (const char c : text) {
        if (!base::is_digit(c)) return false;
        const auto digit = static_cast<std::uint64_t>(c - '0');
        constexpr auto most = std::numeric_limits<std::uint64_t>::max();
        const bool fits = value <= (most - digit) / 10;
        value = fits ? value * 10 + digit : most;
        if (whole != nullptr) *whole = *whole && fits;
    }
    return true;
}

// "FROM:" or "TO:" off the front.
bool take_keyword(std::string_view& text, std::string_view keyword) {
    text = without_blanks(text);
    if (text.size() < keyword.size() || !base::iequals(text.substr(0, keyword.size()), keyword)) {
        return false;
    }
    text = without_blanks(text.substr(keyword.size()));
    return true;
}

// The path off the front; what follows must be the end or a blank.
path_result take_path(std::string_view& text, path_rules rules) {
    path_result result = parse_path(text, rules);
    if (!result.ok()) return result;
    text.remove_prefix(result.value.length);
    if (!text.empty() && !base::is_blank(text.front())) {
        return {.value = {}, .refusal = "A blank must follow the address"};
    }
    return result;
}

struct parameter_row {
    std::string_view keyword;
    parameter_set in;
    // Gets what stands behind '=', or an empty view; false when it has no such value.
    bool (*take)(std::string_view value, mail_arguments& into);
};

template <bool (*Is)(std::string_view) noexcept>
bool checked(std::string_view value, mail_arguments&) {
    return Is(value);
}

constexpr parameter_row parameters_of_mail[] = {
    {"SIZE", parameter_set::basic,
     [](std::string_view value, mail_arguments& into) { return parse_octets(value, into.size); }},
    {"BODY", parameter_set::basic,
     [](std::string_view value, mail_arguments& into) {
         into.eight_bit = base::iequals(value, "8BITMIME");
         return into.eight_bit || base::iequals(value, "7BIT");
     }},
    {"SMTPUTF8", parameter_set::basic,
     [](std::string_view value, mail_arguments& into) {
         into.smtputf8 = true;
         return value.empty();
     }},
    {"AUTH", parameter_set::with_auth, checked<is_auth_value>},
    {"RET", parameter_set::with_delivery, checked<is_ret_value>},
    {"ENVID", parameter_set::with_delivery, checked<is_envid_value>},
    {"BY", parameter_set::with_delivery, checked<is_by_value>},
    {"MT-PRIORITY", parameter_set::with_delivery, checked<is_mt_priority_value>},
};

constexpr parameter_row parameters_of_rcpt[] = {
    {"NOTIFY", parameter_set::with_delivery, checked<is_notify_value>},
    {"ORCPT", parameter_set::with_delivery, checked<is_orcpt_value>},
};

// Every word behind the path; the reply of the first that is wrong, code 0 when none is.
server_reply take_parameters(std::string_view text, std::span<const parameter_row> rows,
                             parameter_set known, mail_arguments& into) {
    unsigned seen = 0;
    for (std::string_view word = next_word(text); !word.empty(); word = next_word(text)) {
        const std::size_t equals = word.find('=');
        const std::string_view keyword = word.substr(0, equals);
        const bool has_value = equals != std::string_view::npos;
        const std::string_view value = has_value ? word.substr(equals + 1) : std::string_view{};
        if (has_value && value.empty()) return replies::parameter_value;
        const auto found = std::find_if(rows.begin(), rows.end(), [&](const parameter_row& row) {
            return (known | row.in) == known && base::iequals(keyword, row.keyword);
        });
        if (found == rows.end()) return replies::parameter_unknown;
        const unsigned bit = 1U << (found - rows.begin());
        if ((seen & bit) != 0) return replies::parameter_twice;
        seen |= bit;
        if (!found->take(value, into)) return replies::parameter_value;
    }
    return {};
}

}  // namespace

void throw_exception_from_error(const argument_refusal&, const boost::source_location&) {
    std::abort();
}

parsed_argument<mail_arguments> parse_mail(std::string_view text, bare_local_part bare,
                                           parameter_set known) {
    if (!take_keyword(text, "FROM:")) return refused_argument(replies::mail_syntax);
    const path_result path = take_path(text, {.role = path_role::reverse, .bare = bare});
    if (!path.ok()) return refused_argument({501, "5.1.7", path.refusal});
    mail_arguments result;
    result.reverse_path = path.value;
    const server_reply refusal = take_parameters(text, parameters_of_mail, known, result);
    if (refusal.code != 0) return refused_argument(refusal);
    if (path.value.non_ascii && !result.smtputf8) return refused_argument(replies::needs_smtputf8);
    return result;
}

parsed_argument<path> parse_rcpt(std::string_view text, bare_local_part bare, utf8_addresses utf8,
                                 parameter_set known) {
    if (!take_keyword(text, "TO:")) return refused_argument(replies::rcpt_syntax);
    const path_result path = take_path(text, {.role = path_role::forward, .bare = bare});
    if (!path.ok()) return refused_argument({501, "5.1.3", path.refusal});
    mail_arguments none;
    const server_reply refusal = take_parameters(text, parameters_of_rcpt, known, none);
    if (refusal.code != 0) return refused_argument(refusal);
    if (path.value.non_ascii && utf8 == utf8_addresses::refused)
        return refused_argument(replies::needs_smtputf8);
    return path.value;
}

parsed_argument<chunk_arguments> parse_bdat(std::string_view text) {
    chunk_arguments result;
    bool whole = true;
    const bool number = parse_octets(next_word(text), result.size, &whole);
    if (!number || !whole) return refused_argument(replies::bdat_syntax);
    const std::string_view word = next_word(text);
    result.last = base::iequals(word, "LAST");
    if ((!word.empty() && !result.last) || !next_word(text).empty())
        return refused_argument(replies::bdat_syntax);
    return result;
}

}  // namespace postal::proto
