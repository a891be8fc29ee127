// SPDX-License-Identifier: GPL-3.0-or-later
// The SHA-256 of a text as records and manifests have it: 64 hexadecimal digits.
#pragma once

#include <string>
#include <string_view>

namespace postal::mail {

[[nodiscard]] std::string sha256_of(std::string_view text);

}  // namespace postal::mail
