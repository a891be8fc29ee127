// SPDX-License-Identifier: GPL-3.0-or-later
// See difference.hpp.
#include "mail/difference.hpp"

#include "base/text.hpp"
#include "mail/body_difference.hpp"
#include "mail/canonical.hpp"
#include "mail/header_difference.hpp"
#include "mail/transfer_encoding.hpp"

#include <algorithm>

namespace postal::mail {
namespace {

// What is at the end of each line, when that is not CRLF.
std::string_view line_ends_of(std::string_view section) noexcept {
    std::size_t lf = 0;
    std::size_t cr_cr_lf = 0;
    std::size_t all = 0;
    for (std::size_t at = 0; (at = section.find('\n', at)) != std::string_view::npos; ++at, ++all) {
        const std::string_view before = section.substr(0, at);
        lf += before.ends_with('\r') ? 0 : 1;
        cr_cr_lf += before.ends_with("\r\r") ? 1 : 0;
    }
    if (all > 0 && lf == all) return "LF";
    if (all > 0 && cr_cr_lf == all) return "CRCRLF";
    return {};
}

// Fills in how the body differs; the kind stays none when that is its encoding alone.
void compare_body(std::string_view section, std::string_view made, std::string_view body,
                  const identity& id, difference& into) {
    std::string decoded;
    const std::string_view encoding = find_value(section, "Content-Transfer-Encoding");
    for (const auto& [name, decode] : transfer_encodings) {
        if (!base::iequals(encoding, name)) continue;
        into.encoding = name;
        decoded = decode(body);
        body = decoded;
    }
    if (!into.encoding.empty() && !first_difference(made, body)) return;
    const difference found = compare_bodies(made, body);
    into.kind = found.kind;
    into.octet = found.octet > 0 ? found.octet + id.head : 0;
    into.line = found.line;
    into.column = found.column;
    into.octets = found.octets;
    into.from = found.from;
    into.to = found.to;
    into.name = found.name;
}

}  // namespace

difference diagnose(std::string_view received, const identity* id, body_rebuilder& rebuilder) {
    const std::size_t end = header_end(received);
    const bool has_body = end != std::string_view::npos;
    difference found;
    found.kind = difference_kind::other;
    if (id == nullptr) {
        found.kind = has_body ? difference_kind::unreadable_identity : difference_kind::truncated;
        return found;
    }
    const std::string_view section = received.substr(0, end);
    const std::string_view body = has_body ? received.substr(end) : std::string_view{};
    found.size = id->size;
    const header_section fields = scan_headers(section);
    if (digest_matches(fields, body, *id)) {
        identity as_received;
        const bool same = parse_identity(fields.identity, as_received) == identity_parse::ok &&
                          as_received == *id;
        found.kind = same ? difference_kind::none : difference_kind::header_rewritten;
        if (!same) found.fields = identity_field;
        return found;
    }
    const auto made = rebuilder.body(*id);
    if (!made) return found;
    found.kind = difference_kind::none;
    if (first_difference(*made, body)) {
        if (!has_body) {
            found.kind = difference_kind::truncated;
            return found;
        }
        compare_body(section, *made, body, *id, found);
        found.header_line_ends = line_ends_of(section);
    }
    found.fields = rewritten_fields(section, *made, *id);
    if (found.kind == difference_kind::none) {
        found.kind =
            found.encoding.empty() ? difference_kind::header_rewritten : difference_kind::recoded;
    }
    return found;
}

}  // namespace postal::mail
