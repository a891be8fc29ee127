// SPDX-License-Identifier: GPL-3.0-or-later
// Which header fields a relay rewrote; a part of difference.hpp, which says what can be known of
// them.
//
// Nothing fails; what cannot be told apart is named together.
#pragma once

#include "mail/canonical.hpp"
#include "mail/identity.hpp"

#include <string>
#include <string_view>

namespace postal::mail {

// Whether these fields and this body have the digest of that identity.
[[nodiscard]] bool digest_matches(const header_section& fields, std::string_view body,
                                  const identity& id);

// section: the header fields as received; the body is as made. "Subject and Date"; when it cannot
// be told which of some it was, all of these with "or"; empty when the digest matches.
[[nodiscard]] std::string rewritten_fields(std::string_view section, std::string_view body,
                                           const identity& id);

}  // namespace postal::mail
