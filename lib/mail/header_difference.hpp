// Which header field a relay rewrote, when the body of a message of ours is whole and its digest
// does not match; a part of difference.hpp, which says what can be known of them.
//
// Nothing fails; what cannot be told apart is named together.
#pragma once

#include "mail/canonical.hpp"
#include "mail/difference.hpp"

#include <string_view>

namespace postal::mail {

// Whether these fields and this body have the digest of that identity.
[[nodiscard]] bool digest_matches(const header_section& fields, std::string_view body,
                                  const identity& id);

// section: the header fields as received, whose digest does not match; the body is as made.
[[nodiscard]] difference compare_headers(std::string_view section, std::string_view body,
                                         const identity& id);

}  // namespace postal::mail
