// SPDX-License-Identifier: GPL-3.0-or-later
// Catch2 3 under the names that Catch2 2 has: for distributions that have no other.
#pragma once

#include <catch2/catch_all.hpp>

#include <string>

namespace Catch {

inline auto Contains(const std::string& part) {
    return Matchers::ContainsSubstring(part);
}
using Matchers::EndsWith;
using Matchers::Equals;
using Matchers::StartsWith;

}  // namespace Catch

using Catch::Approx;
