// See difference.hpp.
#include "mail/difference.hpp"

#include "base/text.hpp"
#include "mail/body_difference.hpp"
#include "mail/canonical.hpp"
#include "mail/header_difference.hpp"

namespace postal::mail {
namespace {

using octets = std::string_view;

// Empty, or the Content-Transfer-Encoding that none of our messages has.
std::string_view recoded_as(octets section) noexcept {
    const octets encoding = find_value(section, "Content-Transfer-Encoding");
    for (const std::string_view each : {"quoted-printable", "base64"}) {
        if (base::iequals(encoding, each)) return each;
    }
    return {};
}

difference of_kind(difference_kind kind) noexcept {
    difference found;
    found.kind = kind;
    return found;
}

}  // namespace

difference diagnose(std::string_view received, const identity* id, body_rebuilder& rebuilder) {
    const std::size_t end = header_end(received);
    const bool has_body = end != octets::npos;
    if (id == nullptr) {
        return of_kind(has_body ? difference_kind::unreadable_identity
                                : difference_kind::truncated);
    }
    const octets section = received.substr(0, end);
    const octets body = has_body ? received.substr(end) : octets{};
    difference found = of_kind(difference_kind::other);
    if (digest_matches(scan_headers(section), body, *id)) {
        found.kind = difference_kind::none;
    } else if (const auto made = rebuilder.body(*id); !made.has_value()) {
        found.kind = difference_kind::other;
    } else if (!first_difference(*made, body)) {
        found = compare_headers(section, body, *id);
    } else if (const auto encoding = recoded_as(section); !encoding.empty()) {
        found.kind = difference_kind::recoded;
        found.name = encoding;
    } else if (!has_body) {
        found.kind = difference_kind::truncated;
    } else {
        found = compare_bodies(*made, body);
        if (found.octet > 0) found.octet += id->head;
    }
    found.size = id->size;
    return found;
}

}  // namespace postal::mail
