// SPDX-License-Identifier: GPL-3.0-or-later
// Mail of the original postal, up to 0.76: it has an X-PostalHash of 32 hexadecimal digits and an
// X-Postal.
//
// The digest covers the lines From, To, Subject, Date, Message-Id as they are, and the body. It is
// an MD5 over 32-bit words only where that program was built for 32 bits: elsewhere its words were
// 64 bits long by mistake, and the sum is no MD5. Both are accepted. Nothing fails.
#pragma once

#include <optional>
#include <string_view>

namespace postal::mail {

// section: header fields.
[[nodiscard]] bool is_old_postal(std::string_view section) noexcept;

// Whether its digest matches; nothing when it is not such mail.
[[nodiscard]] std::optional<bool> check_old_postal(std::string_view message);

}  // namespace postal::mail
