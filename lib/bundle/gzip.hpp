// SPDX-License-Identifier: GPL-3.0-or-later
// What libarchive does not say of a gzip (RFC 1952): how it begins, and whether it is all there is.
#pragma once

#include "base/result.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace postal::bundle {

// Its first octets, at most `most`, as far as this piece of it has them; empty for no gzip.
[[nodiscard]] std::string gzip_beginning(std::string_view piece, std::size_t most);

// That it is one member, whole, with nothing behind it, and has at most `most` octets in it; one
// line without its name where it is not.
[[nodiscard]] base::expected<void> check_one_gzip(std::string_view octets, std::uint64_t most);

}  // namespace postal::bundle
