// SPDX-License-Identifier: GPL-3.0-or-later
// See given_fields.hpp.
#include "mail/given_fields.hpp"

#include "base/text.hpp"

#include <algorithm>
#include <array>

namespace postal::mail {
namespace {

constexpr std::size_t longest_line = 998;
constexpr std::size_t most_shown = 60;

struct own_field {
    std::string_view name;
    std::string_view instead;
};
constexpr std::array own_fields{own_field{"From", "give --from"}, own_field{"To", "give --to"},
                                own_field{"Subject", "give --subject"},
                                own_field{"Date", "give another field"},
                                own_field{"Message-ID", "give --helo for its right side"}};
constexpr std::string_view own_prefix = "X-Postal";

base::expected<void> check_text(std::string_view line) {
    for (const char c : line) {
        if (static_cast<unsigned char>(c) > 127)
            return base::fail(
                "\"{}\" is not ASCII; write other characters as an encoded word (RFC 2047), as in "
                "=?utf-8?Q?caf=C3=A9?=",
                base::printable(line, most_shown));
        if ((c < ' ' && c != '\t') || c == 127)
            return base::fail("control character 0x{:02x}; a field is one line of text",
                              static_cast<unsigned char>(c));
    }
    return {};
}

base::expected<void> check_length(std::size_t octets) {
    if (octets <= longest_line) return {};
    return base::fail("{} octets; a line has at most {} (RFC 5322 2.1.1)", octets, longest_line);
}

base::expected<void> check_name(std::string_view name) {
    const bool fits = !name.empty() && name.front() != '.' &&
                      std::all_of(name.begin(), name.end(), [](char c) { return c > ' '; });
    if (!fits)
        return base::fail(
            "\"{}\" is no name of a field; want printable ASCII without blanks, a dot at the "
            "beginning and colons",
            base::printable(name, most_shown));
    for (const own_field& one : own_fields)
        if (base::iequals(name, one.name))
            return base::fail("postal writes {} itself; {}", one.name, one.instead);
    if (base::iequals(name.substr(0, own_prefix.size()), own_prefix))
        return base::fail("{}: names with {} are postal's own; give another",
                          base::printable(name, most_shown), own_prefix);
    return {};
}

}  // namespace

base::expected<std::string> parse_header_field(std::string_view given) {
    const std::size_t colon = given.find(':');
    if (colon == std::string_view::npos)
        return base::fail("\"{}\" has no colon; want NAME: VALUE",
                          base::printable(given, most_shown));
    auto fits = check_text(given);
    if (!fits) return fits.error();
    fits = check_name(given.substr(0, colon));
    if (!fits) return fits.error();
    std::string line(given.substr(0, colon + 1));
    if (const auto value = base::trim(given.substr(colon + 1)); !value.empty())
        line.append(" ").append(value);
    fits = check_length(line.size());
    if (!fits) return fits.error();
    return {boost::system::in_place_value, std::move(line)};
}

base::expected<std::string> parse_subject(std::string_view given) {
    constexpr std::string_view longest_start = "Subject:    ";  // with -b nonetscape
    auto fits = check_text(given);
    if (!fits) return fits.error();
    const std::string_view value = base::trim(given);
    if (value.empty()) return base::fail("is empty; give a text");
    fits = check_length(longest_start.size() + value.size());
    if (!fits) return fits.error();
    return {boost::system::in_place_value, std::string(value)};
}

bool describes_body(const std::vector<std::string>& lines) noexcept {
    return std::any_of(lines.begin(), lines.end(), [](std::string_view line) {
        const std::string_view name = line.substr(0, line.find(':'));
        return base::iequals(name, "MIME-Version") || base::iequals(name.substr(0, 8), "Content-");
    });
}

}  // namespace postal::mail
