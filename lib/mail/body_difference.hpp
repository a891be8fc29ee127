// SPDX-License-Identifier: GPL-3.0-or-later
// How a body that was received differs from the body as made; a part of difference.hpp.
//
// Nothing fails. Time in proportion to the bodies; no copies but of a line.
#pragma once

#include "mail/difference.hpp"

#include <string_view>

namespace postal::mail {

// The bodies differ in more than a final CRLF. Octets of the answer count from 1 in the body.
[[nodiscard]] difference compare_bodies(std::string_view made, std::string_view received);

}  // namespace postal::mail
