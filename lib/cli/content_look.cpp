// SPDX-License-Identifier: GPL-3.0-or-later
#include "cli/content_look.hpp"

#include "base/text.hpp"

#include <algorithm>

namespace postal::cli {

namespace {

std::string_view first_line(std::string_view text) {
    return text.substr(0, std::min(text.find_first_of("\r\n"), text.size()));
}

bool begins_tag(std::string_view text) {
    return base::iequals(text.substr(0, 9), "<!doctype") ||
           base::iequals(text.substr(0, 5), "<html");
}

// A name of letters, digits and hyphens, and a colon (RFC 5322, section 2.2); behind that a blank
// or the end of the line, as mail has it and /etc/passwd has not.
bool is_mail(std::string_view text) {
    const std::string_view line = first_line(text);
    const std::string_view name = line.substr(0, line.find(':'));
    const std::string_view body = line.substr(std::min(name.size() + 1, line.size()));
    return name.size() < line.size() && !name.empty() &&
           (body.empty() || body[0] == ' ' || body[0] == '\t') &&
           std::all_of(name.begin(), name.end(), [](char c) {
               const char lower = base::ascii_lower(c);
               return (lower >= 'a' && lower <= 'z') || base::is_digit(c) || c == '-';
           });
}

// An address, and no more than a password and a behaviour behind it.
bool is_user_list(std::string_view text) {
    while (text.starts_with('#') || text.starts_with('\n') || text.starts_with('\r')) {
        const std::size_t end = text.find('\n');
        if (end == text.npos) return false;
        text.remove_prefix(end + 1);
    }
    const std::string_view line = first_line(text);
    const std::string_view address = line.substr(0, line.find_first_of(" \t"));
    const std::size_t at = address.find('@');
    return at != address.npos && at > 0 && at + 1 < address.size() &&
           address.find_first_of("<>\"{}=:") == address.npos;
}

bool is_binary(std::string_view text) {
    return text.find('\0') != text.npos;
}

struct look {
    std::string_view name;
    bool (*fits)(std::string_view text);
};

// The first that fits.
constexpr look looks[] = {
    {"a SQLite database",
     [](std::string_view text) { return text.starts_with("SQLite format 3"); }},
    {"a program",
     [](std::string_view text) {
         return text.starts_with(
             "\x7f"
             "ELF");
     }},
    {"binary data", is_binary},
    {"a run record",
     [](std::string_view text) {
         return text.starts_with('{') && text.find("\"postal-record/") != text.npos;
     }},
    {"JSON", [](std::string_view text) { return text.starts_with('{') || text.starts_with('['); }},
    {"HTML", begins_tag},
    {"a script", [](std::string_view text) { return text.starts_with("#!"); }},
    {"a key or a certificate",
     [](std::string_view text) { return text.starts_with("-----BEGIN "); }},
    {"a mailbox", [](std::string_view text) { return text.starts_with("From "); }},
    {"a user list", is_user_list},
    {"a mail", is_mail},
};

}  // namespace

std::string_view content_look(std::string_view beginning) {
    for (const look& one : looks)
        if (one.fits(beginning)) return one.name;
    return "text";
}

}  // namespace postal::cli
