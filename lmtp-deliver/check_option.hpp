// SPDX-License-Identifier: GPL-3.0-or-later
// --check: the argv that one delivery would have, without running anything.
#pragma once

#include <string>
#include <vector>

#include "base/result.hpp"
#include "lmtp-deliver/plan.hpp"

namespace postal::lmtp_deliver {

// For --from and --to; fails with one line for an address that a client would be refused.
[[nodiscard]] base::expected<std::vector<std::string>> check(const plan& run);

}  // namespace postal::lmtp_deliver
