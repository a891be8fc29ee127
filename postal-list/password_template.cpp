// SPDX-License-Identifier: GPL-3.0-or-later
#include "postal-list/password_template.hpp"

#include "base/text.hpp"

namespace postal::list {
namespace {

using base::expected;

constexpr std::string_view known = "known: %address%, %user%, %domain%, %number%, and %% for %";

}  // namespace

expected<password_template::kind> password_template::find_kind(std::string_view name,
                                                               std::size_t column) {
    if (name == "address") return kind::address;
    if (name == "user") return kind::user;
    if (name == "domain") return kind::domain;
    if (name == "number") return kind::number;
    return base::fail("column {}: placeholder %{}% is unknown; {}", column,
                      base::printable(name, 40), known);
}

expected<password_template> password_template::parse(std::string_view text) {
    password_template made;
    const auto add = [&](char octet) {
        if (made.pieces_.empty() || made.pieces_.back().what != kind::literal)
            made.pieces_.emplace_back();
        made.pieces_.back().text += octet;
    };
    for (std::size_t at = 0; at < text.size(); ++at) {
        const char octet = text[at];
        if (static_cast<unsigned char>(octet) <= ' ' || octet == 127) {
            return base::fail("column {}: a password has no blank or control character", at + 1);
        }
        if (octet != '%') {
            add(octet);
            continue;
        }
        const std::size_t end = text.find('%', at + 1);
        if (end == std::string_view::npos) {
            return base::fail("column {}: the placeholder is not finished; {}", at + 1, known);
        }
        if (end == at + 1) {
            add('%');
        } else {
            const auto what = find_kind(text.substr(at + 1, end - at - 1), at + 1);
            if (!what) return what.error();
            made.pieces_.push_back({*what, {}});
        }
        at = end;
    }
    return made;
}

std::string password_template::expand(std::string_view address, std::uint64_t number) const {
    const std::size_t at = address.rfind('@');
    std::string password;
    for (const piece& each : pieces_) {
        switch (each.what) {
            case kind::literal:
                password += each.text;
                break;
            case kind::address:
                password += address;
                break;
            case kind::user:
                password += address.substr(0, at);
                break;
            case kind::domain:
                if (at != std::string_view::npos) password += address.substr(at + 1);
                break;
            case kind::number:
                password += std::to_string(number);
                break;
        }
    }
    return password;
}

}  // namespace postal::list
