// SPDX-License-Identifier: GPL-3.0-or-later
// Names in the header that the GS2 mechanisms begin with: SCRAM (RFC 5802 7) and OAUTHBEARER (RFC
// 7628 3.1), where "," and "=" are written "=2C" and "=3D" (RFC 5801 4, "saslname").
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace postal::sasl {

std::string gs2_name(std::string_view name);

// Nothing for a "=" that begins neither.
std::optional<std::string> plain_name(std::string_view gs2);

}  // namespace postal::sasl
